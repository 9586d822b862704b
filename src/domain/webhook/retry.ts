export const firstRetryMs = 500
export const longestRetryMs = 60_000

/** Nobody puts an event off for longer (ms): what is due later than this was put off before the clock was set back. */
export const longestWait = 2 * longestRetryMs

/** Milliseconds until the next try; undefined where there is none, since it was taken. */
export type NextTry = number | 'dropped' | undefined

/** After so many attempts that were refused. */
export function retryAfter(attempts: number, mostAttempts = Number.POSITIVE_INFINITY): number | 'dropped' {
  if (attempts >= mostAttempts) return 'dropped'
  return Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 10))
}

/** What came of handing an event on. */
export interface Delivered {
  taken: boolean
  /** In words: "204", "503", "the connection was refused". */
  answer: string
}
