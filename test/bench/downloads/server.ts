/*
 * A service with the calls that downloads need, as fast as node:http. It has one request with COUNT background checks,
 * each of which has a report of BYTES bytes, and waits LATENCY_MS before each answer. Prints its URL when it listens.
 * GET /calls returns the number of calls since the last such GET that count against the quota.
 * Run by run.ts: node server.ts COUNT BYTES LATENCY_MS
 */
import { writeSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [count = 1, bytes = 0, latencyMs = 0] = process.argv.slice(2).map(Number)

const firstBytes = Buffer.from('%PDF-1.7\n')
const lastBytes = Buffer.from('\n%%EOF\n')
const chunk = Buffer.alloc(Math.min(1024 * 1024, bytes), 'All work and no play makes a dull report. ')
let calls = 0

const createUuid = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`

function createRequestBody(host: string): string {
  const checks = Array.from({ length: count }, (_, index) => ({
    id: createUuid(index),
    type: 'background',
    status: 'COMPLETED',
    partner_name: 'Bench',
    check_name: `Check ${index}`,
    report_pdf_url: `http://${host}/v1/reports/${createUuid(index)}?t=token`,
  }))
  const data = {
    request_id: createUuid(999_999),
    package_id: 1,
    status: 'COMPLETED',
    created_at: '2026-11-20T12:00:00.000Z',
    requester: { email: 'owner@example.com' },
    recipient: { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' },
    checks,
  }
  return JSON.stringify({ data, status_message: 'ok', message: '' })
}

async function sendReport(outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(200, { 'Content-Type': 'application/pdf', 'Content-Length': bytes })
  let remainingBytes = bytes - firstBytes.length - lastBytes.length
  outgoing.cork()
  outgoing.write(firstBytes)
  if (remainingBytes > chunk.length) outgoing.uncork()
  while (remainingBytes > chunk.length) {
    remainingBytes -= chunk.length
    if (!outgoing.write(chunk)) await new Promise((resolve) => outgoing.once('drain', resolve))
  }
  outgoing.write(chunk.subarray(0, remainingBytes))
  outgoing.end(lastBytes)
}

const server = createServer((incoming, outgoing) => {
  const { pathname, search } = new URL(incoming.url ?? '/', 'http://127.0.0.1')
  if (pathname === '/calls') {
    outgoing.end(String(calls))
    calls = 0
    return
  }
  if (search === '') calls += 1
  const answer = (): void => {
    if (pathname.startsWith('/v1/reports/')) return void sendReport(outgoing)
    outgoing.writeHead(200, { 'Content-Type': 'application/json' })
    outgoing.end(createRequestBody(incoming.headers.host ?? ''))
  }
  if (latencyMs === 0) answer()
  else setTimeout(answer, latencyMs)
})
server.listen(0, '127.0.0.1', () => {
  writeSync(1, `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
