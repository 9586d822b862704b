// Not in events.ts, which the ledger imports: this loads zod. No import of Node: refcheck/webhook/edge runs without it.
import { webhookEvent, type WebhookEvent, uuid } from '../../contract/request.ts'
import { parseJsonOrUndefined, parseJsonBytes } from '../../contract/parse-json.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import type { ReceivedEvent } from './events.ts'
import { BadSignatureError, InvalidInputError, UsageError } from '../../errors/kinds.ts'

const statuses: ReadonlySet<string> = new Set(requestStatuses)

/** What the body of a verified delivery of a service says, and what is odd about it. */
export function readEvent(
  body: Uint8Array,
  signature: string,
  receivedAt: number,
  baseUrl?: string,
): ReceivedEvent {
  const bare = {
    baseUrl,
    receivedAt,
    body,
    signature,
    requestId: undefined,
    status: undefined,
    event: undefined,
  }
  const parsed = webhookEvent.safeParse(parseJsonBytes(body))
  if (!parsed.success) return { ...bare, oddity: 'the body is not an event of the API document' }
  const { request_id: requestId, status, event } = parsed.data
  return { ...bare, requestId, status, event, oddity: oddityOf(requestId, status, event) }
}

function oddityOf(requestId: string, status: string, event: string): string | undefined {
  if (event !== 'request.updated') return `unknown event "${event.slice(0, 60)}"`
  if (!statuses.has(status)) return `unknown status "${status.slice(0, 60)}"`
  return uuid.safeParse(requestId).success ? undefined : 'the request_id is not a UUID'
}

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

/** With an empty secret, signatures can be forged. */
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

/**
 * Ids of requests in a file of captured events: JSON objects a line, each an event itself
 * (`request_id`), or a capture with the event as text or object in `body`.
 */
export function requestIdsIn(text: string, name: string): string[] {
  const ids = new Set<string>()
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const id = requestIdOf(parseJsonOrUndefined(line))
    if (id === undefined) {
      throw new InvalidInputError(`${name}: line ${at + 1} is not an event with a request_id`, {
        hint: 'Nothing was changed. Give one JSON object per line: the event, or a capture with the event in "body".',
      })
    }
    ids.add(id)
  }
  return [...ids]
}

function requestIdOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { request_id, body, body_base64 } = value as Partial<Record<string, unknown>>
  const id = uuid.safeParse(request_id)
  if (id.success) return id.data.toLowerCase()
  if (typeof body_base64 === 'string')
    return requestIdOf(parseJsonOrUndefined(Buffer.from(body_base64, 'base64').toString()))
  return typeof body === 'string' ? requestIdOf(parseJsonOrUndefined(body)) : requestIdOf(body)
}
