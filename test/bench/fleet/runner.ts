/*
 * One runner of the benchmark, in a process of its own: waits for a line of its input, works for so many ms,
 * and prints what it did. JOB: `orders` (claims and outcomes by the ledger), `floor` (bare SQL, SKEW_MS is
 * its row), `quota` (BATCH… is CALLS SECONDS).
 * Run by run.ts: node test/bench/fleet/runner.ts JOB URL FOLDER MS SKEW_MS BATCH…
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

import { Client } from 'pg'

import { opened } from './opened.ts'
import type { Attempt } from '../../../src/domain/submission/submission.ts'
import { type Clock, systemClock } from '../../../src/host/clock.ts'
import { createGovernor } from '../../../src/usecases/quota/governor.ts'

const [job = '', url = '', folder = '', ms = '', skewMs = '', ...batches] = process.argv.slice(2)
const clock: Clock = { ...systemClock, now: () => Date.now() + Number(skewMs) }

/** Orders that a runner makes before it starts to count. */
const warmUp = 100

async function waitForStart(): Promise<number> {
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  return performance.now()
}

/** Claims and outcomes as a run journals them: an outcome and the next claim are one commit; batches take turns. */
async function orders(): Promise<unknown> {
  const store = await opened(url, folder, clock)
  const windows = [{ calls: 100_000_000, seconds: 60 }]
  const keys = batches.map((batch) =>
    createGovernor({
      quota: store.quota,
      account: store.quota.account('http://127.0.0.1', batch),
      windows,
      clock,
    }),
  )
  const newAttempt = () => ({
    attemptId: randomUUID(),
    at: clock.now(),
    monotonic: 1,
    userEmail: 'a@example.com',
  })
  const current: (Attempt | undefined)[] = []
  for (const batch of batches) await store.batches.acquire(batch, 'sending')
  const takeTurn = async (at: number): Promise<boolean> => {
    const [batchId = '', key, attempt] = [batches[at], keys[at], current[at]]
    if (key === undefined) return false
    const pendingRow = { batchId, row: 1, state: 'pending' as const, attemptId: undefined }
    if (attempt === undefined) {
      current[at] = (
        await store.ledger.beginInQuota(pendingRow, newAttempt(), key.claimForCreate(), true)
      ).attempt
      return false
    }
    const requestId = randomUUID()
    const change = { to: 'accepted' as const, at: clock.now(), requestId, requestStatus: 'RECEIVED' }
    const next = await store.ledger.moveAndBegin(
      attempt,
      change,
      pendingRow,
      newAttempt(),
      key.claimForCreate(),
      true,
    )
    current[at] = next.attempt
    return next.moved
  }
  // Warm-up: the first claim of each batch, and the code that V8 compiles.
  for (let turn = 0; turn < Math.max(batches.length, warmUp); turn += 1) await takeTurn(turn % batches.length)
  const since = await waitForStart()
  let count = 0
  for (let turn = 0; performance.now() - since < Number(ms); turn += 1) {
    if (await takeTurn(turn % batches.length)) count += 1
  }
  const took = performance.now() - since
  for (const attempt of current) {
    if (attempt !== undefined)
      await store.ledger.move(attempt, { to: 'pending', at: clock.now(), reason: '' })
  }
  await store.close()
  return { count, took }
}

/** The least that any ledger has to do for an order: two statements in one transaction. */
async function floor(): Promise<unknown> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const since = await waitForStart()
  let count = 0
  for (; performance.now() - since < Number(ms); count += 1) {
    const id = randomUUID()
    await client.query('BEGIN')
    await client.query({
      name: 'u',
      text: 'UPDATE bare_rows SET id = $1 WHERE n = $2',
      values: [id, Number(skewMs)],
    })
    await client.query({
      name: 'i',
      text: 'INSERT INTO bare_attempts VALUES ($1, $2)',
      values: [id, 'x'.repeat(200)],
    })
    await client.query('COMMIT')
  }
  const took = performance.now() - since
  await client.end()
  return { count, took }
}

/** Times at which quota slots were granted, by the machine's clock, without the skew. */
async function quota(): Promise<unknown> {
  const store = await opened(url, folder, clock)
  const [calls = 1, seconds = 1] = batches.map(Number)
  const account = store.quota.account('http://127.0.0.1', 'shared')
  const key = createGovernor({ quota: store.quota, account, windows: [{ calls, seconds }], clock })
  await waitForStart()
  const until = Date.now() + Number(ms)
  const moments: number[] = []
  while (Date.now() < until) {
    const slot = await store.quota.update(key.claimForCreate())
    if (slot.waitMs === 0) moments.push(Date.now())
    else await pause(Math.min(slot.waitMs, Math.max(0, until - Date.now())))
  }
  await store.close()
  return moments
}

const jobs: Record<string, () => Promise<unknown>> = { orders, floor, quota }
process.stdout.write(JSON.stringify(await jobs[job]?.()))
process.exit()
