// This file loads zod, and therefore is separate from events.ts, which the ledger imports. It must not import modules
// of Node, because refcheck/webhook/edge runs without Node.
import { webhookEvent, type WebhookEvent, uuid } from '../../contract/request.ts'
import { isJsonObject, parseJsonOrUndefined, parseJsonBytes } from '../../contract/parse-json.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import { notUuid, type ReceivedEvent } from './events.ts'
import { BadSignatureError, InvalidInputError, UsageError } from '../../errors/kinds.ts'

const statuses: ReadonlySet<string> = new Set(requestStatuses)

/** Returns the event in the body of a verified delivery, with its oddity if it differs from the API document. */
export function readEvent(
  body: Uint8Array,
  signature: string,
  receivedAt: number,
  baseUrl?: string,
): ReceivedEvent {
  const delivery = {
    baseUrl,
    receivedAt,
    body,
    signature,
    requestId: undefined,
    status: undefined,
    event: undefined,
  }
  const parsed = webhookEvent.safeParse(parseJsonBytes(body))
  if (!parsed.success) return { ...delivery, oddity: 'the body is not an event of the API document' }
  const { request_id: requestId, status, event } = parsed.data
  return { ...delivery, requestId, status, event, oddity: oddityOf(requestId, status, event) }
}

function oddityOf(requestId: string, status: string, event: string): string | undefined {
  if (!uuid.safeParse(requestId).success) return notUuid
  if (event !== 'request.updated') return `unknown event "${event.slice(0, 60)}"`
  return statuses.has(status) ? undefined : `unknown status "${status.slice(0, 60)}"`
}

/** Returns the bytes of a body. A string is encoded as UTF-8. */
export function bytesOf(rawBody: Uint8Array | string): Uint8Array {
  return typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
}

/**
 * Returns the value of the signature header. Throws BadSignatureError unless there is exactly one well-formed value.
 */
export function readSignature(received: string | readonly string[] | null | undefined): string {
  const [signature, ...others] = [received ?? []].flat()
  if (signature === undefined) throw badSignature('the signature is missing')
  if (others.length > 0) throw badSignature('there are several signatures')
  if (!/^[0-9a-f]{64}$/.test(signature))
    throw badSignature('the signature is not 64 lowercase hexadecimal characters')
  return signature
}

/** Returns the secret. Throws UsageError if it is empty, because anyone could then forge signatures. */
export function requireSecret(secret: string): string {
  if (typeof secret === 'string' && secret !== '') return secret
  throw new UsageError('the webhook secret is empty', {
    hint: 'Pass the secret of the organisation’s webhook, and check the variable that it is read from.',
  })
}

/**
 * Returns the event in a body. Throws a BadSignatureError if `isSigned` is false, and an InvalidInputError if the body
 * is not an event.
 */
export function readSignedEvent(body: Uint8Array, isSigned: boolean): WebhookEvent {
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

/**
 * Returns the ids of requests in a file of captured events. Each line is a JSON object: an event with `request_id`,
 * or a capture with the event in `body` (text or object) or `body_base64`. Throws InvalidInputError for any other
 * line.
 */
export function requestIdsIn(text: string, name: string): string[] {
  const ids = new Set<string>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const id = requestIdOf(parseJsonOrUndefined(line))
    if (id === undefined) {
      throw new InvalidInputError(`${name}: line ${index + 1} is not an event with a request_id`, {
        hint: 'Nothing was changed. Give one JSON object per line: the event, or a capture with the event in "body".',
      })
    }
    ids.add(id)
  }
  return [...ids]
}

function requestIdOf(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined
  const { request_id, body, body_base64 } = value
  const id = uuid.safeParse(request_id)
  if (id.success) return id.data.toLowerCase()
  if (typeof body_base64 === 'string')
    return requestIdOf(parseJsonOrUndefined(Buffer.from(body_base64, 'base64').toString()))
  return typeof body === 'string' ? requestIdOf(parseJsonOrUndefined(body)) : requestIdOf(body)
}
