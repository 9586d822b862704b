/** An order of ours that a request which nobody here ordered looks like. */
export interface OrderedTwice {
  requestId: string
  batchId: string
  row: number
}

/** A possible second order, for people to look at. */
export interface SecondOrder {
  requestId: string
  createdAt: string
  order: OrderedTwice
}

/** Requests that no row ordered are read at most so often in `readsMs`. */
const maxReads = 10
export const readsMs = 60 * 60_000

/**
 * The ids that may be read now, the first ones first. `known`: in lower case, those that were read, or that this user
 * cannot read; `reads`: how many were read in the last hour.
 */
export function idsToRead(
  ids: Iterable<string>,
  { known, reads }: { known: ReadonlySet<string>; reads: number },
): string[] {
  const unread = [...new Set([...ids].map((id) => id.toLowerCase()))].filter((id) => !known.has(id))
  return unread.slice(0, Math.max(0, maxReads - reads))
}
