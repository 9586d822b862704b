/*
 * One runner of the benchmark: waits for a line on stdin, works for MS milliseconds, and prints its result as JSON.
 * JOB is `orders` (claims and outcomes by the ledger), `floor` (bare SQL; SKEW_MS is the number of its row) or `quota`
 * (BATCH… is CALLS SECONDS).
 * Run by run.ts: node test/bench/fleet/runner.ts JOB URL FOLDER MS SKEW_MS BATCH…
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

import { Client } from 'pg'

import { openMachineStore } from './open-store.ts'
import type { Attempt } from '../../../src/domain/submission/submission.ts'
import { type Clock, systemClock } from '../../../src/host/clock.ts'
import { createGovernor } from '../../../src/usecases/quota/governor.ts'

const [job = '', url = '', folder = '', ms = '', skewMs = '', ...batches] = process.argv.slice(2)
const clock: Clock = { ...systemClock, now: () => Date.now() + Number(skewMs) }

/** Number of orders that a runner makes before it starts to count. */
const warmUpOrders = 100

async function waitForStart(): Promise<number> {
  process.stdout.write('ready\n')
  await once(process.stdin, 'data')
  return performance.now()
}

/**
 * Records claims and outcomes as a run does: an outcome and the next claim are one commit. The batches are used in
 * turn. Returns the number of orders and the duration.
 */
async function recordOrders(): Promise<unknown> {
  const store = await openMachineStore(url, folder, clock)
  const windows = [{ calls: 100_000_000, seconds: 60 }]
  const governors = batches.map((batch) =>
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
  const attempts: (Attempt | undefined)[] = []
  for (const batch of batches) await store.batches.acquire(batch, 'sending')
  const recordNext = async (index: number): Promise<boolean> => {
    const [batchId = '', batchGovernor, attempt] = [batches[index], governors[index], attempts[index]]
    if (batchGovernor === undefined) return false
    const pendingRow = { batchId, row: 1, state: 'pending' as const, attemptId: undefined }
    if (attempt === undefined) {
      attempts[index] = (
        await store.ledger.beginInQuota(pendingRow, newAttempt(), batchGovernor.claimForCreate(), true)
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
      batchGovernor.claimForCreate(),
      true,
    )
    attempts[index] = next.attempt
    return next.isMoved
  }
  // The warm-up makes the first claim of each batch, and lets V8 compile the code.
  for (let turn = 0; turn < Math.max(batches.length, warmUpOrders); turn += 1)
    await recordNext(turn % batches.length)
  const startedAt = await waitForStart()
  let count = 0
  for (let turn = 0; performance.now() - startedAt < Number(ms); turn += 1) {
    if (await recordNext(turn % batches.length)) count += 1
  }
  const durationMs = performance.now() - startedAt
  for (const attempt of attempts) {
    if (attempt !== undefined)
      await store.ledger.move(attempt, { to: 'pending', at: clock.now(), reason: '' })
  }
  await store.close()
  return { count, durationMs }
}

/** Makes the minimal orders that any ledger has to record: two statements in one transaction. */
async function recordBareOrders(): Promise<unknown> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const startedAt = await waitForStart()
  let count = 0
  for (; performance.now() - startedAt < Number(ms); count += 1) {
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
  const durationMs = performance.now() - startedAt
  await client.end()
  return { count, durationMs }
}

/** Claims calls from the quota. Returns the times at which they were granted, by the clock without the skew. */
async function claimCalls(): Promise<unknown> {
  const store = await openMachineStore(url, folder, clock)
  const [calls = 1, seconds = 1] = batches.map(Number)
  const account = store.quota.account('http://127.0.0.1', 'shared')
  const sharedGovernor = createGovernor({ quota: store.quota, account, windows: [{ calls, seconds }], clock })
  await waitForStart()
  const endTime = Date.now() + Number(ms)
  const grantTimes: number[] = []
  while (Date.now() < endTime) {
    const claim = await store.quota.update(sharedGovernor.claimForCreate())
    if (claim.waitMs === 0) grantTimes.push(Date.now())
    else await pause(Math.min(claim.waitMs, Math.max(0, endTime - Date.now())))
  }
  await store.close()
  return grantTimes
}

const jobs: Record<string, () => Promise<unknown>> = {
  orders: recordOrders,
  floor: recordBareOrders,
  quota: claimCalls,
}
process.stdout.write(JSON.stringify(await jobs[job]?.()))
process.exit()
