import type { RequestResource } from '../../contract/request.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import {
  type Submission,
  idsToRead,
  isFinalRead,
  type RequestRead,
  readWindowMs,
  type SecondOrder,
  unmatchedOrder,
  type UnmatchedRequest,
} from '../../domain/submission/submission.ts'
import {
  type Candidate,
  findConflicts,
  nothingAllowed,
  relationsOf,
} from '../../domain/submission/conflicts.ts'
import { all, get, insertRows, updateRows, type Work } from './engine.ts'
import {
  type PersonFingerprints,
  fingerprintLists,
  fingerprintPerson,
  type StoredFingerprints,
} from './fingerprints.ts'
import { StorePart } from './store-part.ts'
import { readStoredRelations, type StoredRelations } from './submission-rows.ts'

/**
 * The service whose requests are read, and the time. `reader`: the API key, as `Quota.account` returns it, and the user. A
 * key belongs to one organisation, and what one organisation or user cannot read, another may.
 */
export interface RequestReading {
  service: string
  reader: string
  now: number
}

/**
 * The base URLs of the rows `t` that have the request, separated by blanks: after the request was read, reconciling may
 * find that a row ordered it.
 */
const holderUrls = (condition = 'TRUE'): string => `(
  SELECT string_agg(o.base_url, ' ') FROM submissions t JOIN batches o ON o.id = t.batch_id
  WHERE t.request_id = u.request_id AND ${condition}
)`

/**
 * SQL condition: a row shares a fingerprint with an unmatched request. `expressionOf` returns the expression for a
 * column of the row.
 */
export const unmatchedCondition = (expressionOf: (column: string) => string): string =>
  ['person_print', 'email_print', 'phone_print']
    .map(
      (column) => `EXISTS (SELECT 1 FROM unmatched_requests u WHERE u.${column} = ${expressionOf(column)})`,
    )
    .join(' OR ')

/**
 * Unmatched requests that share a fingerprint with one of several people, the earliest first. A row that has the request
 * in another spelling of the person does not replace it.
 */
export const selectUnmatched = `SELECT u.*, ${holderUrls('t.person_print = u.person_print')} AS holders FROM unmatched_requests u
WHERE {isIn u.person_print, persons} OR {isIn u.email_print, emails} OR {isIn u.phone_print, phones}
ORDER BY u.created_at, u.request_id`

const selectReads = `
SELECT request_id, reader, read_at, created_at FROM unmatched_requests
WHERE service = :service AND reader IN ('', :reader) AND {isIn request_id, ids}`

const selectReceivedAt = 'SELECT min(received_at) AS at FROM events WHERE request_id = :requestId'

/**
 * Unmatched requests, each with every order of a person who shares a fingerprint; the newest order comes last. Requests
 * that a user has acknowledged are left out, except the one with the id `:requestId`.
 */
export const selectSecondOrders = `
SELECT u.request_id, u.service, u.created_at, u.package_id, u.status, u.person_print, u.email_print, u.phone_print,
  ${holderUrls()} AS holders, s.request_id AS ordered_id, s.package_id AS ordered_package, s.batch_id, s.row_number,
  s.person_print AS ordered_person, s.email_print AS ordered_email, s.phone_print AS ordered_phone, b.base_url, b.account,
  CAST(EXISTS (SELECT 1 FROM releases r
    WHERE r.batch_id = s.batch_id AND r.row_number = s.row_number AND r.other_batch = u.request_id) AS integer) AS is_released
FROM unmatched_requests u CROSS JOIN submissions s JOIN batches b ON b.id = s.batch_id
WHERE u.service = :service AND (u.acknowledged_at IS NULL OR u.request_id = :requestId) AND s.state = 'accepted'
  AND (s.person_print = u.person_print OR s.email_print = u.email_print OR s.phone_print = u.phone_print)
ORDER BY u.read_at, u.request_id, b.added_at, b.{added}, s.row_number`

