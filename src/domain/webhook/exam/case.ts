import type { Sitting } from './sitting.ts'

/** `must`: the document promises it. `advice`: it does not, and yet a receiver does well to bear it. */
export type Level = 'must' | 'advice'

export interface ExamCase {
  id: string
  /** What is tried, for people. */
  title: string
  /** The sentence of the document it follows from. */
  rule: string
  run(sitting: Sitting): Promise<void>
}

/** The sentences of the document's "Events", "States and transitions" and "Versioning". */
export const rules = {
  acknowledge:
    'The receiver must return a 2xx within 10 seconds. A non-2xx response, network failure or timeout is a delivery failure.',
  exactBytes:
    'The signature is computed over the exact raw body bytes; receivers verify before parsing and compare in constant time.',
  signature: 'X-Service-Signature: Lowercase hex HMAC-SHA256 of the raw body, keyed with the webhook secret.',
  retried: 'Failed deliveries may be retried. Retry count and schedule: not shown.',
  atLeastOnce:
    'Delivery is at least once; duplicates are possible. The pair (request_id, status) identifies a status update already processed.',
  statuses: 'status: RECEIVED, IN_PROGRESS, PARTIAL, COMPLETED, ERROR or CANCELLED.',
  reason: 'error_reason: Present only when status is ERROR; diagnostic text. Its format: not shown.',
  event: 'event: Always `request.updated` in v1.',
  contentType: 'Content-Type: application/json.',
  post: 'It is sent as an HTTPS POST to the organisation’s configured webhook endpoint.',
  versions:
    'Versions follow Semantic Versioning; this document describes version 1.0.0, the initial release.',
} as const
