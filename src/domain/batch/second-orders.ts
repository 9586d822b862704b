/** An order of ours that a request which nobody here ordered looks like. */
export interface OrderedTwice {
  requestId: string
  batchId: string
  row: number
}

export interface OrphanPerson {
  fingerprint: string
  packageId: number
}

/** A request that an event told of and that no order here has, as it was read. */
export interface Orphan {
  createdAt: string
  /** Undefined: it is for nobody who was ordered here so far. */
  order: OrderedTwice | undefined
  /** Whom it is for, as a keyed fingerprint, and what was ordered: compared again with what was ordered since. */
  person?: OrphanPerson | undefined
  acknowledged: { at: number; by: string } | undefined
}

/** What is known of requests that nobody here ordered. Names nobody. */
export interface OrphanBook {
  /** When requests were read for it, within the last hour; wall time. */
  reads: readonly number[]
  /** By the request's id, in lowercase, and its service; one that could not be read, by its id and who tried. */
  orphans: Readonly<Record<string, Orphan>>
}

export const emptyBook: OrphanBook = { reads: [], orphans: {} }

/** A possible second order, for people to look at. */
export interface SecondOrder {
  requestId: string
  createdAt: string
  order: OrderedTwice
}

/** A read of a request at a service: by whom, and when. */
interface Reading {
  service: string
  reader: string
  now: number
}

/** "At most ten calls an hour" (ordering protocol, "Afterwards"). */
const mostReads = 10
const hourMs = 60 * 60_000

/** The ids that may be read now, the first ones first: those that were not yet, as far as the hour allows. */
export function readable(
  { reads, orphans }: OrphanBook,
  ids: Iterable<string>,
  { service, reader, now }: Reading,
): string[] {
  const left = mostReads - reads.filter((at) => isRecent(at, now)).length
  const isKnown = (id: string) =>
    Object.hasOwn(orphans, keyOf(id, service)) || Object.hasOwn(orphans, unreadable(id, reader))
  const fresh = [...new Set([...ids].map((id) => id.toLowerCase()))].filter((id) => !isKnown(id))
  return fresh.slice(0, Math.max(0, left))
}

/** The same with a read; `found` undefined: there is no such request for this user, though for another there may be. */
export function withRead(
  { reads, orphans }: OrphanBook,
  id: string,
  { service, reader, now }: Reading,
  found: Pick<Orphan, 'createdAt' | 'order' | 'person'> | undefined,
): OrphanBook {
  const orphan = { createdAt: '', order: undefined, ...found, acknowledged: undefined }
  return {
    reads: [...reads.filter((at) => isRecent(at, now)), now],
    orphans: { ...orphans, [found === undefined ? unreadable(id, reader) : keyOf(id, service)]: orphan },
  }
}

/** Requests of a service that were for nobody who was ordered here when they were compared last. */
export function withoutOrder(
  { orphans }: OrphanBook,
  service: string,
): { requestId: string; person: OrphanPerson }[] {
  return Object.entries(orphans).flatMap(([key, { order, person }]) => {
    const [requestId = ''] = key.split(' ')
    const isOpen = order === undefined && person !== undefined && key === keyOf(requestId, service)
    return isOpen ? [{ requestId, person }] : []
  })
}

/** The same with an order of ours that one of them looks like; undefined where it has one already. */
export function withOrder(
  book: OrphanBook,
  service: string,
  id: string,
  order: OrderedTwice,
): OrphanBook | undefined {
  const key = keyOf(id, service)
  const orphan = Object.hasOwn(book.orphans, key) ? book.orphans[key] : undefined
  if (orphan === undefined || orphan.order !== undefined) return undefined
  return { ...book, orphans: { ...book.orphans, [key]: { ...orphan, order } } }
}

/** The same with a person's word that one was looked into; undefined where it is none that is told of. */
export function withAcknowledged(
  book: OrphanBook,
  service: string,
  id: string,
  word: { at: number; by: string },
): OrphanBook | undefined {
  const key = keyOf(id, service)
  const orphan = Object.hasOwn(book.orphans, key) ? book.orphans[key] : undefined
  if (orphan?.order === undefined) return undefined
  return { ...book, orphans: { ...book.orphans, [key]: { ...orphan, acknowledged: word } } }
}

/** Those of a service that are not acknowledged yet. */
export function possibleSecondOrders({ orphans }: OrphanBook, service: string): SecondOrder[] {
  return Object.entries(orphans).flatMap(([key, { createdAt, order, acknowledged }]) => {
    const [requestId = ''] = key.split(' ')
    const isTold = order === undefined || acknowledged !== undefined || key !== keyOf(requestId, service)
    return isTold ? [] : [{ requestId, createdAt, order }]
  })
}

/** Two services may give out the same id. */
const keyOf = (id: string, service: string): string => `${id.toLowerCase()} ${service}`

const unreadable = (id: string, reader: string): string => `${id.toLowerCase()} ${reader.toLowerCase()}`

/** A clock that was set back makes no read of the future: it counts as one of now. */
function isRecent(at: number, now: number): boolean {
  return now - at < hourMs
}
