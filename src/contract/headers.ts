/** Header names of the service ("Authentication", "Events"). */
export const apiKeyHeader = 'X-Service-API-Key'
export const userEmailHeader = 'X-Service-User-Email'
export const signatureHeader = 'X-Service-Signature'

/** "API keys are 32-character opaque values" ("Authentication", rule 6). */
export const apiKeyLength = 32

/** "Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response". */
export const cacheHeaders = { 'Cache-Control': 'no-store', Pragma: 'no-cache', Expires: '0' } as const

export interface RetryAfter {
  /** Whole seconds to wait, 1 to 3,660. */
  seconds: number
  /** False where the header was missing or made no sense and a minute was assumed. */
  understood: boolean
}

/** An hour's window and a minute of slack: the longest wait the document can mean. */
const longest = 3_660
const assumed = 60

/**
 * The Retry-After of a 429: "the number of seconds left in the window that was breached" ("Errors").
 * 0 to 3,660 is taken as it is but never as less than a second; anything else counts as a minute.
 */
export function parseRetryAfter(header: string | undefined): RetryAfter {
  const text = header?.trim() ?? ''
  if (!/^\d{1,4}$/.test(text)) return { seconds: assumed, understood: false }
  const seconds = Number(text)
  if (seconds > longest) return { seconds: assumed, understood: false }
  return { seconds: Math.max(1, seconds), understood: true }
}
