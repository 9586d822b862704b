// A file of its own, because the ledger imports events, and hardly a command may load zod.
import { webhookEvent } from '../../contract/request.ts'
import { uuid } from '../../contract/request-body.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import type { ReceivedEvent } from './events.ts'

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
