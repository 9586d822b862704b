/*
 * The journal beside append + fdatasync, and a store of many rows.
 * Run: node test/bench/ledger/run.ts [ROWS]
 */
import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemClock } from '../../../src/host/clock.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { openStore } from '../../../src/store/ledger/open.ts'
import { newAttempt } from '../../store/ledger/batches.ts'
import { fileBatch, orderRow } from '../../store/ledger/files.ts'

const [rows = '1000000'] = process.argv.slice(2)
const rounds = 5
const commits = 1000

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
const store = await openStore({
  chosen: join(folder, 'ledger.sqlite'),
  paths: { config: folder, data: folder },
  cwd: folder,
  clock: systemClock,
  random: systemRandom,
})

function perSecond(count: number, startedAt: number): number {
  return (count / (performance.now() - startedAt)) * 1000
}

function append(): number {
  const file = openSync(join(folder, 'plain'), 'a')
  const line = Buffer.alloc(1024, 'x')
  const startedAt = performance.now()
  for (let count = 0; count < commits; count += 1) {
    writeSync(file, line)
    fdatasyncSync(file)
  }
  closeSync(file)
  return perSecond(commits, startedAt)
}

/** Attempts begun and settled, each a commit of its own. */
async function journal(batchId: string): Promise<number> {
  const startedAt = performance.now()
  for (let count = 0; count < commits / 2; count += 1) {
    const row = await store.batches.nextPending(batchId)
    if (row === undefined) throw new Error('no row is left')
    const attempt = await store.ledger.begin(row, newAttempt())
    if (attempt === undefined) throw new Error('it did not begin')
    const requestId = randomUUID()
    await store.ledger.move(attempt, { to: 'accepted', at: 1, requestId, requestStatus: 'RECEIVED' })
  }
  return perSecond(commits, startedAt)
}

async function add(count: number, from: number): Promise<string> {
  const batch = fileBatch()
  const made = Array.from({ length: count }, (_, at) => orderRow(at + 1, `person${from + at}@example.com`))
  await store.batches.add(batch, made)
  return batch.id
}

async function milliseconds(work: () => Promise<unknown>): Promise<string> {
  const startedAt = performance.now()
  for (let time = 0; time < rounds; time += 1) await work()
  return ((performance.now() - startedAt) / rounds).toFixed(2)
}

try {
  const first = await add(10_000, 0)
  const ratios: number[] = []
  for (let round = 0; round < rounds; round += 1) ratios.push((await journal(first)) / append())
  const median = ratios.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? Number.NaN
  console.log(`a commit a step, to append + fdatasync: ${median.toFixed(2)} (goal 0.95)`)
  for (let from = 10_000; from < Number(rows); from += 10_000) await add(10_000, from)
  const newest = (await store.batches.list())[0]?.id ?? ''
  console.table({
    [`counts of a batch of 10,000 among ${rows} rows`]: {
      ms: await milliseconds(() => store.batches.counts(newest)),
    },
    'next pending row': { ms: await milliseconds(() => store.batches.nextPending(newest)) },
    'orders of one e-mail': {
      ms: await milliseconds(() => store.ledger.list({ email: 'person5@example.com' })),
    },
    'all batches with their counts': { ms: await milliseconds(() => store.batches.list()) },
  })
} finally {
  await store.close()
  rmSync(folder, { recursive: true })
}
