import type { WebhookEvent } from '../../contract/request.ts'
import { type RefcheckError, UnavailableError } from '../../errors/kinds.ts'
import { cutText } from '../wording/text.ts'

/** A delivery as it goes to a receiver, right or wrong. */
export interface Delivery {
  body: Uint8Array
  /** Lines of the signature header; none leaves it out. */
  signatures: string[]
  /** In place of X-Service-Signature. */
  signatureName?: string | undefined
  /** In place of application/json. */
  contentType?: string | undefined
  chunked?: boolean | undefined
  /** In place of POST; without a body. */
  method?: 'GET' | undefined
}

/** What the receiver did with it. */
export interface Reply {
  /** Null where no answer came. */
  status: number | null
  milliseconds: number
  /** Why no answer came. */
  failure: string | null
  /** Whether it was connected. */
  reached: boolean
  /** The beginning of what it answered, on one line. */
  excerpt: string
}

/** "The receiver must return a 2xx" ("Events", rule 2). */
export function isAccepted({ status }: Pick<Reply, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

const maxDetailLength = 120

export function excerptOf(body: Buffer, secret: string): string {
  const excerpt = body.toString('utf8', 0, 2048)
  const text = secret === '' ? excerpt : excerpt.replaceAll(secret, '***')
  const line = text.replace(/\s+/g, ' ').trim()
  return cutText(line, maxDetailLength)
}

/** The receiver did not run: the failure of a command that could not do its work at all. */
export function unreachable(url: string, { failure }: Reply): UnavailableError {
  const isUntrusted = failure?.includes('certificate') === true
  return new UnavailableError(`${new URL(url).host}: ${failure}`, {
    hint: isUntrusted
      ? 'If the certificate is your own, set its authority with: NODE_EXTRA_CA_CERTS=FILE'
      : 'Check the URL, and that the receiver is running.',
  })
}

/** A URL as it is printed: without its query, which may contain a token. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

export const firstRetryMs = 500
export const maxRetryDelayMs = 60_000

/**
 * The maximum time until an event is forwarded again, in ms. A due time further ahead was computed before the
 * clock was set back, so the event is due now.
 */
export const maxForwardDelayMs = 2 * maxRetryDelayMs

/**
 * Milliseconds until the next attempt; `dropped` after the last one; undefined if the receiver accepted the
 * event.
 */
export type NextTry = number | 'dropped' | undefined

/**
 * Milliseconds until the next attempt after `attempts` refused ones; `dropped` once they reach `maxAttempts`.
 */
export function retryAfter(attempts: number, maxAttempts = Number.POSITIVE_INFINITY): number | 'dropped' {
  if (attempts >= maxAttempts) return 'dropped'
  return Math.min(maxRetryDelayMs, firstRetryMs * 2 ** Math.min(attempts - 1, 10))
}

/** The result of forwarding an event once. */
export interface ForwardResult {
  taken: boolean
  /** In words: "204", "503", "the connection was refused". */
  answer: string
}

/** Body of an event in the order of the document; `error_reason` is last, where there is one. */
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

export interface SentDelivery {
  request_id: string
  status: string
  signature: 'good' | 'bad'
  /** HTTP status of the answer; null where none came. */
  answered: number | null
  milliseconds: number
  accepted: boolean
  /** The beginning of what it answered, or why no answer came. */
  said: string
}

export interface DeliveryPlan {
  to: string
  deliveries: SentDelivery[]
  failure: RefcheckError | undefined
}