/** A request that was found keeps the data of its first read. */
const updateFailedRead = `
ON CONFLICT (request_id, service, reader) DO UPDATE SET read_at = excluded.read_at WHERE excluded.reader <> ''`

const countReads =
  'SELECT count(*) AS count FROM unmatched_requests WHERE read_at > :since AND read_at < :until'

/** A row of `selectUnmatched`. */
interface SelectedUnmatched extends UnmatchedRequest, StoredFingerprints {
  holders: string | undefined
}

type SelectedSecondOrder = SelectedUnmatched &
  Record<'orderedId' | 'orderedPerson' | 'orderedEmail' | 'orderedPhone', string> &
  Record<'batchId' | 'baseUrl' | 'account', string> &
  Record<'orderedPackage' | 'row' | 'isReleased', number>

/** An order with the fingerprints of its person, of which some may have been erased. */
export interface StoredOrder {
  order: Submission
  fingerprints: StoredFingerprints
  storedResults?: Candidate['storedResults']
  hasResultsOnly?: boolean
}

/** Returns an order as a candidate for a row whose person has the fingerprints `ownFingerprints`. */
export function candidateOf(
  { order, fingerprints, storedResults, hasResultsOnly }: StoredOrder,
  ownFingerprints: PersonFingerprints,
  areNamesUncompared = false,
): Candidate {
  return {
    order,
    isSamePerson: fingerprints.personPrint === ownFingerprints.personPrint,
    hasSameEmail: fingerprints.emailPrint === ownFingerprints.emailPrint,
    areNamesUncompared,
    storedResults,
    hasResultsOnly,
  }
}

/**
 * Returns the requests that share a fingerprint with one of these people, each as an order. Leaves out requests that
 * meanwhile belong to a row of the same service and person, which is compared itself.
 */
export function* findUnmatched(fingerprints: readonly PersonFingerprints[]): Work<StoredOrder[]> {
  const requests = yield* all<SelectedUnmatched>(selectUnmatched, fingerprintLists(fingerprints))
  const withoutRow = requests.filter((each) => !hasServiceUrl(each.holders, each.service))
  return withoutRow.map((each) => ({ order: unmatchedOrder(each), fingerprints: each }))
}

const distinct = (ids: Iterable<string>): string[] => [...new Set([...ids].map((id) => id.toLowerCase()))]

function hasServiceUrl(baseUrls: string | undefined, service: string): boolean {
  return baseUrls?.split(' ').some((baseUrl) => serviceOf(baseUrl) === service) === true
}

/** Requests that events name and that no row of the store ordered. New orders are compared with them (matching.ts). */
export class UnmatchedRequests extends StorePart {
  /** Returns those of the ids whose requests have no final read, in lower case. */
  async selectUnread(
    ids: Iterable<string>,
    { service, reader }: Omit<RequestReading, 'now'>,
  ): Promise<string[]> {
    const distinctIds = distinct(ids)
    const reads = await this.engine.run(all<RequestRead>(selectReads, { service, reader, ids: distinctIds }))
    const finalIds = new Set(reads.filter(isFinalRead).map(({ requestId }) => requestId))
    return distinctIds.filter((id) => !finalIds.has(id))
  }

  /** Returns those of the ids that the reader may read now, in lower case. */
  selectIdsToRead(ids: Iterable<string>, { service, reader, now }: RequestReading): Promise<string[]> {
    const distinctIds = distinct(ids)
    return this.engine.snapshot(function* () {
      const reads = yield* all<RequestRead>(selectReads, { service, reader, ids: distinctIds })
      // Also counts reads of a machine whose clock is up to an hour ahead. A wrong clock must not prevent reads for longer.
      const recentReads = yield* get<{ count: number }>(countReads, {
        since: now - readWindowMs,
        until: now + readWindowMs,
      })
      return idsToRead(distinctIds, { reads, recentReadCount: recentReads?.count ?? 0, now })
    })
  }

