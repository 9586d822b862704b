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

import { createEmails, writePeopleFile } from './batch-file.ts'
import { orderArguments } from './people.ts'
import { type Session, session } from './session.ts'

const quotaVariable = { REFCHECK_QUOTA: '10000/60' }

/** The command line that orders all people of the file; `more` are further flags. */
export const batchRunLine = (more = ''): string => `batch run people.csv --package 102 --yes${more}`

/** A session with a file of people, and a quota that does not limit them. */
export async function sessionWithPeople(count = 40): Promise<Session> {
  const here = await session({ quota: [{ calls: 10_000, seconds: 60 }] })
  writePeopleFile(here.folder, createEmails(count))
  return {
    ...here,
    type: (line, options) => here.type(line, { exported: quotaVariable, ...options }),
    all: (lines, options) => here.all(lines, { exported: quotaVariable, ...options }),
  }
}

/** Returns the path of the store file. */
export const storePathOf = ({ folder }: Session): string => join(folder, 'data', 'ledger.sqlite')

/** Deletes the store with its write-ahead log. */
export function removeStore(here: Session): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(storePathOf(here) + suffix, { force: true })
}

/** Removes the outcomes from the attempt logs, as a power cut can: they are appended without a flush. */
export function loseOutcomes({ folder }: Pick<Session, 'folder'>): void {
  const folders = [join(folder, 'config', 'attempts'), join(folder, 'data', 'ledger.sqlite.attempts')]
  const paths = folders.flatMap((each) =>
    statSync(each, { throwIfNoEntry: false })?.isDirectory() === true
      ? readdirSync(each).map((name) => join(each, name))
      : [],
  )
  for (const path of paths.filter((each) => each.endsWith('.log'))) {
    const lines = readFileSync(path, 'utf8').split('\n')
    const remainingLines = lines.map((line) =>
      line.includes(' ["outcome",') ? '\0'.repeat(line.length) : line,
    )
    writeFileSync(path, remainingLines.join('\n'))
  }
}

/** Runs the batch, and calls `meanwhile` once the service has `count` requests. */
export async function runAndMeanwhile(
  here: Session,
  count: number,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  let meanwhileEnded: Promise<unknown> | undefined
  const stop = here.sandbox.log.subscribe((entry) => {
    if (entry.kind === 'call' && entry.method === 'POST' && here.listOrderedEmails().length >= count)
      meanwhileEnded ??= meanwhile()
  })
  expect((await here.type(batchRunLine())).code).toBe(0)
  stop()
  expect(meanwhileEnded).toBeDefined()
  await meanwhileEnded
}

/** E-mails of the people who were ordered more than once. */
export function listEmailsOrderedTwice({ listOrderedEmails }: Pick<Session, 'listOrderedEmails'>): string[] {
  const previousEmails = new Set<string>()
  return listOrderedEmails().filter((email) => previousEmails.size === previousEmails.add(email).size)
}

/**
 * Checks that the store is closed to orders, and open again after `--accept-older`. Returns the e-mails of the
 * people who were ordered twice.
 */
export async function findEmailsOrderedTwiceAfterRollback(here: Session): Promise<string[]> {
  const before = here.listOrderedEmails()
  loseOutcomes(here)
  // The results file alone would prevent new orders for these people.
  rmSync(join(here.folder, 'people.results.csv'), { force: true })
  for (const line of [batchRunLine(' --json').split(' '), orderArguments('New', ['--yes', '--json'])]) {
    const refused = await here.type(line)
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { code: 'io', message: expect.stringContaining('is closed: ') as string } },
    ])
  }
  expect(here.listOrderedEmails()).toEqual(before)
  const check = await here.type('store check --json')
  expect([check.code, check.json()]).toMatchObject([1, { sound: false }])
  expect((await here.type('store check --accept-older --yes')).code).toBe(0)
  // The recovered rows are unknown, or conflict with rows of the file.
  expect((await here.type(batchRunLine())).code).toBe(8)
  expect((await here.type(orderArguments('New'))).code).toBe(0)
  expect(here.listOrderedEmails()).toHaveLength(41)
  return listEmailsOrderedTwice(here)
}

/** Copies the data folder. Returns a function that restores the copy. */
export function copyDataFolder({ folder }: Session): () => void {
  const data = join(folder, 'data')
  cpSync(data, `${data}.copy`, { recursive: true })
  return () => {
    rmSync(data, { recursive: true })
    renameSync(`${data}.copy`, data)
    chmodSync(data, 0o700)
  }
}

/** Orders two of five people, restores the store of before the second order, and accepts it: rows 3 to 5 are held. */
export async function sessionWithHeldRows(): Promise<Session & { batchId: string }> {
  const here = await sessionWithPeople(5)
  await here.type(batchRunLine(' --max 1'))
  const restore = copyDataFolder(here)
  await here.type(batchRunLine(' --max 1'))
  restore()
  rmSync(join(here.folder, 'people.results.csv'))
  await here.type('store check --accept-older --yes')
  const { batch_id: batchId } = (await here.type(batchRunLine(' --json'))).json() as { batch_id: string }
  return { ...here, batchId }
}

/** Orders the person of a row with a store of its own, as another machine does, and returns the id of the request. */
export async function orderElsewhere({ type }: Session, row: number, packageId = 102): Promise<string> {
  const person = `--first-name Ana --last-name Row${row} --email a${row}@example.com --phone +6140000000${row}`
  const exported = { REFCHECK_STORE: 'other.sqlite', REFCHECK_QUOTA: '10000/60' }
  const created = await type(`request create --package ${packageId} ${person} --yes --json`, { exported })
  return (created.json() as { request_id: string }).request_id
}
