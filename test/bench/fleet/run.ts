/*
 * Measures several processes on one PostgreSQL, each figure compared with a lower bound in the same run: orders a second
 * that the ledger records (no service is called), claims in small and large stores, the quota that runners on machines
 * with different clocks share, the keys of one worker, events, and adding a file. The benchmark starts the server.
 * Run: node test/bench/fleet/run.ts [ROWS [MS [INTAKE [KEYS]]]], where ROWS is the number of rows of the large store,
 * MS the duration of a measurement, INTAKE the number of rows of the added file, and KEYS the number of keys
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Client } from 'pg'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { systemClock } from '../../../src/host/clock.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { createReceiver } from '../../../src/usecases/webhook/listen.ts'
import { maxInWindow } from '../../campaign/fleet/calls.ts'
import { createStore } from '../../harness/create-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { newAttempt } from '../../store/ledger/batches.ts'
import { fileBatch, orderRow } from '../../store/ledger/files.ts'
import { type Figure, measureInPairs, median, medianRatio, quantile, printFigures } from '../measuring.ts'
import { openMachineStore } from './open-store.ts'
import { measureWorker } from './worker.ts'

const [maxRows = 1_000_000, measurementMs = 3000, intakeRowCount = 50_000, keyCount = 200] = process.argv
  .slice(2)
  .map(Number)
const rounds = 3
const window = { calls: 240, seconds: 6 }

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
const cluster = await Cluster.start(['max_connections=60', 'synchronous_commit=on'])
const url = cluster.url(await cluster.create())
const client = new Client({ connectionString: url })
let personCount = 0

function newRows(count: number) {
  personCount += count
  return Array.from({ length: count }, (_, index) =>
    orderRow(index + 1, `person${personCount + index}@example.com`),
  )
}

async function addBatch(store: Store, count: number, account?: string): Promise<string> {
  const batch = fileBatch({ addedAt: systemClock.now(), account })
  await store.batches.add(batch, newRows(count))
  return batch.id
}

/**
 * Runs one process for each element of `skews` (the offset of its machine's clock in ms) in parallel, each on its own
 * machine, and returns the JSON that they print. `isBatchPerRunner`: the process number N gets only the argument number N.
 */
async function runTogether(
  job: string,
  skews: readonly number[],
  forMs: number,
  jobArguments: readonly string[],
  isBatchPerRunner = false,
) {
  const runners = skews.map((skew, index) => {
    const machineFolder = join(folder, `machine${index}`)
    mkdirSync(machineFolder, { recursive: true })
    const argv = [
      join(import.meta.dirname, 'runner.ts'),
      job,
      url,
      machineFolder,
      String(forMs),
      String(skew),
    ]
    argv.push(...(isBatchPerRunner ? jobArguments.slice(index, index + 1) : jobArguments))
    return spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  })
  await Promise.all(runners.map(({ stdout }) => once(stdout, 'data')))
  return Promise.all(
    runners.map(async ({ stdin, stdout }) => {
      let text = ''
      stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
      stdin.end('go\n')
      await once(stdout, 'end')
      return JSON.parse(text) as unknown
    }),
  )
}

/** Returns the orders a second of all runners. `isBatchPerRunner`: the runner number N has only the batch number N. */
async function measurePerSecond(
  job: string,
  runners: number,
  batches: readonly string[],
  isBatchPerRunner = false,
): Promise<number> {
  const skews = Array.from({ length: runners }, (_, index) => index)
  const results = (await runTogether(job, skews, measurementMs, batches, isBatchPerRunner)) as {
    count: number
    durationMs: number
  }[]
  return results.reduce((sum, { count, durationMs }) => sum + (count / durationMs) * 1000, 0)
}

const formatRates = (pairs: readonly (readonly [number, number])[]): string =>
  [0, 1].map((index) => Math.round(median(pairs.map((pair) => pair[index] ?? 0)))).join(' of ') + ' a second'

/**
 * Compares the orders a second with bare transactions (the job `floor`), and those of eight runners with those of one runner.
 * `accounts`: the batches of eight accounts, one batch for each account.
 */
