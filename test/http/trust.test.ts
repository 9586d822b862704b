import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { startConnectProxy } from './connect-proxy.ts'
import { answer, identity, startRawServer } from './raw-server.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('plain-http', 'sent to whom nobody trusts')

/** Whom a process trusts is settled when it starts, so each of these is a process of its own. */

const authority = fileURLToPath(new URL('../vectors/tls/authority.pem', import.meta.url))
const client = new URL('../../src/http/client.ts', import.meta.url).href
const clock = new URL('../../src/host/clock.ts', import.meta.url).href

/** One create from a fresh process; what it came to as JSON, and what Node itself said on stderr. */
async function createFrom(
  url: string,
  env: Record<string, string>,
): Promise<{ said: unknown; stderr: string }> {
  const program = `
    const { HttpClient } = await import(${JSON.stringify(client)})
    const { systemClock } = await import(${JSON.stringify(clock)})
    const http = new HttpClient({ clock: systemClock, env: process.env, userAgent: 'refcheck-test' })
    const request = { method: 'POST', url: ${JSON.stringify(url)}, body: Buffer.from('{}') }
    const said = await http.sendOnce(request).then(
      ({ status }) => ({ status }),
      ({ message, sent }) => ({ message, sent }),
    )
    console.log(JSON.stringify(said))`
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { env: { PATH: process.env['PATH'] ?? '', ...env } },
  )
  return { said: JSON.parse(stdout) as unknown, stderr }
}

const created = { onRequest: (socket: { write(bytes: Buffer): unknown }) => socket.write(answer(201)) }

test('an authority of one’s own is trusted with NODE_EXTRA_CA_CERTS, straight and through a proxy', async () => {
  await using server = await startRawServer({ tls: identity('service'), ...created })
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  const env = { NODE_EXTRA_CA_CERTS: authority, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
  expect((await createFrom(`https://localhost:${server.port}/`, env)).said).toEqual({ status: 201 })
  expect((await createFrom('https://service.test/', env)).said).toEqual({ status: 201 })
})

test('an authority that the system trusts counts with NODE_USE_SYSTEM_CA=1 alone', async () => {
  await using server = await startRawServer({ tls: identity('service'), ...created })
  const url = `https://localhost:${server.port}/`
  const system = { SSL_CERT_FILE: authority }
  expect((await createFrom(url, { ...system, NODE_USE_SYSTEM_CA: '1' })).said).toEqual({ status: 201 })
  expect((await createFrom(url, system)).said).toMatchObject({ sent: false })
})

test('without it, not: and nothing is sent', async () => {
  await using server = await startRawServer({ tls: identity('service'), ...created })
  const { said } = await createFrom(`https://localhost:${server.port}/`, {})
  expect(said).toEqual({
    message: `localhost:${server.port}: its certificate is signed by an unknown authority`,
    sent: false,
  })
  expect(server.bytes).toBe(0)
})

test('a trusted certificate for another host is refused, and nothing is sent', async () => {
  await using server = await startRawServer({ tls: identity('other'), ...created })
  const { said } = await createFrom(`https://localhost:${server.port}/`, { NODE_EXTRA_CA_CERTS: authority })
  expect(said).toEqual({
    message: `localhost:${server.port}: its certificate is for another host`,
    sent: false,
  })
  expect(server.bytes).toBe(0)
})

test('NODE_TLS_REJECT_UNAUTHORIZED=0 counts for loopback alone: over a network nothing is sent', async () => {
  await using server = await startRawServer({ tls: identity('self-signed'), ...created })
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }
  const network = await createFrom('https://service.test/', env)
  expect(network.said).toEqual({ message: 'service.test: its certificate is self-signed', sent: false })
  expect(server.bytes).toBe(0)
  const loopback = await createFrom(`https://localhost:${server.port}/`, env)
  expect(loopback.said).toEqual({ status: 201 })
  expect(loopback.stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED')
})

test('a process ends by itself while its client still holds connections', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(201, { 'keep-alive': 'timeout=600' })),
  })
  expect((await createFrom(`${server.origin}/`, {})).said).toEqual({ status: 201 })
})
