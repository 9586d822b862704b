/** Replaces text that varies from run to run by a name. */
export type Filter = readonly [pattern: RegExp, name: string]

/** Milliseconds that were measured. */
export const MS: Filter = [/\b\d+(?:\.\d+)? ms\b/g, '# ms']
/** Sizes of files. */
export const SIZE: Filter = [/\b\d+(?:\.\d+)? (?:B|kB|MB)\b/g, '# kB']
/** SHA-256, of a file or as a signature. */
export const SHA256: Filter = [/\b[0-9a-f]{64}\b/g, 'SHA256']
/** Size, digest and file name of a downloaded report. */
export const REPORT_FILE: readonly Filter[] = [SIZE, SHA256, [/(?<=[_/])[0-9a-f]{8}(?=\.pdf)/g, 'HASH']]
/** A date and time, for sessions that use the real clock. The replacement is as wide as a time in a table. */
export const TIME: Filter = [
  /\b20\d\d-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z?| \d\d:\d\d \+00:00)/g,
  'YYYY-MM-DD HH:MM +00:00',
]
/** The time of day at the start of a line about an event. */
export const TIME_OF_DAY: Filter = [/^\d\d:\d\d:\d\d/gm, 'HH:MM:SS']
