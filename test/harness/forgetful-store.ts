import {
  chmodSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

import { emails, peopleFile } from './batch-file.ts'
import { orderOf } from './people.ts'
import { type Session, session } from './session.ts'

const exported = { REFCHECK_QUOTA: '10000/60' }

/** Orders everybody of the file; `more` are flags besides. */
export const runOf = (more = ''): string => `batch run people.csv --package 102 --yes${more}`

/** A file of people, 40 of them by default, and a service that lets them all through at once. */
export async function peopleAtOnce(count = 40): Promise<Session> {
  const here = await session({ quota: [{ calls: 10_000, seconds: 60 }] })
  peopleFile(here.folder, emails(count))
  return {
    ...here,
    type: (line, options) => here.type(line, { exported, ...options }),
    all: (lines, options) => here.all(lines, { exported, ...options }),
  }
}

/** The store’s file. */
export const storeOf = ({ folder }: Session): string => join(folder, 'data', 'ledger.sqlite')

/** The store is gone, with its write-ahead log. */
export function removeStore(here: Session): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(storeOf(here) + suffix, { force: true })
}

/** What a power cut leaves of the attempt log: outcomes are appended without a flush. */
export function loseOutcomes({ folder }: Pick<Session, 'folder'>): void {
  const folders = [join(folder, 'config', 'attempts'), join(folder, 'data', 'ledger.sqlite.attempts')]
  const found = folders.flatMap((each) =>
    statSync(each, { throwIfNoEntry: false })?.isDirectory() === true
      ? readdirSync(each).map((name) => join(each, name))
      : [],
  )
  for (const path of found.filter((each) => each.endsWith('.log'))) {
    const lines = readFileSync(path, 'utf8').split('\n')
    const left = lines.map((line) => (line.includes(' ["outcome",') ? '\0'.repeat(line.length) : line))
    writeFileSync(path, left.join('\n'))
  }
}

/** Does something during a run, once the service has that many requests. */
export async function runAndMeanwhile(
  here: Session,
  count: number,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  let done: Promise<unknown> | undefined
  const stop = here.sandbox.log.subscribe((entry) => {
    if (entry.kind === 'call' && entry.method === 'POST' && here.ordered().length >= count)
      done ??= meanwhile()
  })
  expect((await here.type(runOf())).code).toBe(0)
  stop()
  expect(done).toBeDefined()
  await done
}

/** Persons the service was asked to check more than once, by their requests. */
export function orderedTwice({ ordered }: Pick<Session, 'ordered'>): string[] {
  const seen = new Set<string>()
  return ordered().filter((email) => seen.size === seen.add(email).size)
}

/** The store is closed, and orders again once accepted. Returns the persons that were ordered twice. */
export async function seenThrough(here: Session): Promise<string[]> {
  const before = here.ordered()
  loseOutcomes(here)
  // It names the ordered persons by itself.
  rmSync(join(here.folder, 'people.results.csv'), { force: true })
  for (const line of [runOf(' --json').split(' '), orderOf('New', ['--yes', '--json'])]) {
    const refused = await here.type(line)
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { code: 'io', message: expect.stringContaining('is closed: ') as string } },
    ])
  }
  expect(here.ordered()).toEqual(before)
  const check = await here.type('store check --json')
  expect([check.code, check.json()]).toMatchObject([1, { sound: false }])
  expect((await here.type('store check --accept-older --yes')).code).toBe(0)
  // The rows that came back are unknown, or conflict with the file's own.
  expect((await here.type(runOf())).code).toBe(8)
  expect((await here.type(orderOf('New'))).code).toBe(0)
  expect(here.ordered()).toHaveLength(41)
  return orderedTwice(here)
}

/** The data folder as it is now; what is returned restores it. */
export function copied({ folder }: Session): () => void {
  const data = join(folder, 'data')
  cpSync(data, `${data}.copy`, { recursive: true })
  return () => {
    rmSync(data, { recursive: true })
    renameSync(`${data}.copy`, data)
    chmodSync(data, 0o700)
  }
}