  /** Records the result of a read; `request` is undefined if this reader did not find it. */
  async record(
    id: string,
    { service, reader, now }: RequestReading,
    request: RequestResource | undefined,
  ): Promise<void> {
    const requestId = id.toLowerCase()
    const fingerprints = request && fingerprintPerson(this.key.fingerprint, request.recipient)
    await this.engine.transaction(function* () {
      const receivedAt =
        request === undefined
          ? (yield* get<{ at: number | undefined }>(selectReceivedAt, { requestId }))?.at
          : Date.parse(request.created_at)
      const values = {
        service,
        requestId,
        reader: request === undefined ? reader : '',
        readAt: now,
        createdAt: receivedAt === undefined || Number.isNaN(receivedAt) ? now : receivedAt,
        packageId: request?.package_id,
        status: request?.status,
        ...fingerprints,
      }
      yield* insertRows('unmatched_requests', [values], updateFailedRead)
    })
  }

  /**
   * Returns the requests for people whom this store ordered too, each with the newest such order of each account, unless a
   * user has acknowledged them. `acknowledgedId`: a request that is returned all the same.
   */
  async listSecondOrders(service: string, acknowledgedId = ''): Promise<SecondOrder[]> {
    const values = { service, requestId: acknowledgedId }
    const [selectedOrders, relations] = await this.engine.snapshot(function* () {
      const selected = yield* all<SelectedSecondOrder>(selectSecondOrders, values)
      return [selected, yield* readStoredRelations()] as const
    })
    const latest = new Map<string, SecondOrder>()
    for (const selected of selectedOrders) {
      if (serviceOf(selected.baseUrl) !== service || hasServiceUrl(selected.holders, service)) continue
      const second = secondOrderOf(selected, relations)
      const key = `${selected.requestId} ${selected.account}`
      // An order of the same person is named rather than one of a similar person.
      if (second === undefined || (second.shares.length > 0 && latest.get(key)?.shares.length === 0)) continue
      latest.set(key, second)
    }
    return [...latest.values()]
  }

  /** Records that a user has looked into a possible second order. Returns false if the request is none. */
  async acknowledge(service: string, id: string, { at, by }: { at: number; by: string }): Promise<boolean> {
    const requestId = id.toLowerCase()
    const secondOrders = await this.listSecondOrders(service, requestId)
    if (!secondOrders.some((each) => each.requestId === requestId)) return false
    const acknowledged = { acknowledgedAt: at, acknowledgedBy: by }
    const key = { service, requestId, reader: '' }
    return (await this.engine.run(updateRows('unmatched_requests', acknowledged, key))) === 1
  }
}

/**
 * Returns a request and an order as a possible second order, if the request would have held the order had it been made
 * first; but what holds an order of the same person may be released, and the request is reported nevertheless.
 */
function secondOrderOf(
  selected: SelectedSecondOrder,
  { services, packages }: StoredRelations,
): SecondOrder | undefined {
  const { service, requestId, packageId, orderedId, orderedPackage, batchId, row, baseUrl } = selected
  const { orderedPerson: personPrint, orderedEmail: emailPrint, orderedPhone: phonePrint } = selected
  const candidate = candidateOf(
    { order: unmatchedOrder(selected), fingerprints: selected },
    { personPrint, emailPrint, phonePrint },
  )
  const order = { batchId, row, baseUrl, packageId: orderedPackage, recipient: undefined } as const
  const [conflict] = findConflicts({ ...order, addedAt: 0, kind: 'file' }, [candidate], nothingAllowed, {
    ...relationsOf({ service, packageId: orderedPackage }, services, packages),
    isReleased: () => !candidate.isSamePerson && selected.isReleased === 1,
  })
  return (
    conflict && {
      requestId,
      createdAt: new Date(selected.createdAt).toISOString(),
      packageId,
      shares: conflict.shares,
      order: { requestId: orderedId, batchId, row, packageId: orderedPackage },
    }
  )
}
