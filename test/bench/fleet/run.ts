/*
 * A fleet on one PostgreSQL, each figure with its floor in one run: orders a second as the ledger journals them (no
 * service is asked), claims among few and very many rows, the quota that runners on machines with other clocks share,
 * keys of one worker, events, intake. The server is one of the tests' own, in memory where there is room.
 * Run: node test/bench/fleet/run.ts [ROWS [MS [INTAKE [KEYS]]]], of which ROWS are how many the claim is tried among
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
import { makeStore } from '../../harness/create-store.ts'
import { Cluster } from '../../harness/postgres-cluster.ts'
import { newAttempt } from '../../store/ledger/batches.ts'
import { fileBatch, orderRow } from '../../store/ledger/files.ts'
import { type Figure, inPairs, median, medianRatio, quantile, printFigures } from '../measuring.ts'
import { opened } from './opened.ts'
import { workerFigures } from './worker.ts'

const [rows = 1_000_000, ms = 3000, intake = 50_000, keys = 200] = process.argv.slice(2).map(Number)
const rounds = 3
const window = { calls: 240, seconds: 6 }

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
const cluster = await Cluster.start(['max_connections=60', 'synchronous_commit=on'])
const url = cluster.url(await cluster.create())
const client = new Client({ connectionString: url })
let people = 0

function newRows(count: number) {
  people += count
  return Array.from({ length: count }, (_, at) => orderRow(at + 1, `person${people + at}@example.com`))
}

async function add(store: Store, count: number, account?: string): Promise<string> {
  const batch = fileBatch({ addedAt: systemClock.now(), account })
  await store.batches.add(batch, newRows(count))
  return batch.id
}

/** So many processes at once, each on a machine of its own; what they print. */
async function together(
  job: string,
  skews: readonly number[],
  forMs: number,
  more: readonly string[],
  each = false,
) {
  const runners = skews.map((skew, at) => {
    const own = join(folder, `machine${at}`)
    mkdirSync(own, { recursive: true })
    const argv = [join(import.meta.dirname, 'runner.ts'), job, url, own, String(forMs), String(skew)]
    argv.push(...(each ? more.slice(at, at + 1) : more))
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

/** `each`: every runner has a batch of its own, in their order. */
async function perSecond(
  job: string,
  runners: number,
  batches: readonly string[],
  each = false,
): Promise<number> {
  const skews = Array.from({ length: runners }, (_, at) => at)
  const done = (await together(job, skews, ms, batches, each)) as { count: number; took: number }[]
  return done.reduce((sum, { count, took }) => sum + (count / took) * 1000, 0)
}

const rates = (pairs: readonly (readonly [number, number])[]): string =>
  [0, 1].map((at) => Math.round(median(pairs.map((pair) => pair[at] ?? 0)))).join(' of ') + ' a second'

/** Orders a second compared with bare transactions, and of eight runners compared with one; `accounts`: a file of each of eight accounts. */
async function ordering(batch: string, accounts: readonly string[]): Promise<Figure[]> {
  await client.query('CREATE TABLE bare_rows (n int PRIMARY KEY, id text)')
  await client.query('CREATE TABLE bare_attempts (id text PRIMARY KEY, body text)')
  await client.query('INSERT INTO bare_rows SELECT generate_series(0, 7)')
  const figures: Figure[] = []
  for (const runners of [1, 2, 4, 8]) {
    const pairs = await inPairs(
      rounds,
      () => perSecond('orders', runners, [batch]),
      () => perSecond('floor', runners, []),
    )
    figures.push({
      what: `orders a second, ${runners} runners on one file, to bare BEGIN; UPDATE; INSERT; COMMIT`,
      value: medianRatio(pairs),
      atLeast: runners === 1 ? 0.08 : undefined,
      note: rates(pairs),
    })
  }
  const one = () => perSecond('orders', 1, [batch])
  const ofOne = await inPairs(rounds, () => perSecond('orders', 8, [batch]), one)
  const ofEight = await inPairs(rounds, () => perSecond('orders', 8, accounts, true), one)
  figures.push(
    {
      what: 'orders a second, 8 runners of one account, to 1',
      value: medianRatio(ofOne),
      atLeast: 1,
      note: rates(ofOne),
    },
    {
      what: 'orders a second, 8 runners of 8 accounts, to 1',
      value: medianRatio(ofEight),
      atLeast: 1.5,
      note: rates(ofEight),
    },
  )
  return figures
}

/** Milliseconds of claims, each released again. */
async function claims(store: Store, batchId: string): Promise<number[]> {
  const free = { account: 'claims', decide: () => ({ state: {}, waitMs: 0 }) }
  const any = { batchId, row: 1, state: 'pending' as const, attemptId: undefined }
  const took: number[] = []
  for (let count = -50; count < 300; count += 1) {
    const since = performance.now()
    const { attempt } = await store.ledger.beginInQuota(any, newAttempt(), free, true)
    if (count >= 0) took.push(performance.now() - since)
    if (attempt === undefined) throw new Error('it did not begin')
    const requestId = randomUUID()
    await store.ledger.move(attempt, { to: 'accepted', at: 1, requestId, requestStatus: 'RECEIVED' })
  }
  return took
}

function claimFigure(name: string, part: number, few: readonly number[], many: readonly number[]): Figure {
  const [before, after] = [quantile(few, part), quantile(many, part)]
  return {
    what: `a claim among ${rows.toLocaleString('en')} rows, to one among 1,000: ${name}`,
    value: after / before,
    atMost: 2,
    note: `${after.toFixed(2)} ms, of ${before.toFixed(2)} ms`,
  }
}

/** Most rows of a store in use were ordered. */
async function grow(batch: string, until: number): Promise<void> {
  const each = await client.query('SELECT count(*)::int AS n FROM submissions WHERE batch_id = $1', [batch])
  const size = (each.rows as { n: number }[])[0]?.n ?? 1
  const id = `'copy' || g`
  const copies = Math.ceil(until / size)
  await client.query(
    `INSERT INTO batches OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(b, jsonb_build_object('id', ${id}, 'identity', null, 'serial', -g))).*
    FROM batches b, generate_series(1, ${copies}) g WHERE b.id = $1`,
    [batch],
  )
  const print = `md5(random()::text)`
  const changed = `'batch_id', ${id}, 'state', 'accepted', 'request_id', gen_random_uuid(), 'fingerprint', ${print},
    'person_print', ${print}, 'email_print', ${print}, 'phone_print', ${print}, 'email', ${print} || '@example.com'`
  await client.query(
    `INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object(${changed}))).*
    FROM submissions s, generate_series(1, ${copies}) g WHERE s.batch_id = $1`,
    [batch],
  )
  await client.query('ANALYZE')
}

/** What 8 runners use of a window, by clocks that differ. */
async function sharing(): Promise<Figure[]> {
  const skews = [0, 30_000, -30_000, 65_000, 0, 30_000, -30_000, 65_000]
  const forMs = window.seconds * 1000 * 3.5
  const more = [String(window.calls), String(window.seconds)]
  const moments = ((await together('quota', skews, forMs, more)) as number[][]).flat().sort((a, b) => a - b)
  // From the first slot of one window to the first of the one after the next.
  const span = (moments[window.calls * 2] ?? Number.NaN) - (moments[0] ?? 0)
  const note = `8 runners, clocks up to 95 s apart, ${window.calls} in ${window.seconds} s`
  return [
    { what: 'quota used', value: (window.seconds * 2000) / span, atLeast: 0.97, note },
    {
      what: 'fullest window, of what it holds',
      value: maxInWindow(moments, window) / window.calls,
      atMost: 1,
      note,
    },
  ]
}

/** Deliveries at a time: those that come while others are committed share the next commit. */
const deliveries = 32

/** Events stored as the receiver stores them, compared with bare inserts that commit one by one. */
async function events({ inbox }: Store): Promise<Figure> {
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
  const timed = async (atOnce: number, work: () => Promise<unknown>): Promise<number> => {
    const since = performance.now()
    let count = 0
    const one = async (): Promise<void> => {
      for (; performance.now() - since < ms / 3; count += 1) await work()
    }
    await Promise.all(Array.from({ length: atOnce }, one))
    return (count / (performance.now() - since)) * 1000
  }
  const pairs = await inPairs(
    rounds,
    () => timed(deliveries, deliver),
    () => timed(1, insert),
  )
  return {
    what: `events kept a second, ${deliveries} at a time, to bare INSERTs one by one`,
    value: medianRatio(pairs),
    atLeast: 0.4,
    note: rates(pairs),
  }
}

/** A file taken in, compared with the same bytes by INSERT of 500 rows a statement. */
async function takingIn(store: Store): Promise<{ batch: string; figure: Figure }> {
  const since = performance.now()
  const batch = await add(store, intake)
  const own = performance.now() - since
  await client.query('CREATE TABLE bare_file (n bigint PRIMARY KEY, email text, body text)')
  const all = newRows(intake)
  const between = performance.now()
  await client.query('BEGIN')
  for (let from = 0; from < all.length; from += 500) {
    const some = all.slice(from, from + 500)
    await client.query('INSERT INTO bare_file SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])', [
      some.map(({ row }) => row),
      some.map((row) => ('recipient' in row ? row.recipient.email : '')),
      some.map((row) => JSON.stringify(row)),
    ])
  }
  await client.query('COMMIT')
  const bare = performance.now() - between
  const note = `${(own / 1000).toFixed(1)} s of ${(bare / 1000).toFixed(1)} s`
  const what = `intake of ${intake.toLocaleString('en')} rows, to bare INSERTs, time`
  return { batch, figure: { what, value: own / bare, atMost: 4, note } }
}

try {
  await client.connect()
  await makeStore(url)
  await client.query('SET search_path = public, refcheck')
  const store = await opened(url, join(folder, 'own'))
  const few = await claims(store, await add(store, 1000))
  const { batch, figure } = await takingIn(store)
  printFigures([figure])
  const accounts: string[] = []
  for (let at = 0; at < 8; at += 1) {
    await store.accounts.add(`account${at}`, systemClock.now())
    accounts.push(await add(store, intake / 10, `account${at}`))
  }
  printFigures(await ordering(batch, accounts))
  printFigures([await events(store)])
  printFigures(await sharing())
  const ofAWorker = cluster.url(await cluster.create())
  await makeStore(ofAWorker)
  printFigures(await workerFigures({ url: ofAWorker, folder, keys, ms: ms * 3 }))
  const last = await add(store, 1000)
  await grow(last, rows)
  const many = await claims(store, last)
  await store.close()
  printFigures([claimFigure('p50', 0.5, few, many), claimFigure('p99', 0.99, few, many)])
} finally {
  await client.end()
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
