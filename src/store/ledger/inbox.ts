import type { Hold } from './ledger.ts'

/** A delivery that was verified, as it came. */
export interface ReceivedEvent {
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
  /** `none`: nobody asked for it to be forwarded. */
  forward: 'none' | 'waiting' | 'done'
  /** Tries so far, and what the last one came to. */
  attempts: number
  lastAnswer: string | undefined
  forwardedAt: number | undefined
}

export interface EventFilter {
  requestId?: string | undefined
  status?: string | undefined
  /** Received at this wall time or later, and before `until`. */
  since?: number | undefined
  until?: number | undefined
  /** Ids after this one. */
  after?: number | undefined
  limit?: number | undefined
}

/**
 * Events that were received. What `add` has answered is on disk. "The pair (request_id, status)
 * identifies a status update already processed": one that comes again is counted, not kept anew.
 */
export interface Inbox {
  /**
   * All of them with one fsync. For each its id, and whether it was there before. `forward`: they are to
   * be forwarded. An order that one tells of has its status from then on, unless it was further on already.
   */
  add(events: readonly ReceivedEvent[], forward: boolean): Promise<{ id: number; repeated: boolean }[]>
  /** In the order of receipt. */
  list(filter?: EventFilter): AsyncIterable<InboxEvent>
  get(id: number): Promise<InboxEvent | undefined>
  /** Ids of requests that no submission holds, the newest first. */
  unclaimed(): Promise<string[]>
  /** The newest status that events told of a request, and when it came. A terminal one is never followed by another. */
  latestStatus(requestId: string): Promise<{ status: string; receivedAt: number } | undefined>
  /**
   * Events that wait to be forwarded and whose time has come (or is so far off that the clock must have been
   * set back: more than two minutes), at most one a request: the earliest, so that
   * the order within a request holds whatever fails.
   */
  due(now: number, limit: number): Promise<InboxEvent[]>
  /** When the next one is due; undefined where none waits. */
  nextDue(): Promise<number | undefined>
  forwarded(id: number, at: number, answer: string): Promise<void>
  /** It was not taken; it is due again at `retryAt`. */
  refused(id: number, retryAt: number, answer: string): Promise<void>
  /** Makes this process the one that forwards for all receivers on the store; undefined where another one is. */
  holdForwarding(): Promise<Hold | undefined>
  /** Queues an event again. */
  requeue(id: number): Promise<boolean>
}
