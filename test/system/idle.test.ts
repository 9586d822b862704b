import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { eventBody, post } from '../harness/deliveries.ts'
import { faultRow } from '../harness/faults/fault-row.ts'
import { start as startProgram } from '../harness/process.ts'
import { start as startReceiver } from '../harness/receiver-process.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const fault = faultRow('idle', 'kept out')

const sockets = 1_000
const calls = 200
const goalMs = 1_000
/** Whoever sends an event gives up then; the goal is the table's, since a test depends on no machine's speed. */
const mostMs = 10_000
const secret = 'a secret of this test'

/** Where whoever says nothing comes from: the one whose calls count is another client. */
const elsewhere = '127.0.0.2'

/** So many connections of one client that say nothing, or half a head; each that is ended is opened again, once. */
async function idle(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
  })
  const one = (again: boolean): Socket => {
    const socket = connect({ port: Number(port), host: hostname, localAddress: elsewhere })
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      open.delete(socket)
      if (again) one(false)
    })
    if (open.size % 2 === 0) socket.write('POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    return socket
  }
  for (let count = 0; count < sockets; count += 50) {
    const opened = Array.from({ length: 50 }, () => one(true))
    await Promise.all(opened.map((each) => once(each, 'connect').catch(() => undefined)))
  }
}

/** Runs calls one after the other; how many failed, and the time that 99 of 100 kept, in ms. */
async function timed(call: (at: number) => Promise<number>): Promise<{ failed: number; p99: number }> {
  const took: number[] = []
  let failed = 0
  for (let at = 0; at < calls; at += 1) {
    const since = performance.now()
    const status = await call(at).catch(() => 0)
    took.push(performance.now() - since)
    if (status < 200 || status > 299) failed += 1
  }
  return { failed, p99: took.toSorted((a, b) => a - b)[Math.ceil(calls * 0.99) - 1] ?? Infinity }
}

test('deliveries to a receiver are answered beside a thousand idle connections', async () => {
  const receiver = await startReceiver([], {
    ...emptyEnv(temporaryFolder()),
    REFCHECK_WEBHOOK_SECRET: secret,
  })
  onTestFinished(() => void receiver.child.kill('SIGKILL'))
  await idle(receiver.url)
  const id = (at: number): string => `${String(at).padStart(8, '0')}-1111-4111-8111-111111111111`
  const { failed, p99 } = await timed((at) => post(receiver.url, secret, { body: eventBody(id(at)) }))
  fault.cases(calls, p99 < goalMs ? calls - failed : 0)
  fault.says(`${sockets} sockets at a receiver, p99 of a delivery ${p99.toFixed(0)} ms`)
  expect(failed).toBe(0)
  expect(p99).toBeLessThan(mostMs)
})

test('calls to a sandbox are answered beside a thousand idle connections', async () => {
  const argv = ['sandbox', 'start', '--port', '0', '--json', '--quota', '100000/60']
  const sandbox = startProgram(argv, emptyEnv(temporaryFolder()))
  const ready = JSON.parse(await sandbox.until('\n')) as Record<'base_url' | 'api_key' | 'user_email', string>
  await idle(ready.base_url)
  const headers = { 'X-Service-API-Key': ready.api_key, 'X-Service-User-Email': ready.user_email }
  const { failed, p99 } = await timed(async () => {
    const answer = await fetch(`${ready.base_url}/v1/users`, { headers })
    await answer.arrayBuffer()
    return answer.status
  })
  fault.cases(calls, p99 < goalMs ? calls - failed : 0)
  fault.says(`${sockets} sockets at a sandbox, p99 of a call ${p99.toFixed(0)} ms`)
  expect(failed).toBe(0)
  expect(p99).toBeLessThan(mostMs)
})
