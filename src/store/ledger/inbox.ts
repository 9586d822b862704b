import type { EventFilter, InboxEvent, ReceivedEvent } from '../../domain/webhook/inbox-event.ts'
import type { Hold } from './ledger.ts'

/** What came; nobody knows where it is not said. */
export type Arrival = 'event' | 'batch' | ''

/**
 * Events that were received. What `add` has answered is on disk. "The pair (request_id, status)
 * identifies a status update already processed": one that comes again is counted, not kept again.
 */
export interface Inbox {
  /**
   * All of them with one fsync. For each its id, and whether it was there before. `forward`: they are to
   * be forwarded. An order that one tells of has its status from then on, unless it was further on already.
   */
  add(events: readonly ReceivedEvent[], forward: boolean): Promise<{ id: number; repeated: boolean }[]>
  /** Calls back when another process may have added events, or queued a batch, where the store can tell: a hint beside looking. */
  onArrival?(wake: (what: Arrival) => void): Promise<void>
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
  /** It is not tried again, so that later ones of its request go on; false where it does not wait. `answer`: of a last try. */
  drop(id: number, answer?: string): Promise<boolean>
  /** Makes this process the one that forwards for all receivers on the store; undefined where another one is. */
  holdForwarding(): Promise<Hold | undefined>
  /** Queues an event again. */
  requeue(id: number): Promise<boolean>
}
