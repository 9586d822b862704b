/** An order of ours that a request which nobody here ordered looks like. */
export interface OrderedTwice {
  requestId: string
  batchId: string
  row: number
}

/** A request that an event told of and that no order here has, as it was read. */
export interface Orphan {
  createdAt: string
  /** Undefined: it is for nobody who was ordered here. */
  order: OrderedTwice | undefined
  acknowledged: { at: number; by: string } | undefined
}

/** What is known of requests that nobody here ordered. Names nobody. */
export interface OrphanBook {
  /** When requests were read for it, within the last hour; wall time. */
  reads: readonly number[]
  /** By the request's id, in lowercase; one that could not be read, by its id and who tried. */
  orphans: Readonly<Record<string, Orphan>>
}

export const emptyBook: OrphanBook = { reads: [], orphans: {} }

/** A possible second order, for people to look at. */
export interface SecondOrder {
  requestId: string
  createdAt: string
  order: OrderedTwice
}

/** "At most ten calls an hour" (ordering protocol, "Afterwards"). */
const mostReads = 10
const hourMs = 60 * 60_000

/** The ids that may be read now, the first ones first: those that were not yet, as far as the hour allows. */
export function readable(
  { reads, orphans }: OrphanBook,
  ids: Iterable<string>,
  { reader, now }: { reader: string; now: number },
): string[] {
  const left = mostReads - reads.filter((at) => isRecent(at, now)).length
  const isKnown = (id: string) => Object.hasOwn(orphans, id) || Object.hasOwn(orphans, unreadable(id, reader))
  const fresh = [...new Set([...ids].map((id) => id.toLowerCase()))].filter((id) => !isKnown(id))
  return fresh.slice(0, Math.max(0, left))
}

/** The same with a read; `found` undefined: there is no such request for this user, though for another there may be. */
export function withRead(
  { reads, orphans }: OrphanBook,
  id: string,
  { reader, now }: { reader: string; now: number },
  found: Pick<Orphan, 'createdAt' | 'order'> | undefined,
): OrphanBook {
  const orphan = { createdAt: '', order: undefined, ...found, acknowledged: undefined }
  return {
    reads: [...reads.filter((at) => isRecent(at, now)), now],
    orphans: { ...orphans, [found === undefined ? unreadable(id, reader) : id.toLowerCase()]: orphan },
  }
}

/** The same with a person's word that one was looked into; undefined where it is none that is told of. */
export function withAcknowledged(
  book: OrphanBook,
  id: string,
  word: { at: number; by: string },
): OrphanBook | undefined {
  const key = id.toLowerCase()
  const orphan = Object.hasOwn(book.orphans, key) ? book.orphans[key] : undefined
  if (orphan?.order === undefined) return undefined
  return { ...book, orphans: { ...book.orphans, [key]: { ...orphan, acknowledged: word } } }
}

/** Told of until somebody has acknowledged it. */
export function possibleSecondOrders({ orphans }: OrphanBook): SecondOrder[] {
  return Object.entries(orphans).flatMap(([requestId, { createdAt, order, acknowledged }]) =>
    order === undefined || acknowledged !== undefined ? [] : [{ requestId, createdAt, order }],
  )
}

const unreadable = (id: string, reader: string): string => `${id.toLowerCase()} ${reader.toLowerCase()}`

/** A clock that was set back makes no read of the future: it counts as one of now. */
function isRecent(at: number, now: number): boolean {
  return now - at < hourMs
}
