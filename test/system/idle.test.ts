import { expect, onTestFinished, test } from 'vitest'

import { eventBody, postDelivery } from '../harness/deliveries.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { type Flood, floodServer, peakMebibytes } from '../harness/faults/flood-server.ts'
import { startProgram } from '../harness/process.ts'
import { startReceiverProcess as startReceiver } from '../harness/receiver-process.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

const idleRow = recordForFaultTable('idle', { mustNotHappen: 'blocked', titles: /idle/ })
const incompleteRow = recordForFaultTable('incomplete', { mustNotHappen: 'blocked', titles: /flood|bodies/ })

/** Goal for `p99`. Whether it is met is only recorded for the fault table, because it depends on the machine. */
const goalMs = 1_000
/** The service's timeout for deliveries, which the tests require of each call. */
const maxMs = 10_000
/** Goal for the peak memory of a process, recorded for the fault table. */
const goalMebibytes = 200
/** Required by the tests: more than the goal, because garbage that was not collected yet counts too. */
const maxMebibytes = 250
const secret = 'a secret of this test'

interface CallTimes {
  failed: number
  /** The time within which 99 of 100 calls were answered. */
  p99: number
}

/** Runs calls one after the other. A call that takes longer than `maxMs` counts as failed. */
async function timeCalls(count: number, call: (at: number) => Promise<number>): Promise<CallTimes> {
  const durations: number[] = []
  let failed = 0
  for (let at = 0; at < count; at += 1) {
    const startedAt = performance.now()
    const status = await call(at).catch(() => 0)
    const ms = performance.now() - startedAt
    durations.push(ms)
    if (status < 200 || status > 299 || ms > maxMs) failed += 1
  }
  return { failed, p99: durations.toSorted((a, b) => a - b)[Math.ceil(count * 0.99) - 1] ?? Infinity }
}

const formatFigure = ({ p99 }: CallTimes, mebibytes: number): string =>
  `p99 ${p99.toFixed(0)} ms, ${mebibytes.toFixed(0)} MiB`

const getStatus = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(maxMs) })
  await answer.arrayBuffer()
  return answer.status
}

/** Posts deliveries to a receiver during a flood from the same address. */
async function deliverDuringFlood(
  kinds: readonly [Flood, number][],
  count: number,
): Promise<CallTimes & { mebibytes: number }> {
  const env = { ...emptyEnv(temporaryFolder()), REFCHECK_WEBHOOK_SECRET: secret }
  const { child, url } = await startReceiver([], env)
  onTestFinished(() => void child.kill('SIGKILL'))
  for (const [kind, sockets] of kinds) await floodServer(url, kind, sockets)
  const createId = (at: number): string => `${String(at).padStart(8, '0')}-1111-4111-8111-111111111111`
  const times = await timeCalls(count, (at) => postDelivery(url, secret, { body: eventBody(createId(at)) }))
  return { ...times, mebibytes: peakMebibytes(child.pid) }
}

test('deliveries to a receiver are answered despite a thousand idle connections', async () => {
  const times = await deliverDuringFlood(
    [
      ['silent', 500],
      ['half a head', 500],
    ],
    200,
  )
  idleRow.countCases(200, times.p99 < goalMs ? 200 - times.failed : 0)
  idleRow.addNote(`1000 sockets at a receiver: ${formatFigure(times, times.mebibytes)}`)
  expect(times.failed).toBe(0)
})

test.each<[Flood, number]>([
  ['no body', 1_000],
  ['large body', 500],
  ['tiny chunks', 1_000],
  ['many requests', 1_000],
])('deliveries to a receiver are answered despite a flood of connections: %s', async (kind, sockets) => {
  const times = await deliverDuringFlood([[kind, sockets]], 60)
  incompleteRow.countCases(60, times.mebibytes < goalMebibytes ? 60 - times.failed : 0)
  incompleteRow.addNote(`${sockets} sockets, ${kind}, at a receiver: ${formatFigure(times, times.mebibytes)}`)
  expect(times.failed).toBe(0)
  expect(times.mebibytes).toBeLessThan(maxMebibytes)
})

test.each<[Flood, number]>([
  ['no body', 80],
  ['no body', 1_000],
  ['large body', 500],
  ['tiny chunks', 1_000],
  ['many requests', 1_000],
])('the health of a worker is answered despite a flood of connections: %s (%i)', async (kind, sockets) => {
  const { env } = await world()
  const worker = startProgram(['worker', '--health-port', '0'], env)
  const [, url = ''] = /"url":"([^"]*)"/.exec(await worker.until('"url":"')) ?? []
  await floodServer(url, kind, sockets)
  const times = await timeCalls(20, () => getStatus(`${url}/healthz`))
  const mebibytes = peakMebibytes(worker.child.pid)
  incompleteRow.countCases(20, mebibytes < goalMebibytes ? 20 - times.failed : 0)
  incompleteRow.addNote(`${sockets} sockets, ${kind}, at a worker: ${formatFigure(times, mebibytes)}`)
  expect(times.failed).toBe(0)
  expect(mebibytes).toBeLessThan(maxMebibytes)
})

test.each<[what: string, kind: Flood, sockets: number]>([
  ['idle connections', 'silent', 1_000],
  ['withheld bodies', 'no body', 1_000],
  ['large bodies', 'large body', 500],
])('calls to a sandbox are answered despite %s', async (what, kind, sockets) => {
  const argv = ['sandbox', 'start', '--port', '0', '--json', '--quota', '100000/60']
  const sandbox = startProgram(argv, emptyEnv(temporaryFolder()))
  const ready = JSON.parse(await sandbox.until('\n')) as Record<'base_url' | 'api_key' | 'user_email', string>
  await floodServer(ready.base_url, kind, sockets)
  const headers = { 'X-Service-API-Key': ready.api_key, 'X-Service-User-Email': ready.user_email }
  const times = await timeCalls(60, () => getStatus(`${ready.base_url}/v1/users`, headers))
  const mebibytes = peakMebibytes(sandbox.child.pid)
  const row = kind === 'silent' ? idleRow : incompleteRow
  row.countCases(60, mebibytes < goalMebibytes ? 60 - times.failed : 0)
  row.addNote(`${sockets} ${what} at a sandbox: ${formatFigure(times, mebibytes)}`)
  expect(times.failed).toBe(0)
  expect(mebibytes).toBeLessThan(maxMebibytes)
})
