import { webhookEvent } from '../contract/event.ts'
import { sign as signature, signaturePattern, signingKey, verify as matches } from '../contract/signature.ts'
import { BadSignatureError, InvalidInputError } from '../errors/kinds.ts'
import type { WebhookEvent } from './types.ts'
import { parseJsonBytes } from '../contract/parse-json.ts'

export { BadSignatureError, InvalidInputError } from '../errors/kinds.ts'
export type { WebhookEvent } from './types.ts'

/** Name of the header that carries the signature. */
export const signatureHeader = 'X-Service-Signature'

/**
 * The event of a delivery whose signature is right. `rawBody` is the exact bytes of the body, before any parsing; a
 * string stands for its UTF-8 bytes. `received` is the value of X-Service-Signature as it came, undefined where there
 * was none. Throws BadSignatureError for any other signature, and InvalidInputError for a body that is signed and yet
 * no event. Constant-time.
 */
export function verify(
  rawBody: Uint8Array | string,
  received: string | readonly string[] | null | undefined,
  secret: string,
): WebhookEvent {
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const [given, ...more] = [received ?? []].flat()
  if (given === undefined) throw refused('the signature is missing')
  if (more.length > 0) throw refused('there are several signatures')
  if (!signaturePattern.test(given)) throw refused('the signature is not 64 lowercase hexadecimal characters')
  if (!matches(body, given, signingKey(secret))) throw refused('the signature does not match the body')
  const parsed = webhookEvent.safeParse(parseJsonBytes(body))
  if (parsed.success) return parsed.data
  throw new InvalidInputError('the signature matches, but the body is not an event', {
    hint: 'Acknowledge it, and look into it: only the holder of the secret can have sent it.',
  })
}

/** The signature that a sender with this secret makes: 64 lowercase hexadecimal characters. */
export function sign(rawBody: Uint8Array | string, secret: string): string {
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  return signature(body, signingKey(secret))
}

function refused(message: string): BadSignatureError {
  return new BadSignatureError(message, {
    hint: 'Answer 401, and verify the exact bytes of the body, before anything parses it.',
  })
}
