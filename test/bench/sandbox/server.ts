/*
 * One of the servers under measurement, named by the first argument: `bare`, a node:http server that
 * answers every GET with the bytes of the second argument's file and every POST with those of the
 * third's, or `sandbox`, with as many stored requests as the second argument says, each read once. Prints one line
 * of JSON when it listens.
 */
import { readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { systemClock } from '../../../src/host/clock.ts'

const [, , kind, ...rest] = process.argv

async function sandbox(stored: number): Promise<void> {
  const { createSandbox } = await import('../../../src/sandbox/control/embedded.ts')
  const { order } = await import('./order.ts')
  const { listen } = await import('../../../src/server/listen.ts')
  const running = createSandbox({ clock: systemClock, speed: 1e9, quota: [] })
  const { apiKey, userEmail } = running.credentials
  const headers = {
    'X-Service-API-Key': apiKey,
    'X-Service-User-Email': userEmail,
    'Content-Type': 'application/json',
  }
  let id = ''
  for (let count = 0; count < stored; count += 1) {
    const body = JSON.stringify(order)
    const answer = await running.fetch(
      new Request('http://127.0.0.1:1/v1/requests', { method: 'POST', headers, body }),
    )
    if (id === '') id = ((await answer.json()) as { data: { request_id: string } }).data.request_id
  }
  running.overview()
  const { url } = await listen((request, connection) => running.fetch(request, connection))
  writeSync(1, `${JSON.stringify({ url, id, headers })}\n`)
}

async function bare(): Promise<void> {
  const [read = '', create = ''] = rest.map((path) => readFileSync(path, 'utf8'))
  const json = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    Expires: '0',
  }
  const server = createServer((incoming, outgoing) => {
    if (incoming.method === 'GET') {
      outgoing.writeHead(200, { ...json, 'Content-Length': Buffer.byteLength(read) })
      outgoing.end(read)
      return
    }
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      outgoing.writeHead(201, { ...json, 'Content-Length': Buffer.byteLength(create) })
      outgoing.end(create)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeSync(1, `${JSON.stringify({ url: `http://127.0.0.1:${port}`, id: 'x', headers: {} })}\n`)
}

await (kind === 'sandbox' ? sandbox(Number(rest[0])) : bare())
