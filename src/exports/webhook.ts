import { sign as signature, signingKey, verify as matches } from '../contract/signature.ts'
import { bytesOf, readSignature, requireSecret, readSignedEvent } from '../domain/webhook/read-event.ts'
import type { WebhookEvent } from './types.ts'

export { RefcheckError } from '../errors/kinds.ts'
export { BadSignatureError, InvalidInputError, UsageError } from '../errors/kinds.ts'
export type { RequestStatus, WebhookEvent } from './types.ts'

/** Name of the header that carries the signature. */
export const signatureHeader = 'X-Service-Signature'

/**
 * Returns the event of a delivery after checking its signature in constant time. `rawBody` is the exact bytes of the
 * body before any parsing; a string is encoded as UTF-8. `received` is the value of X-Service-Signature, undefined if
 * the header is missing. Throws a BadSignatureError for a wrong signature, an InvalidInputError for a signed body
 * that is not an event, and a UsageError for an empty secret.
 */
export function verify(
  rawBody: Uint8Array | string,
  received: string | readonly string[] | null | undefined,
  secret: string,
): WebhookEvent {
  const key = signingKey(requireSecret(secret))
  const body = bytesOf(rawBody)
  return readSignedEvent(body, matches(body, readSignature(received), key))
}

/**
 * Returns the signature that a sender with this secret makes: 64 lowercase hexadecimal characters. Throws a
 * UsageError for an empty secret.
 */
export function sign(rawBody: Uint8Array | string, secret: string): string {
  return signature(bytesOf(rawBody), signingKey(requireSecret(secret)))
}
