/**
 * Which server a database is on, and how far its log is: the system identifier and the timeline, which a promotion and a
 * restore to a point in time change, and the log sequence number, which never goes back on one timeline.
 */
export interface ServerPosition {
  system: string
  timeline: string
  /** `16/B374D848` */
  lsn: string
}

/** One who ordered lately, by the list that it keeps its attempts in. */
export interface Reporter {
  list: string | undefined
  machine: string
  /** By the database's clock, in ms. */
  seenAt: number
  /** The server for which it has compared its list with the store; undefined where it never did. */
  reported: string | undefined
}

/** Whoever was not heard of for so long before the last one was, is not waited for. */
const latelyMs = 24 * 3_600_000

export const epochOf = ({ system, timeline }: Pick<ServerPosition, 'system' | 'timeline'>): string =>
  `${system} ${timeline}`

/** Whether a server is behind what was seen of it: its disk was put back to an older one. */
export function isBehind(now: ServerPosition, seen: ServerPosition | undefined): boolean {
  if (seen === undefined || epochOf(seen) !== epochOf(now)) return false
  return positionOf(now.lsn) < positionOf(seen.lsn)
}

/** Machines that have to say what they sent before the store is used on another server, each once. */
export function notReported(epoch: string, reporters: readonly Reporter[]): string[] {
  const last = Math.max(0, ...reporters.map(({ seenAt }) => seenAt))
  const reported = new Set(reporters.filter((each) => each.reported === epoch).map(({ list }) => list))
  const waited = reporters.filter(
    ({ list, seenAt, reported: said }) =>
      said !== epoch && seenAt >= last - latelyMs && (list === undefined || !reported.has(list)),
  )
  return [...new Set(waited.map(({ machine }) => machine))]
}

/** Two hexadecimal halves of 32 bits. */
function positionOf(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
