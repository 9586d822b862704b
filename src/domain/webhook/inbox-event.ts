/** A delivery that was verified, as it came. */
export interface ReceivedEvent {
  /** Base URL of the service that it is of; undefined where only its secret is known. */
  baseUrl?: string | undefined
  /** Wall time in ms. */
  receivedAt: number
  /** The exact bytes. */
  body: Uint8Array
  /** 64 lowercase hex characters. */
  signature: string
  /** As far as the body says; undefined where it does not. */
  requestId: string | undefined
  status: string | undefined
  event: string | undefined
  /** What is odd about it although its signature is good: an unknown status, no JSON. */
  oddity: string | undefined
}

export interface InboxEvent extends ReceivedEvent {
  /** Counts up in the order of receipt; never used twice. */
  id: number
  /** How often it came again. */
  repeats: number
  /** `none`: nobody asked for it to be forwarded. `dropped`: nobody tries any more. */
  forward: 'none' | 'waiting' | 'done' | 'dropped'
  /** Tries so far, and what the last one came to. */
  attempts: number
  lastAnswer: string | undefined
  forwardedAt: number | undefined
}

export interface EventFilter {
  /** Of this service, or of one that is not known. */
  baseUrl?: string | undefined
  requestId?: string | undefined
  status?: string | undefined
  /** Received at this wall time or later, and before `until`. */
  since?: number | undefined
  until?: number | undefined
  /** Ids after this one. */
  after?: number | undefined
  limit?: number | undefined
}

/** What is kept of an event of a person who was removed: which request it was of, and its status. */
export function withoutBody<Event extends ReceivedEvent>(received: Event): Event {
  const { requestId: request_id, status, event } = received
  const body = new TextEncoder().encode(JSON.stringify({ event, request_id, status }))
  return { ...received, body, signature: '' }
}

/**
 * What makes two deliveries one event: "the pair (request_id, status)" of one service; an odd one is only ever the same
 * as itself.
 */
export function identityOf(
  { baseUrl, requestId, status, oddity, body }: ReceivedEvent,
  sha256: (bytes: Uint8Array) => string,
): string {
  const pair = oddity === undefined ? `${requestId?.toLowerCase() ?? ''} ${status ?? ''}` : sha256(body)
  return baseUrl === undefined ? pair : `${baseUrl} ${pair}`
}
