import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { batchPlaceholder } from './bad-values.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type World, world } from '../harness/world.ts'
import { ManualClock } from '../harness/manual-clock.ts'

/** A folder with the files that the invalid command lines name, and a store with two orders. */
export interface BadFolder extends World {
  clock: ManualClock
  /**
   * The working directory of the command lines. It is two levels below `folder`, so that a path such as ../.. stays
   * inside `folder`.
   */
  cwd: string
  /** Returns the requests other than GET that were sent since the last call. */
  takeSentRequests: () => string[]
  /** Returns the arguments with the batch placeholder replaced by the id of the batch in this folder. */
  fillIn: (argv: readonly string[]) => string[]
  /** Returns the files outside the store, and the tables in it, that were changed or removed since the last call. */
  takeChangedNames: () => string[]
  /** Returns the files that were created since the last call, and removes them. */
  takeCreatedNames: () => string[]
}

const peopleCount = 2

export async function createBadFolder(): Promise<BadFolder> {
  const clock = new ManualClock({ auto: true })
  const here = await world({ clock, seed: 'bad input', quota: [] })
  const cwd = join(here.folder, 'one', 'two')
  mkdirSync(join(cwd, 'a-folder'), { recursive: true })
  writePeopleFile(cwd, createEmails(peopleCount))
  const orderRun = await here.run(['batch', 'run', 'people.csv', '--package', '102', '--yes'], { cwd, clock })
  if (orderRun.code !== 0) throw new Error(orderRun.stderr)
  writeFileSync(join(cwd, 'empty.bin'), '')
  writeFileSync(join(cwd, 'bytes.bin'), Buffer.from([0xff, 0xfe, 0x80, 0xc3, 0x28, 0x0a, 0xed, 0xa0, 0x80]))
  writeFileSync(join(cwd, 'nul.bin'), Buffer.alloc(4_096))
  writeFileSync(join(cwd, 'long.bin'), 'x'.repeat(100_000))
  symlinkSync('loop', join(cwd, 'loop'))
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  writeFileSync(join(cwd, 'no-snapshot.json'), '{}')
  const list = await here.run(['batch', 'list', '--json'], { cwd, clock })
  const [{ batch_id: batch }] = list.json() as [{ batch_id: string }]
  const calls: string[] = []
  here.intercept((request, ask) => {
    if (request.method !== 'GET') calls.push(`${request.method} ${new URL(request.url).pathname}`)
    return ask(request)
  })
  let formerState = readState(here.folder)
  const created: string[] = []
  return {
    ...here,
    clock,
    cwd,
    takeSentRequests: () => calls.splice(0),
    fillIn: (argv) => argv.map((word) => word.replace(batchPlaceholder, batch)),
    takeChangedNames() {
      const currentState = readState(here.folder)
      created.push(...[...currentState.keys()].filter((name) => !formerState.has(name)))
      const changedNames = [...formerState]
        .filter(([name, formerHash]) => currentState.get(name) !== formerHash)
        .map(([name]) => name)
      formerState = currentState
      return changedNames
    },
    takeCreatedNames() {
      for (const name of created) rmSync(join(here.folder, name), { force: true })
      for (const name of created) formerState.delete(name)
      return created.splice(0)
    },
  }
}

/** Returns a hash of each file outside the data folder, and the number of rows of each table of the store. */
function readState(folder: string): Map<string, string> {
  const state = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    // Reading the stored data creates a lock file, which is not removed.
    if (!entry.isFile() || name.startsWith('data/') || name.endsWith('.lock')) continue
    state.set(name, createHash('sha1').update(readFileSync(path)).digest('hex'))
  }
  const store = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'), { readOnly: true })
  try {
    for (const table of tables)
      state.set(`rows of ${table}`, JSON.stringify(store.prepare(`SELECT count(*) AS n FROM ${table}`).get()))
  } finally {
    store.close()
  }
  return state
}

const tables = ['batches', 'submissions', 'attempts', 'decisions', 'events', 'releases']
