// refcheck/webhook/edge, for runtimes without Node: it imports nothing of Node, and uses WebCrypto.
import { bytesOf, readSignature, requireSecret, readSignedEvent } from '../domain/webhook/read-event.ts'
import type { WebhookEvent } from './types.ts'

export { RefcheckError } from '../errors/kinds.ts'
export { BadSignatureError, InvalidInputError, UsageError } from '../errors/kinds.ts'
export type { RequestStatus, WebhookEvent } from './types.ts'

/** Name of the header that carries the signature. */
export const signatureHeader = 'X-Service-Signature'

/**
 * Like `verify` of refcheck/webhook, but with WebCrypto and returning a promise: the same arguments, event, errors and
 * constant-time comparison. For Cloudflare Workers, Deno, Bun, Vercel Edge and service workers.
 */
export async function verify(
  rawBody: Uint8Array | string,
  received: string | readonly string[] | null | undefined,
  secret: string,
): Promise<WebhookEvent> {
  const encodedSecret = new TextEncoder().encode(requireSecret(secret))
  // A copy, because the caller may change the bytes before the promise is settled.
  const body = new Uint8Array(bytesOf(rawBody))
  const digits = readSignature(received)
  const signature = Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  )
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const { subtle } = globalThis.crypto
  const key = await subtle.importKey('raw', encodedSecret, algorithm, false, ['verify'])
  return readSignedEvent(body, await subtle.verify('HMAC', key, signature, body))
}
