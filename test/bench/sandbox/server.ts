/*
 * One of the two measured servers. Prints one line of JSON when it listens.
 * Run by run.ts: node server.ts bare READ_FILE CREATE_FILE, a node:http server that answers every GET with the bytes of
 * READ_FILE and every POST with those of CREATE_FILE; or node server.ts sandbox COUNT, a sandbox with COUNT stored
 * requests
 */
import { readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { systemClock } from '../../../src/host/clock.ts'

const [, , kind, ...kindArguments] = process.argv

async function serveSandbox(requestCount: number): Promise<void> {
  const { createSandbox } = await import('../../../src/sandbox/control/embedded.ts')
  const { order } = await import('./order.ts')
  const { listen } = await import('../../../src/server/listen.ts')
  const sandbox = createSandbox({ clock: systemClock, speed: 1e9, quota: [] })
  const { apiKey, userEmail } = sandbox.credentials
  const headers = {
    'X-Service-API-Key': apiKey,
    'X-Service-User-Email': userEmail,
    'Content-Type': 'application/json',
  }
  let id = ''
  for (let count = 0; count < requestCount; count += 1) {
    const body = JSON.stringify(order)
    const answer = await sandbox.fetch(
      new Request('http://127.0.0.1:1/v1/requests', { method: 'POST', headers, body }),
    )
    if (id === '') id = ((await answer.json()) as { data: { request_id: string } }).data.request_id
  }
  // Reads each request once, so that its state is computed before the measurement.
  sandbox.overview()
  const { url } = await listen((request, connection) => sandbox.fetch(request, connection))
  writeSync(1, `${JSON.stringify({ url, id, headers })}\n`)
}

async function serveBare(): Promise<void> {
  const [read = '', create = ''] = kindArguments.map((path) => readFileSync(path, 'utf8'))
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

await (kind === 'sandbox' ? serveSandbox(Number(kindArguments[0])) : serveBare())
