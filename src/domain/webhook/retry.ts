export const firstRetryMs = 500
export const longestRetryMs = 60_000

/** Nobody puts an event off for longer (ms): what is due later than this was put off before the clock was set back. */
export const longestWait = 2 * longestRetryMs

/** What came of handing an event on. */
export interface Delivered {
  taken: boolean
  /** In words: "204", "503", "the connection was refused". */
  answer: string
}
