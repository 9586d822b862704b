import type { WebhookEvent } from '../../contract/request.ts'
import { type RefcheckError, UnavailableError } from '../../errors/kinds.ts'
import { cutText } from '../wording/text.ts'

/** A delivery that is sent to a receiver. It may break the rules of the API document on purpose. */
export interface Delivery {
  body: Uint8Array
  /** Values of the signature header. An empty array omits the header. */
  signatures: string[]
  /** Replaces the name X-Service-Signature. */
  signatureName?: string | undefined
  /** Replaces the content type application/json. */
  contentType?: string | undefined
  chunked?: boolean | undefined
  /** Replaces POST; a GET has no body. */
  method?: 'GET' | undefined
}

/** The reaction of the receiver to a delivery. */
export interface Reply {
  /** The HTTP status; null if there was no answer. */
  status: number | null
  milliseconds: number
  /** The reason why there was no answer. */
  failure: string | null
  /** Whether a connection was established. */
  reached: boolean
  /** The start of the body of the answer, on one line. */
  excerpt: string
}

/** Whether the receiver accepted a delivery: "The receiver must return a 2xx" ("Events", rule 2). */
export function isAccepted({ status }: Pick<Reply, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

const maxDetailLength = 120

/** Returns the start of a body on one line, with *** in place of the secret. */
export function excerptOf(body: Buffer, secret: string): string {
  const start = body.toString('utf8', 0, 2048)
  const redacted = secret === '' ? start : start.replaceAll(secret, '***')
  const line = redacted.replace(/\s+/g, ' ').trim()
  return cutText(line, maxDetailLength)
}

/** Returns the error of a command that could not connect to the receiver. */
export function createUnreachableError(url: string, { failure }: Reply): UnavailableError {
  const isUntrusted = failure?.includes('certificate') === true
  return new UnavailableError(`${new URL(url).host}: ${failure}`, {
    hint: isUntrusted
      ? 'If the certificate is your own, set its authority with: NODE_EXTRA_CA_CERTS=FILE'
      : 'Check the URL, and that the receiver is running.',
  })
}

/** Returns a URL for output, without its query, which may contain a token. */
export function withoutQuery(url: string): string {
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
 * The milliseconds until the next attempt to forward an event; `dropped` after the last attempt; undefined if the
 * receiver accepted the event.
 */
export type NextTry = number | 'dropped' | undefined

/**
 * Returns the milliseconds until the next attempt after `attempts` failed ones, or `dropped` if they reach
 * `maxAttempts`.
 */
export function retryDelay(attempts: number, maxAttempts = Number.POSITIVE_INFINITY): number | 'dropped' {
  if (attempts >= maxAttempts) return 'dropped'
  return Math.min(maxRetryDelayMs, firstRetryMs * 2 ** Math.min(attempts - 1, 10))
}

/** The result of forwarding an event once. */
export interface ForwardResult {
  isAccepted: boolean
  /** The HTTP status or the failure as a text: "204", "503", "the connection was refused". */
  answer: string
}

/** Returns the JSON body of an event with its keys in the order of the API document. */
export function eventText({ event, request_id, status, error_reason, ...more }: WebhookEvent): string {
  return JSON.stringify({
    event,
    request_id,
    status,
    ...(error_reason !== undefined && { error_reason }),
    ...more,
  })
}

/** The only event type of v1 ("Events"). */
export const eventName = 'request.updated'

export interface SentDelivery {
  request_id: string
  status: string
  signature: 'good' | 'bad'
  /** The HTTP status of the answer; null if there was none. */
  answered: number | null
  milliseconds: number
  accepted: boolean
  /** The start of the body of the answer, or the reason why there was none. */
  said: string
}

export interface SendingResult {
  /** The URL of the receiver, without its query. */
  to: string
  deliveries: SentDelivery[]
  failure: RefcheckError | undefined
}