async function measureOrders(batch: string, accounts: readonly string[]): Promise<Figure[]> {
  await client.query('CREATE TABLE bare_rows (n int PRIMARY KEY, id text)')
  await client.query('CREATE TABLE bare_attempts (id text PRIMARY KEY, body text)')
  await client.query('INSERT INTO bare_rows SELECT generate_series(0, 7)')
  const figures: Figure[] = []
  for (const runners of [1, 2, 4, 8]) {
    const pairs = await measureInPairs(
      rounds,
      () => measurePerSecond('orders', runners, [batch]),
      () => measurePerSecond('floor', runners, []),
    )
    figures.push({
      label: `orders a second, ${runners} runners on one file, to bare BEGIN; UPDATE; INSERT; COMMIT`,
      value: medianRatio(pairs),
      atLeast: runners === 1 ? 0.08 : undefined,
      note: formatRates(pairs),
    })
  }
  const measureOneRunner = () => measurePerSecond('orders', 1, [batch])
  const oneAccountPairs = await measureInPairs(
    rounds,
    () => measurePerSecond('orders', 8, [batch]),
    measureOneRunner,
  )
  const eightAccountPairs = await measureInPairs(
    rounds,
    () => measurePerSecond('orders', 8, accounts, true),
    measureOneRunner,
  )
  figures.push(
    {
      label: 'orders a second, 8 runners of one account, to 1',
      value: medianRatio(oneAccountPairs),
      atLeast: 1,
      note: formatRates(oneAccountPairs),
    },
    {
      label: 'orders a second, 8 runners of 8 accounts, to 1',
      value: medianRatio(eightAccountPairs),
      atLeast: 1.5,
      note: formatRates(eightAccountPairs),
    },
  )
  return figures
}

/** Claims one row repeatedly, accepts it, and returns the durations of the claims in ms. */
async function measureClaims(store: Store, batchId: string): Promise<number[]> {
  const unlimitedQuota = { account: 'claims', decide: () => ({ state: {}, waitMs: 0 }) }
  const pendingRow = { batchId, row: 1, state: 'pending' as const, attemptId: undefined }
  const durations: number[] = []
  for (let count = -50; count < 300; count += 1) {
    const startedAt = performance.now()
    const { attempt } = await store.ledger.beginInQuota(pendingRow, newAttempt(), unlimitedQuota, true)
    if (count >= 0) durations.push(performance.now() - startedAt)
    if (attempt === undefined) throw new Error('it did not begin')
    const requestId = randomUUID()
    await store.ledger.move(attempt, { to: 'accepted', at: 1, requestId, requestStatus: 'RECEIVED' })
  }
  return durations
}

function claimFigure(
  name: string,
  fraction: number,
  fewRowsMs: readonly number[],
  manyRowsMs: readonly number[],
): Figure {
  const [fewRows, manyRows] = [quantile(fewRowsMs, fraction), quantile(manyRowsMs, fraction)]
  return {
    label: `a claim among ${maxRows.toLocaleString('en')} rows, to one among 1,000: ${name}`,
    value: manyRows / fewRows,
    atMost: 2,
    note: `${manyRows.toFixed(2)} ms, of ${fewRows.toFixed(2)} ms`,
  }
}

/**
 * Copies a batch, with all its rows accepted, until the store has about `targetRowCount` rows. In a store that is in
 * use, most rows are accepted.
 */
async function growStore(batch: string, targetRowCount: number): Promise<void> {
  const counted = await client.query('SELECT count(*)::int AS n FROM submissions WHERE batch_id = $1', [
    batch,
  ])
  const batchSize = (counted.rows as { n: number }[])[0]?.n ?? 1
  const id = `'copy' || g`
  const copies = Math.ceil(targetRowCount / batchSize)
  await client.query(
    `INSERT INTO batches OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(b, jsonb_build_object('id', ${id}, 'identity', null, 'serial', -g))).*
    FROM batches b, generate_series(1, ${copies}) g WHERE b.id = $1`,
    [batch],
  )
  const print = `md5(random()::text)`
  const changedColumns = `'batch_id', ${id}, 'state', 'accepted', 'request_id', gen_random_uuid(), 'fingerprint', ${print},
    'person_print', ${print}, 'email_print', ${print}, 'phone_print', ${print}, 'email', ${print} || '@example.com'`
  await client.query(
    `INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object(${changedColumns}))).*
    FROM submissions s, generate_series(1, ${copies}) g WHERE s.batch_id = $1`,
    [batch],
  )
  await client.query('ANALYZE')
}

/** Measures how much of a quota window 8 runners with different clocks use. */
async function measureSharedQuota(): Promise<Figure[]> {
  const skews = [0, 30_000, -30_000, 65_000, 0, 30_000, -30_000, 65_000]
  const forMs = window.seconds * 1000 * 3.5
  const jobArguments = [String(window.calls), String(window.seconds)]
  const callTimes = ((await runTogether('quota', skews, forMs, jobArguments)) as number[][])
    .flat()
    .sort((a, b) => a - b)
  // The time from the first call of a window to the first call of the window after the next one.
  const span = (callTimes[window.calls * 2] ?? Number.NaN) - (callTimes[0] ?? 0)
  const note = `8 runners, clocks up to 95 s apart, ${window.calls} in ${window.seconds} s`
  return [
    { label: 'quota used', value: (window.seconds * 2000) / span, atLeast: 0.97, note },
    {
      label: 'fullest window, of what it holds',
      value: maxInWindow(callTimes, window) / window.calls,
      atMost: 1,
      note,
    },
  ]
}

