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
