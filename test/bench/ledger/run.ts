/*
 * A step of the journal compared with two appends with fdatasync, and what a store of very many rows makes slower: each job among ROWS rows
 * compared with the same job on the same store while it had 10,000. Most rows were ordered, as in a store that is in use.
 * Run: npm run build && node test/bench/ledger/run.ts [ROWS]
 */
import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { type Figure, inPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { orderedByItself } from './ordered.ts'
import { home, milliseconds } from '../program.ts'
import type { BatchRow } from '../../../src/domain/batch/batch.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { newAttempt } from '../../store/ledger/batches.ts'
import { fileBatch, orderRow } from '../../store/ledger/files.ts'

const [rows = 1_000_000] = process.argv.slice(2).map(Number)
const commits = 400
const commitRounds = 15
const batchRows = 10_000

const here = home()
const location = join(here.folder, 'data', 'ledger.sqlite')

function open(): Promise<Store> {
  return openStore({
    chosen: undefined,
    paths: { config: join(here.folder, 'config'), data: join(here.folder, 'data') },
    cwd: here.folder,
    clock: systemClock,
    random: systemRandom,
  })
}

const person = (at: number): string => `person${at}@example.com`
/** Rows of people with names of their own. With one name for all, each row would be compared with every order. */
const peopleFrom = (from: number) =>
  Array.from({ length: batchRows }, (_, at) => {
    const row = orderRow(at + 1, person(from + at))
    return {
      ...row,
      ...(row.state === 'pending' && { recipient: { ...row.recipient, last_name: `Silva ${from + at}` } }),
    }
  })

async function add(store: Store, from: number): Promise<string> {
  const batch = fileBatch({ addedAt: systemClock.now() })
  await store.batches.add(batch, peopleFrom(from))
  return batch.id
}

const free = { account: 'free', decide: () => ({ state: {}, waitMs: 0 }) }

/** As often as the journal flushes: twice a step. */
function append(): number {
  const file = openSync(join(here.folder, 'plain'), 'a')
  const line = Buffer.alloc(1024, 'x')
  const startedAt = performance.now()
  for (let count = 0; count < commits; count += 1) {
    writeSync(file, line)
    fdatasyncSync(file)
  }
  closeSync(file)
  return performance.now() - startedAt
}

/** An order a step, as a run journals them: its outcome and the next attempt are one commit, and the attempt log is flushed. */
async function journal({ batches, ledger }: Store, batchId: string): Promise<number> {
  const pending: BatchRow[] = []
  for await (const row of batches.rows(batchId, { states: ['pending'], limit: commits / 2 + 1 }))
    pending.push(row)
  const [first, ...others] = pending
  let attempt = first && (await ledger.beginInQuota(first, newAttempt(), free)).attempt
  const startedAt = performance.now()
  for (const next of others) {
    if (attempt === undefined) throw new Error('it did not begin')
    const change = { to: 'accepted', at: 1, requestId: randomUUID(), requestStatus: 'RECEIVED' } as const
    attempt = (await ledger.moveAndBegin(attempt, change, next, newAttempt(), free)).attempt
  }
  const took = performance.now() - startedAt
  if (attempt !== undefined) await ledger.move(attempt, { to: 'rejected', at: 1, reason: 'the round ended' })
  return took
}

async function page(batches: Store['batches'], batchId: string): Promise<number> {
  let count = 0
  for await (const { row } of batches.rows(batchId, { after: 5000, limit: 50 })) count += Math.sign(row)
  return count
}

const env = { ...here.env, REFCHECK_QUOTA: '' }
const jobs: [what: string, rounds: number, work: (store: Store, batchId: string) => unknown][] = [
  ['counts of a batch of 10,000', 15, ({ batches }, id) => batches.find(id)],
  ['a page of its rows', 15, ({ batches }, id) => page(batches, id)],
  ['its next pending row', 15, ({ batches }, id) => batches.findNextPending(id)],
  ['orders of one e-mail', 15, ({ ledger }) => ledger.list({ email: person(5) })],
  ['who of 10,000 was ordered before', 5, ({ batches }) => batches.preview(fileBatch(), peopleFrom(0))],
  ['ending what no process holds', 15, ({ ledger }) => ledger.recover(systemClock.now())],
  ['opening the store', 15, async () => (await open()).close()],
  [
    'batch status, a whole process',
    7,
    (_, id) => milliseconds(process.execPath, [here.program, 'batch', 'status', id], env),
  ],
]

/** Milliseconds of each job. */
async function timed(store: Store, batchId: string): Promise<number[]> {
  const times: number[] = []
  for (const [, rounds, work] of jobs) {
    const all: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now()
      await work(store, batchId)
      if (round > 0) all.push(performance.now() - startedAt)
    }
    times.push(median(all))
  }
  return times
}

const store = await open()
try {
  const first = await add(store, 0)
  const pairs = await inPairs(
    commitRounds,
    () => journal(store, first),
    () => append(),
  )
  const rate = (at: 0 | 1): number => Math.round((commits * 500) / median(pairs.map((pair) => pair[at])))
  const figures: Figure[] = [
    {
      what: 'a step of the journal, rate to two appends with fdatasync',
      value: 1 / medianRatio(pairs),
      atLeast: 0.6,
      note: `${rate(0)} a second, of ${rate(1)}`,
    },
  ]
  orderedByItself(location, first, batchRows - 100)
  const few = await timed(store, first)
  let newest = first
  for (let from = batchRows; from < rows; from += batchRows) {
    orderedByItself(location, newest, batchRows)
    newest = await add(store, from)
  }
  orderedByItself(location, newest, batchRows - 100)
  const many = await timed(store, newest)
  for (const [at, [what]] of jobs.entries()) {
    const [before = 0, after = 0] = [few[at], many[at]]
    const note = `${after.toFixed(2)} ms, of ${before.toFixed(2)} ms`
    figures.push({
      what: `${what}: among ${rows.toLocaleString('en')} rows, slower by`,
      value: after / before,
      atMost: 2,
      note,
    })
  }
  figures.push({ what: 'size of the store', value: statSync(location).size / 1e6, unit: ' MB' })
  printFigures(figures)
} finally {
  await store.close()
  here.remove()
}