/** Number of parallel deliveries. Those that arrive during a commit share the next commit. */
const deliveries = 32

/** Compares events that the receiver stores with INSERTs that are committed one by one. */
async function measureEvents({ inbox }: Store): Promise<Figure> {
  await client.query('CREATE TABLE bare_events (id text PRIMARY KEY, body bytea)')
  const key = signingKey('a-secret-of-the-benchmark')
  const handle = createReceiver({
    inbox,
    key,
    clock: systemClock,
    path: '/',
    shouldForward: false,
    onStored: () => undefined,
    onRefused: () => undefined,
    onUnstored: () => undefined,
  })
  const newBody = () => Buffer.from(JSON.stringify({ request_id: randomUUID(), pad: 'x'.repeat(200) }))
  const deliver = async () => {
    const body = newBody()
    const { status } = await handle({ method: 'POST', path: '/', headers: () => [sign(body, key)], body })
    if (status !== 204) throw new Error(`it was answered with ${status}`)
  }
  const insert = () => client.query('INSERT INTO bare_events VALUES ($1, $2)', [randomUUID(), newBody()])
  const measureRate = async (parallelCount: number, work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now()
    let count = 0
    const repeatWork = async (): Promise<void> => {
      for (; performance.now() - startedAt < measurementMs / 3; count += 1) await work()
    }
    await Promise.all(Array.from({ length: parallelCount }, repeatWork))
    return (count / (performance.now() - startedAt)) * 1000
  }
  const pairs = await measureInPairs(
    rounds,
    () => measureRate(deliveries, deliver),
    () => measureRate(1, insert),
  )
  return {
    label: `events kept a second, ${deliveries} at a time, to bare INSERTs one by one`,
    value: medianRatio(pairs),
    atLeast: 0.4,
    note: formatRates(pairs),
  }
}

/** Compares adding a file as a batch with INSERTs of the same data, 500 rows a statement. */
async function measureIntake(store: Store): Promise<{ batch: string; figure: Figure }> {
  const startedAt = performance.now()
  const batch = await addBatch(store, intakeRowCount)
  const addMs = performance.now() - startedAt
  await client.query('CREATE TABLE bare_file (n bigint PRIMARY KEY, email text, body text)')
  const newFileRows = newRows(intakeRowCount)
  const bareStartedAt = performance.now()
  await client.query('BEGIN')
  for (let from = 0; from < newFileRows.length; from += 500) {
    const part = newFileRows.slice(from, from + 500)
    await client.query('INSERT INTO bare_file SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])', [
      part.map(({ row }) => row),
      part.map((row) => ('recipient' in row ? row.recipient.email : '')),
      part.map((row) => JSON.stringify(row)),
    ])
  }
  await client.query('COMMIT')
  const bareMs = performance.now() - bareStartedAt
  const note = `${(addMs / 1000).toFixed(1)} s of ${(bareMs / 1000).toFixed(1)} s`
  const label = `intake of ${intakeRowCount.toLocaleString('en')} rows, to bare INSERTs, time`
  return { batch, figure: { label, value: addMs / bareMs, atMost: 4, note } }
}

try {
  await client.connect()
  await createStore(url)
  await client.query('SET search_path = public, refcheck')
  const store = await openMachineStore(url, join(folder, 'own'))
  const fewRowsMs = await measureClaims(store, await addBatch(store, 1000))
  const { batch, figure } = await measureIntake(store)
  printFigures([figure])
  const accounts: string[] = []
  for (let number = 0; number < 8; number += 1) {
    await store.accounts.add(`account${number}`, systemClock.now())
    accounts.push(await addBatch(store, intakeRowCount / 10, `account${number}`))
  }
  printFigures(await measureOrders(batch, accounts))
  printFigures([await measureEvents(store)])
  printFigures(await measureSharedQuota())
  const workerUrl = cluster.url(await cluster.create())
  await createStore(workerUrl)
  printFigures(await measureWorker({ url: workerUrl, folder, keyCount, measurementMs: measurementMs * 3 }))
  const lastBatch = await addBatch(store, 1000)
  await growStore(lastBatch, maxRows)
  const manyRowsMs = await measureClaims(store, lastBatch)
  await store.close()
  printFigures([
    claimFigure('p50', 0.5, fewRowsMs, manyRowsMs),
    claimFigure('p99', 0.99, fewRowsMs, manyRowsMs),
  ])
} finally {
  await client.end()
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
