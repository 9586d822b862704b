/*
 * Measures a step of the journal, compared with two appends with fdatasync; and how much slower a large store is: each
 * job in a store of ROWS rows is compared with the same job while the store had 10,000 rows. Most rows are ordered, as
 * in a store that is in use.
 * Run: npm run build && node test/bench/ledger/run.ts [ROWS]
 */
import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { type Figure, measureInPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { markOrdered } from './mark-ordered.ts'
import { createHome, measureProcess } from '../program.ts'
import type { BatchRow } from '../../../src/domain/batch/batch.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { newAttempt } from '../../store/ledger/batches.ts'
import { fileBatch, orderRow } from '../../store/ledger/files.ts'

const [rows = 1_000_000] = process.argv.slice(2).map(Number)
const commitCount = 400
const commitRounds = 15
const batchRows = 10_000

const home = createHome()
const location = join(home.folder, 'data', 'ledger.sqlite')

function openBenchStore(): Promise<Store> {
  return openStore({
    chosenAddress: undefined,
    paths: { config: join(home.folder, 'config'), data: join(home.folder, 'data') },
    cwd: home.folder,
    clock: systemClock,
    random: systemRandom,
  })
}

const createEmail = (index: number): string => `person${index}@example.com`
/** Rows of people with different names. If all names were equal, each row would be compared with every order. */
const createRows = (from: number) =>
  Array.from({ length: batchRows }, (_, index) => {
    const row = orderRow(index + 1, createEmail(from + index))
    return {
      ...row,
      ...(row.state === 'pending' && { recipient: { ...row.recipient, last_name: `Silva ${from + index}` } }),
    }
  })

async function addBatch(store: Store, from: number): Promise<string> {
  const batch = fileBatch({ addedAt: systemClock.now() })
  await store.batches.add(batch, createRows(from))
  return batch.id
}

const unlimitedQuota = { account: 'free', decide: () => ({ state: {}, waitMs: 0 }) }

/** Appends and flushes as often as the journal does: twice a step. Returns the duration in ms. */
function measureAppends(): number {
  const file = openSync(join(home.folder, 'plain'), 'a')
  const line = Buffer.alloc(1024, 'x')
  const startedAt = performance.now()
  for (let count = 0; count < commitCount; count += 1) {
    writeSync(file, line)
    fdatasyncSync(file)
  }
  closeSync(file)
  return performance.now() - startedAt
}

/**
 * Records orders as a run does: an outcome and the next attempt are one commit, and the attempt log is flushed.
 * Returns the duration in ms.
 */
async function measureJournal({ batches, ledger }: Store, batchId: string): Promise<number> {
  const pending: BatchRow[] = []
  for await (const row of batches.rows(batchId, { states: ['pending'], limit: commitCount / 2 + 1 }))
    pending.push(row)
  const [firstRow, ...otherRows] = pending
  let attempt = firstRow && (await ledger.beginInQuota(firstRow, newAttempt(), unlimitedQuota)).attempt
  const startedAt = performance.now()
  for (const next of otherRows) {
    if (attempt === undefined) throw new Error('no attempt was recorded')
    const change = { to: 'accepted', at: 1, requestId: randomUUID(), requestStatus: 'RECEIVED' } as const
    attempt = (await ledger.moveAndBegin(attempt, change, next, newAttempt(), unlimitedQuota)).attempt
  }
  const durationMs = performance.now() - startedAt
  if (attempt !== undefined) await ledger.move(attempt, { to: 'rejected', at: 1, reason: 'the round ended' })
  return durationMs
}

async function readPage(batches: Store['batches'], batchId: string): Promise<number> {
  let count = 0
  for await (const { row } of batches.rows(batchId, { after: 5000, limit: 50 })) count += Math.sign(row)
  return count
}

const env = { ...home.env, REFCHECK_QUOTA: '' }
const jobs: [label: string, rounds: number, run: (store: Store, batchId: string) => unknown][] = [
  ['counts of a batch of 10,000', 15, ({ batches }, id) => batches.find(id)],
  ['a page of its rows', 15, ({ batches }, id) => readPage(batches, id)],
  ['its next pending row', 15, ({ batches }, id) => batches.findNextPending(id)],
  ['orders of one e-mail', 15, ({ ledger }) => ledger.list({ email: createEmail(5) })],
  ['who of 10,000 was ordered before', 5, ({ batches }) => batches.preview(fileBatch(), createRows(0))],
  ['ending what no process holds', 15, ({ ledger }) => ledger.recover(systemClock.now())],
  ['opening the store', 15, async () => (await openBenchStore()).close()],
  [
    'batch status, a whole process',
    7,
    (_, id) => measureProcess(process.execPath, [home.program, 'batch', 'status', id], env),
  ],
]

/** Returns the median duration of each job, in ms. */
async function measureJobs(store: Store, batchId: string): Promise<number[]> {
  const times: number[] = []
  for (const [, rounds, run] of jobs) {
    const durations: number[] = []
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now()
      await run(store, batchId)
      if (round > 0) durations.push(performance.now() - startedAt)
    }
    times.push(median(durations))
  }
  return times
}

const store = await openBenchStore()
try {
  const firstBatch = await addBatch(store, 0)
  const pairs = await measureInPairs(
    commitRounds,
    () => measureJournal(store, firstBatch),
    () => measureAppends(),
  )
  const perSecond = (index: 0 | 1): number =>
    Math.round((commitCount * 500) / median(pairs.map((pair) => pair[index])))
  const figures: Figure[] = [
    {
      label: 'a step of the journal, rate to two appends with fdatasync',
      value: 1 / medianRatio(pairs),
      atLeast: 0.6,
      note: `${perSecond(0)} a second, of ${perSecond(1)}`,
    },
  ]
  markOrdered(location, firstBatch, batchRows - 100)
  const fewRowsMs = await measureJobs(store, firstBatch)
  let newestBatch = firstBatch
  for (let from = batchRows; from < rows; from += batchRows) {
    markOrdered(location, newestBatch, batchRows)
    newestBatch = await addBatch(store, from)
  }
  markOrdered(location, newestBatch, batchRows - 100)
  const manyRowsMs = await measureJobs(store, newestBatch)
  for (const [index, [label]] of jobs.entries()) {
    const [fewMs = 0, manyMs = 0] = [fewRowsMs[index], manyRowsMs[index]]
    const note = `${manyMs.toFixed(2)} ms, of ${fewMs.toFixed(2)} ms`
    figures.push({
      label: `${label}: among ${rows.toLocaleString('en')} rows, slower by`,
      value: manyMs / fewMs,
      atMost: 2,
      note,
    })
  }
  figures.push({ label: 'size of the store', value: statSync(location).size / 1e6, unit: ' MB' })
  printFigures(figures)
} finally {
  await store.close()
  home.remove()
}
