import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { startConnectProxy } from './connect-proxy.ts'
import { answer, identity, startRawServer } from './raw-server.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `plain-http` of the fault table (test/resilience/rows.ts).
recordForFaultTable('plain-http', { mustNotHappen: 'sent to whom nobody trusts' })

/** A process loads the trusted authorities when it starts, so that each test starts a new process. */

const authorityPath = fileURLToPath(new URL('../vectors/tls/authority.pem', import.meta.url))
const clientUrl = new URL('../../src/http/client.ts', import.meta.url).href
const clockUrl = new URL('../../src/host/clock.ts', import.meta.url).href

/** Sends one create from a new process. Returns its outcome, and what Node.js wrote to stderr. */
async function createInNewProcess(
  url: string,
  env: Record<string, string>,
): Promise<{ outcome: unknown; stderr: string }> {
  const program = `
    const { HttpClient } = await import(${JSON.stringify(clientUrl)})
    const { systemClock } = await import(${JSON.stringify(clockUrl)})
    const http = new HttpClient({ clock: systemClock, env: process.env, userAgent: 'refcheck-test' })
    const request = { method: 'POST', url: ${JSON.stringify(url)}, body: Buffer.from('{}') }
    const outcome = await http.sendOnce(request).then(
      ({ status }) => ({ status }),
      ({ message, sent }) => ({ message, sent }),
    )
    console.log(JSON.stringify(outcome))`
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { env: { PATH: process.env['PATH'] ?? '', ...env } },
  )
  return { outcome: JSON.parse(stdout) as unknown, stderr }
}

const answerCreated = { onRequest: (socket: { write(bytes: Buffer): unknown }) => socket.write(answer(201)) }

test('a private authority is trusted with NODE_EXTRA_CA_CERTS, directly and through a proxy', async () => {
  await using server = await startRawServer({ tls: identity('service'), ...answerCreated })
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  const env = { NODE_EXTRA_CA_CERTS: authorityPath, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
  expect((await createInNewProcess(`https://localhost:${server.port}/`, env)).outcome).toEqual({
    status: 201,
  })
  expect((await createInNewProcess('https://service.test/', env)).outcome).toEqual({ status: 201 })
})

test('an authority of the system is trusted only with NODE_USE_SYSTEM_CA=1', async () => {
  await using server = await startRawServer({ tls: identity('service'), ...answerCreated })
  const url = `https://localhost:${server.port}/`
  const systemAuthority = { SSL_CERT_FILE: authorityPath }
  expect((await createInNewProcess(url, { ...systemAuthority, NODE_USE_SYSTEM_CA: '1' })).outcome).toEqual({
    status: 201,
  })
  expect((await createInNewProcess(url, systemAuthority)).outcome).toMatchObject({ sent: false })
})

test('without an environment variable, a private authority is not trusted, and nothing is sent', async () => {
  await using server = await startRawServer({ tls: identity('service'), ...answerCreated })
  const { outcome } = await createInNewProcess(`https://localhost:${server.port}/`, {})
  expect(outcome).toEqual({
    message: `localhost:${server.port}: its certificate is signed by an unknown authority`,
    sent: false,
  })
  expect(server.bytes).toBe(0)
})

test('a trusted certificate for another host is refused, and nothing is sent', async () => {
  await using server = await startRawServer({ tls: identity('other'), ...answerCreated })
  const { outcome } = await createInNewProcess(`https://localhost:${server.port}/`, {
    NODE_EXTRA_CA_CERTS: authorityPath,
  })
  expect(outcome).toEqual({
    message: `localhost:${server.port}: its certificate is for another host`,
    sent: false,
  })
  expect(server.bytes).toBe(0)
})

test('NODE_TLS_REJECT_UNAUTHORIZED=0 has an effect only for loopback; over a network nothing is sent', async () => {
  await using server = await startRawServer({ tls: identity('self-signed'), ...answerCreated })
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
  const network = await createInNewProcess('https://service.test/', env)
  expect(network.outcome).toEqual({ message: 'service.test: its certificate is self-signed', sent: false })
  expect(server.bytes).toBe(0)
  const loopback = await createInNewProcess(`https://localhost:${server.port}/`, env)
  expect(loopback.outcome).toEqual({ status: 201 })
  expect(loopback.stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED')
})

test('a process ends without closing a client that has idle connections', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(201, { 'keep-alive': 'timeout=600' })),
  })
  expect((await createInNewProcess(`${server.origin}/`, {})).outcome).toEqual({ status: 201 })
})
