import type { WebhookEvent } from '../../contract/event.ts'

/** Body of an event in the order of the document; `error_reason` stands last, where there is one. */
export function eventText({ event, request_id, status, error_reason, ...more }: WebhookEvent): string {
  return JSON.stringify({
    event,
    request_id,
    status,
    ...(error_reason !== undefined && { error_reason }),
    ...more,
  })
}

/** The one event of v1 ("Events"). */
export const eventName = 'request.updated'
