import { webhookEvent } from '../../contract/event.ts'
import { uuid } from '../../contract/identifiers.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import type { ReceivedEvent } from './inbox-event.ts'
import { parseJsonBytes } from '../../contract/parse-json.ts'

/** A delivery that is kept, or came again. */
export interface KeptEvent extends ReceivedEvent {
  id: number
  /** The same pair (request_id, status) was kept before. */
  repeated: boolean
}

const statuses: ReadonlySet<string> = new Set(requestStatuses)

/** What the body of a verified delivery of a service says, and what is odd about it. */
export function read(
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
