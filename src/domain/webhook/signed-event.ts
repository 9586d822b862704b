// What refcheck/webhook and refcheck/webhook/edge have in common. No import of Node: the latter runs without it.
import { type WebhookEvent, webhookEvent } from '../../contract/request.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'
import { BadSignatureError, InvalidInputError, UsageError } from '../../errors/kinds.ts'

/** The exact bytes of a body. */
export function bytesOf(rawBody: Uint8Array | string): Uint8Array {
  return typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
}

/** The one value of the signature header. Throws BadSignatureError for none, several, or one of another form. */
export function readSignature(received: string | readonly string[] | null | undefined): string {
  const [given, ...more] = [received ?? []].flat()
  if (given === undefined) throw badSignature('the signature is missing')
  if (more.length > 0) throw badSignature('there are several signatures')
  if (!/^[0-9a-f]{64}$/.test(given))
    throw badSignature('the signature is not 64 lowercase hexadecimal characters')
  return given
}

/** With an empty secret anybody could sign. */
export function requireSecret(secret: string): string {
  if (typeof secret === 'string' && secret !== '') return secret
  throw new UsageError('the webhook secret is empty', {
    hint: 'Pass the secret of the organisation’s webhook, and check the variable that it is read from.',
  })
}

/** The event of a body. Throws BadSignatureError unless `isSigned`, and InvalidInputError for another body. */
export function signedEvent(body: Uint8Array, isSigned: boolean): WebhookEvent {
  if (!isSigned) throw badSignature('the signature does not match the body')
  const parsed = webhookEvent.safeParse(parseJsonBytes(body))
  if (parsed.success) return parsed.data
  throw new InvalidInputError('the signature matches, but the body is not an event', {
    hint: 'Acknowledge it, and look into it: only the holder of the secret can have sent it.',
  })
}

function badSignature(message: string): BadSignatureError {
  return new BadSignatureError(message, {
    hint: 'Answer 401, and verify the exact bytes of the body, before anything parses it.',
  })
}
