/** Header names of the service ("Authentication", "Events"). */
export const apiKeyHeader = 'X-Service-API-Key'
export const userEmailHeader = 'X-Service-User-Email'
export const signatureHeader = 'X-Service-Signature'

/** "API keys are 32-character opaque values" ("Authentication", rule 6). */
export const apiKeyLength = 32

/** The service sends "Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response". */
export const cacheHeaders = { 'Cache-Control': 'no-store', Pragma: 'no-cache', Expires: '0' } as const

export interface RetryAfter {
  /** Whole seconds to wait, 1 to 3,660. */
  seconds: number
  /** False if the header was missing or invalid, and 60 seconds were assumed. */
  isStated: boolean
}

/** The window of an hour and a minute of tolerance. The API document allows no longer wait. */
const maxRetrySeconds = 3_660
const assumedSeconds = 60

/**
 * Reads the Retry-After header of a 429: "the number of seconds left in the window that was breached" ("Errors"). A
 * number from 0 to 3,660 is valid, and 0 becomes 1. For anything else 60 seconds are assumed.
 */
export function parseRetryAfter(header: string | undefined): RetryAfter {
  const text = header?.trim() ?? ''
  if (!/^\d{1,4}$/.test(text)) return { seconds: assumedSeconds, isStated: false }
  const seconds = Number(text)
  if (seconds > maxRetrySeconds) return { seconds: assumedSeconds, isStated: false }
  return { seconds: Math.max(1, seconds), isStated: true }
}
