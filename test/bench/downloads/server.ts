/*
 * The service as far as downloads go, as fast as node:http is: one request with as many background
 * checks as the first argument says, each with a report of as many bytes as the second says. The
 * third is how many milliseconds it thinks before each answer. Prints its URL when it listens, and
 * answers /calls with the number of calls that count against the quota.
 */
import { writeSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const [count = 1, bytes = 0, latencyMs = 0] = process.argv.slice(2).map(Number)

const head = Buffer.from('%PDF-1.7\n')
const end = Buffer.from('\n%%EOF\n')
const piece = Buffer.alloc(Math.min(1024 * 1024, bytes), 'All work and no play makes a dull report. ')
let calls = 0

const uuid = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`

function request(host: string): string {
  const checks = Array.from({ length: count }, (_, index) => ({
    id: uuid(index),
    type: 'background',
    status: 'COMPLETED',
    partner_name: 'Bench',
    check_name: `Check ${index}`,
    report_pdf_url: `http://${host}/v1/reports/${uuid(index)}?t=token`,
  }))
  const data = {
    request_id: uuid(999_999),
    package_id: 1,
    status: 'COMPLETED',
    created_at: '2026-11-20T12:00:00.000Z',
    requester: { email: 'owner@example.com' },
    recipient: { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' },
    checks,
  }
  return JSON.stringify({ data, status_message: 'ok', message: '' })
}

async function report(outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(200, { 'Content-Type': 'application/pdf', 'Content-Length': bytes })
  let left = bytes - head.length - end.length
  outgoing.cork()
  outgoing.write(head)
  if (left > piece.length) outgoing.uncork()
  while (left > piece.length) {
    left -= piece.length
    if (!outgoing.write(piece)) await new Promise((resolve) => outgoing.once('drain', resolve))
  }
  outgoing.write(piece.subarray(0, left))
  outgoing.end(end)
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
    if (pathname.startsWith('/v1/reports/')) return void report(outgoing)
    outgoing.writeHead(200, { 'Content-Type': 'application/json' })
    outgoing.end(request(incoming.headers.host ?? ''))
  }
  if (latencyMs === 0) answer()
  else setTimeout(answer, latencyMs)
})
server.listen(0, '127.0.0.1', () => {
  writeSync(1, `http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
