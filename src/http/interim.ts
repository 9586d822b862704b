import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** Where the bytes of an answer begin, as far as they are there. */
type Start = { kind: 'undecided' } | { kind: 'answer'; at: number }

const interim = /^HTTP\/1\.\d 100[ \r]/
const longestStatus = 'HTTP/1.1 100 '.length
/** A head that does not end within this is left to undici to refuse. */
const longestHead = 16 * 1024

let isSubscribed = false

/**
 * "An interim 1xx answer is no answer" (ordering protocol, step 3), and a server may send 100 though nobody asked for
 * it (RFC 9110, 15.2). undici breaks the connection off there, so it never sees one: each connection it makes, through
 * a proxy too, has them taken out where an answer begins.
 */
export function skipContinues(): void {
  if (isSubscribed) return
  isSubscribed = true
  subscribe('undici:client:connected', (message) => filter((message as { socket: Socket }).socket))
}

function filter(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket) as (...values: unknown[]) => boolean
  let isStart = true
  let held: Buffer = Buffer.alloc(0)
  socket.write = (...values: unknown[]) => {
    // The head of a request goes out as one text; the next bytes that come in begin its answer.
    if (typeof values[0] === 'string' && /^[A-Z]+ /.test(values[0])) isStart = true
    return write(...values)
  }
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size)
      if (!isStart || chunk === null) return chunk
      held = held.byteLength === 0 ? chunk : Buffer.concat([held, chunk])
      const start = answerStart(held)
      if (start.kind === 'undecided') continue
      const answer = held.subarray(start.at)
      held = Buffer.alloc(0)
      isStart = false
      return answer
    }
  }
}

/** Past every 100 that stands before the answer. */
function answerStart(bytes: Buffer): Start {
  for (let at = 0; ;) {
    const head = bytes.toString('latin1', at, at + longestStatus)
    if (head.length < longestStatus && 'HTTP/1.1 100 '.startsWith(head)) return { kind: 'undecided' }
    if (!interim.test(head)) return { kind: 'answer', at }
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
    if (end === -1) {
      return bytes.byteLength - at > longestHead ? { kind: 'answer', at } : { kind: 'undecided' }
    }
    at = end + 4
  }
}
