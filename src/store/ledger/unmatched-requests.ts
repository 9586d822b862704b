import type { RequestResource } from '../../contract/request.ts'
import {
  idsToRead,
  readsMs,
  type SecondOrder,
  unmatchedOrder,
  type UnmatchedRequest,
} from '../../domain/submission/unmatched.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import type { Candidate } from '../../domain/submission/conflicts.ts'
import { all, get, insertRows, run, type Work } from './engine.ts'
import { type PersonPrints, personPrints, type StoredPrints } from './fingerprints.ts'
import { StorePart } from './store-part.ts'

/** A read of requests at a service: by whom, and when. */
export interface Reading {
  service: string
  reader: string
  now: number
}

/** The base URLs of the rows that have a request, separated by blanks: it may be a row's since it was read. */
const holders = `(
  SELECT string_agg(o.base_url, ' ') FROM submissions t JOIN batches o ON o.id = t.batch_id WHERE t.request_id = u.request_id
)`

/** Whether a row shares a fingerprint with any: a condition on the parameters that are named as the columns are. */
export const sharesUnmatched = (of: (column: string) => string): string =>
  ['person_print', 'email_print', 'phone_print']
    .map((print) => `EXISTS (SELECT 1 FROM unmatched_requests u WHERE u.${print} = ${of(print)})`)
    .join(' OR ')

/** Those that share a fingerprint with any of some rows, in the order in which they were made. */
export const selectUnmatched = `SELECT u.*, ${holders} AS holders FROM unmatched_requests u
WHERE {isIn u.person_print, persons} OR {isIn u.email_print, emails} OR {isIn u.phone_print, phones}
ORDER BY u.created_at, u.request_id`

const selectKnown = `
SELECT request_id FROM unmatched_requests
WHERE service = :service AND reader IN ('', :reader) AND {isIn request_id, ids}`

/** With every order of the same person and package; of several the newest is last. */
const selectSecondOrders = `
SELECT u.request_id, u.created_at, s.request_id AS ordered_id, s.batch_id, s.row_number, b.base_url, ${holders} AS holders
FROM unmatched_requests u
JOIN submissions s ON s.person_print = u.person_print AND s.package_id = u.package_id AND s.state = 'accepted'
JOIN batches b ON b.id = s.batch_id
WHERE u.service = :service AND u.acknowledged_at IS NULL
ORDER BY u.read_at, u.request_id, b.added_at, b.{added}, s.row_number`

const countReads = 'SELECT count(*) AS count FROM unmatched_requests WHERE read_at > :since'

const acknowledge = `
UPDATE unmatched_requests AS u SET acknowledged_at = :at, acknowledged_by = :by
WHERE service = :service AND request_id = :requestId AND reader = '' AND EXISTS (
  SELECT 1 FROM submissions s
  WHERE s.person_print = u.person_print AND s.package_id = u.package_id AND s.state = 'accepted')`

type SelectedSecondOrder = Record<'requestId' | 'orderedId' | 'batchId' | 'baseUrl', string> &
  Record<'createdAt' | 'row', number> & { holders: string | undefined }

/** A request that shares a fingerprint with a row. */
interface SelectedUnmatched extends UnmatchedRequest, StoredPrints {
  holders: string | undefined
}

/** An order with the fingerprints of its person. */
export interface StoredOrder {
  order: Submission
  prints: StoredPrints
}

/** An order as a row with these fingerprints is compared with it. */
export function candidateOf(
  { order, prints }: StoredOrder,
  own: PersonPrints,
  isUncompared = false,
): Candidate {
  return {
    order,
    samePerson: prints.personPrint === own.personPrint,
    sameEmail: prints.emailPrint === own.emailPrint,
    isUncompared,
  }
}

/** Fingerprints of people as parameters. */
export function printLists(prints: readonly PersonPrints[]) {
  return {
    persons: prints.map(({ personPrint }) => personPrint),
    emails: prints.map(({ emailPrint }) => emailPrint),
    phones: prints.map(({ phonePrint }) => phonePrint),
  }
}

/** Requests that share a fingerprint with any of these people and that no row of their service has by now, each as an order. */
export function* findUnmatched(prints: readonly PersonPrints[]): Work<StoredOrder[]> {
  const found = yield* all<SelectedUnmatched>(selectUnmatched, printLists(prints))
  const left = found.filter((each) => !isHeldAt(each.holders, each.service))
  return left.map((each) => ({ order: unmatchedOrder(each), prints: each }))
}

function isHeldAt(baseUrls: string | undefined, service: string): boolean {
  return baseUrls?.split(' ').some((baseUrl) => serviceOf(baseUrl) === service) === true
}

/** Requests that events name and that no row of the store ordered. A new order is compared with them (Matching). */
export class UnmatchedRequests extends StorePart {
  /** Of these, in lower case, the ids that the user may read now. */
  toRead(ids: Iterable<string>, { service, reader, now }: Reading): Promise<string[]> {
    const asked = [...new Set([...ids].map((id) => id.toLowerCase()))]
    return this.engine.snapshot(function* () {
      const values = { service, reader: reader.toLowerCase(), ids: asked }
      const known = yield* all<{ requestId: string }>(selectKnown, values)
      // What a clock that was ahead has recorded counts too.
      const found = yield* get<{ count: number }>(countReads, { since: now - readsMs })
      return idsToRead(asked, {
        known: new Set(known.map(({ requestId }) => requestId)),
        reads: found?.count ?? 0,
      })
    })
  }

  /** What a read came to; undefined: this user cannot read it, though another one may. */
  async record(
    id: string,
    { service, reader, now }: Reading,
    request: RequestResource | undefined,
  ): Promise<void> {
    const prints = request && personPrints(this.key.fingerprint, request.recipient)
    const createdAt = request === undefined ? Number.NaN : Date.parse(request.created_at)
    const values = {
      service,
      requestId: id.toLowerCase(),
      reader: request === undefined ? reader.toLowerCase() : '',
      readAt: now,
      createdAt: Number.isNaN(createdAt) ? now : createdAt,
      packageId: request?.package_id,
      status: request?.status,
      ...prints,
    }
    await this.engine.run(insertRows('unmatched_requests', [values], 'ON CONFLICT DO NOTHING'))
  }

  /** Requests for a person and package that were ordered here too, unless they were acknowledged. */
  async secondOrders(service: string): Promise<SecondOrder[]> {
    const found = await this.engine.run(all<SelectedSecondOrder>(selectSecondOrders, { service }))
    const newest = new Map<string, SecondOrder>()
    for (const each of found) {
      const { requestId, orderedId, batchId, row } = each
      if (serviceOf(each.baseUrl) !== service || isHeldAt(each.holders, service)) continue
      const createdAt = new Date(each.createdAt).toISOString()
      newest.set(requestId, { requestId, createdAt, order: { requestId: orderedId, batchId, row } })
    }
    return [...newest.values()]
  }

  /** A person looked into a request that was reported as a possible second order. Whether it is known. */
  async acknowledge(service: string, id: string, by: { at: number; by: string }): Promise<boolean> {
    const values = { service, requestId: id.toLowerCase(), ...by }
    return (await this.engine.run(run(acknowledge, values))) === 1
  }
}
