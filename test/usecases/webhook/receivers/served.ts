import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

import { onTestFinished } from 'vitest'

/** The secret of all handlers. */
export const secret = 'whsec-of-a-receiver'

/** Starts a loopback server that ends with the test, and returns its URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

/** Implements the API document, independently of the program: "Lowercase hex HMAC-SHA256 of the raw body". */
export function hmac(body: Uint8Array | string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

export function hasValidSignature(body: Uint8Array, signature: unknown): boolean {
  if (typeof signature !== 'string' || signature.length !== 64) return false
  return timingSafeEqual(Buffer.from(hmac(body)), Buffer.from(signature))
}

export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Returns the part of a correct handler after verification, which stores each pair of request id and status once. */
export function createEventStore(): { statusFor: (body: Uint8Array) => number; seen: Set<string> } {
  const seen = new Set<string>()
  return {
    seen,
    statusFor(body) {
      let event: unknown
      try {
        event = JSON.parse(Buffer.from(body).toString('utf8'))
      } catch {
        return 400
      }
      if (typeof event !== 'object' || event === null) return 400
      const { request_id, status } = event as Record<string, unknown>
      seen.add(`${String(request_id)} ${String(status)}`)
      return 204
    },
  }
}
