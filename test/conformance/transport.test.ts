import { connect, createServer, type Server } from 'node:net'

import { expect, onTestFinished, test, vi } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { runConformance } from '../../src/conformance/run.ts'
import { createSandbox } from '../../src/sandbox/control/embedded.ts'
import { type Handler, listen } from '../../src/server/listen.ts'
import { identity } from '../http/raw-server.ts'
import { createHttp, listBrokenCases } from './lab.ts'

/** Runs the case of the transport on the service with this https URL. */
async function runTransportCase(
  baseUrl: string,
  { apiKey, userEmail }: { apiKey: string; userEmail: string },
) {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  return runConformance({
    http: createHttp(() => vi.unstubAllEnvs()),
    clock: systemClock,
    target: { baseUrl, apiKey, userEmail },
    isSelected: ({ id }) => id === 'versioning.transport',
  })
}

/** Serves one sandbox on a port with TLS and on a port without TLS. */
async function serveOnTwoPorts() {
  const sandbox = createSandbox({ clock: systemClock })
  const handler: Handler = (request, connection) => sandbox.fetch(request, connection)
  const tls = await listen(handler, { tls: identity('self-signed') })
  const plain = await listen(handler)
  onTestFinished(async () => {
    await Promise.all([tls.close(), plain.close()])
    sandbox.close()
  })
  return { tls, plain, credentials: sandbox.credentials }
}

/** Serves both ports on one. The first byte of a TLS connection is 22. */
async function serveOnOnePort(tls: number, plain: number): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.once('data', (first) => {
      const upstream = connect(first[0] === 22 ? tls : plain, '127.0.0.1')
      upstream.write(first)
      socket.pipe(upstream).pipe(socket)
      upstream.on('error', () => socket.destroy())
    })
    socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('a port that accepts only TLS rejects plain HTTP', async () => {
  const { tls, credentials } = await serveOnTwoPorts()
  const { counts } = await runTransportCase(tls.url, credentials)
  expect(counts).toEqual({ cases: 1, holds: 1, broken: 0, advised: 0, not_judged: 0 })
})

test('a port that also answers plain HTTP breaks the rule', async () => {
  const { tls, plain, credentials } = await serveOnTwoPorts()
  const port = await serveOnOnePort(tls.port, plain.port)
  expect(listBrokenCases(await runTransportCase(`https://127.0.0.1:${port}`, credentials))).toEqual([
    {
      id: 'versioning.transport',
      findings: ['GET /v1/ping over plain HTTP: expected a refusal, got 200'],
    },
  ])
})
