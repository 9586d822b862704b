/* Opens many connections to a server: node flood.ts PORT KIND COUNT. A connection that is closed is opened again once.
   Prints a line when all connections are open. */
import { connect } from 'node:net'

import type { Flood } from './flood-server.ts'

const [port, kind, count] = process.argv.slice(2) as [string, Flood, string]

const mebibyte = 1024 * 1024
const createRequestHead = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
const bytesByKind: Record<Flood, Buffer> = {
  silent: Buffer.alloc(0),
  'half a head': Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nX-Slow: '),
  'no body': Buffer.from(createRequestHead(500)),
  'large body': Buffer.concat([Buffer.from(createRequestHead(mebibyte)), Buffer.alloc(mebibyte, 'x')]),
  'tiny chunks': Buffer.from(
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(150_000)}`,
  ),
  'many requests': Buffer.from(`${createRequestHead(2)}ok`.repeat(10_000)),
}

let openedCount = 0
function open(opensAgain: boolean): void {
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(bytesByKind[kind])
    openedCount += 1
    if (openedCount === Number(count)) process.stdout.write('open\n')
  })
  socket.on('data', () => undefined)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    if (opensAgain) setImmediate(open, false)
  })
}

for (let at = 0; at < Number(count); at += 1) open(true)
