import { decisionCommand } from '../submission/duplicate.ts'
import type { RequestResource, Recipient } from '../../contract/request.ts'
import { OutcomeUnknownError, DuplicateError, InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { RowId, Submission, SecondOrder } from '../submission/submission.ts'
import { formatCount, personName, personWithEmail } from '../wording/text.ts'
import { localTime } from '../wording/time.ts'
import { personKey, isSamePerson } from '../submission/identity.ts'
import { similarity } from '../submission/similarity.ts'
import { formatRow, type BatchRow } from './batch.ts'

/** The result of a search for evidence about rows with an unknown outcome. */
export interface Reconciliation {
  /** Rows that were ordered according to evidence; this is recorded in the journal. */
  settled: { submission: Submission; requestId: string; status: string }[]
  /**
   * Requests for the same or a similar person that are no evidence, so that the user has to decide: several
   * requests fit, a request fits several rows, or something differs.
   */
  ambiguous: { submission: Submission; requestIds: string[]; nearMatches: NearMatch[] }[]
  /** Rows without a request for the same or a similar person. This does not prove that they were not ordered. */
  open: Submission[]
  /** Dropped rows without such a request. The user is asked about one of them only if its number is given. */
  dropped?: Submission[]
  /** The number of requests that were read. */
  readCount: number
  /** Requests that were not ordered with this store, for people who were ordered with it. */
  secondOrders?: SecondOrder[]
  /** The number of requests that events name and that were not read yet; undefined counts as 0. */
  unreadCount?: number
  /** The number of rows that the user was asked about on a terminal. */
  askedRowCount?: number
}

/**
 * A request for the same or a similar person, and how it differs from the order that was sent. Without differences it
 * fits.
 */
export interface NearMatch {
  requestId: string
  createdAt: string
  differs: Difference[]
}

/** Describes a request that is no evidence, and how it differs from the order. */
export function nearMatchText({ requestId, createdAt, differs }: NearMatch): string {
  const why = differs.length === 0 ? 'fits' : `fits but for: ${differencesText(differs)}`
  return `request ${requestId}, created ${localTime(createdAt)}, ${why}`
}

export function fitsOtherSubmission(
  request: RequestResource,
  submission: Submission,
  requestsBySubmission: ReadonlyMap<Submission, readonly RequestResource[]>,
): boolean {
  return [...requestsBySubmission].some(
    ([otherSubmission, requests]) => otherSubmission !== submission && requests.includes(request),
  )
}

/** Returns the error after a reconciliation; undefined if no row is unknown any more. */
export function unreconciledError(
  { open, ambiguous, askedRowCount = 0 }: Reconciliation,
  batchId: string | undefined,
): OutcomeUnknownError | undefined {
  const ambiguousRows = ambiguous.map(({ submission }) => submission)
  const unreconciled = [...open, ...ambiguousRows].filter(({ state }) => state !== 'pending')
  const [first] = unreconciled
  if (first === undefined) return undefined
  const rows = formatCount(unreconciled.length, 'order is', 'orders are')
  // The user was asked about each of these rows and postponed the answer.
  const isPostponed = askedRowCount > 0 && unreconciled.every(({ state }) => state === 'unknown')
  const reconcileAgain = `${isPostponed ? `${rows} still not settled.\n` : ''}Once the provider has answered: refcheck batch reconcile${batchId === undefined ? '' : ` ${batchId}`}`
  return new OutcomeUnknownError(`${rows} still not settled: no proof was found`, {
    hint:
      askedRowCount > 0 && first.state === 'unknown'
        ? reconcileAgain
        : answersHint({ ...first, batchId: batchId ?? first.batchId }),
    order: { batchId: first.batchId, row: first.row },
    isUserChoice: isPostponed,
  })
}

/** A way in which a request differs from the order that was sent for a row. */
type Difference = 'package' | 'person' | 'requester' | 'time' | 'age'

const minuteMs = 60_000

/** The difference of the clocks that is allowed if it was not measured. */
const clockSkewMs = minuteMs

/** Maximal duration of an attempt, if the process died before it recorded the end. */
const maxExchangeMs = 10 * 60_000

/** A greater difference of the clocks means a wrong date, so it is ignored. */
const maxClockDifferenceMs = 24 * 60 * 60_000

/** What was sent for a row, and when the attempt ended. */
export type SentOrder = Pick<
  Submission,
  'recipient' | 'packageId' | 'userEmail' | 'attemptedAt' | 'changedAt'
>

/** How the person of a request matches the person of a row; `unknown` if no data is left to compare. */
export type PersonMatch = 'same' | 'similar' | 'other' | 'unknown'

/**
 * Returns how a request differs from the order that was sent for a row; an empty array if it fits. Undefined if the
 * request is for another person, who is not similar. `clockDifferenceMs` is how far the service's clock is ahead of the
 * clock that times attempts. The time fits if it is right with this difference or with none. `fingerprintMatch` is the
 * match of a row whose name was erased.
 */
export function findDifferences(
  sent: SentOrder,
  request: RequestResource,
  clockDifferenceMs = 0,
  fingerprintMatch: PersonMatch = 'other',
): Difference[] | undefined {
  const { recipient, packageId, userEmail } = sent
  const person = recipient === undefined ? fingerprintMatch : matchPersons(request.recipient, recipient)
  if (person === 'other') return undefined
  const checks: [Difference, boolean][] = [
    ['package', request.package_id !== packageId],
    ['person', person !== 'same'],
    ['requester', request.requester.email.toLowerCase() !== userEmail.toLowerCase()],
    ['time', !isWithinAttempt(sent, Date.parse(request.created_at), clockDifferenceMs)],
  ]
  return checks.flatMap(([name, differs]) => (differs ? [name] : []))
}

function isWithinAttempt(
  { attemptedAt, changedAt }: SentOrder,
  createdAt: number,
  clockDifferenceMs: number,
): boolean {
  if (attemptedAt === undefined) return false
  const endedAt = Math.min(changedAt, attemptedAt + maxExchangeMs)
  const plausibleDifferenceMs = Math.abs(clockDifferenceMs) <= maxClockDifferenceMs ? clockDifferenceMs : 0
  return [0, plausibleDifferenceMs].some(
    (aheadMs) =>
      createdAt >= attemptedAt + aheadMs - clockSkewMs && createdAt <= endedAt + aheadMs + clockSkewMs,
  )
}

/** A similar person has the same e-mail, phone or full name, so it may be the same person in another spelling. */
function matchPersons(one: Recipient, other: Recipient): PersonMatch {
  if (isSamePerson(one, other)) return 'same'
  const [first, last, email, phone] = personKey(one)
  const [otherFirst, otherLast, otherEmail, otherPhone] = personKey(other)
  const isSameName = first === otherFirst && last === otherLast
  return email === otherEmail || phone === otherPhone || isSameName ? 'similar' : 'other'
}

const differenceTexts: Readonly<Record<Difference, string>> = {
  package: 'another package',
  person: 'another spelling of the person',
  requester: 'another requester',
  time: 'created outside the time of the attempt',
  age: 'created before the file was added to this store',
}

/** Describes differences: `another requester, created outside the time of the attempt`. */
export function differencesText(differs: readonly Difference[]): string {
  return differs.map((each) => differenceTexts[each]).join(', ')
}

/**
 * Compares a row with the request that the provider named for it. Returns the differences in spelling, requester or
 * time, which a person has to confirm. Throws InvalidInputError for another person or package, and DuplicateError if
 * another order has that request. `fingerprintMatch` is the match of a row whose name was erased. The package of a held
 * row is compared by the caller.
 */
export function differencesToConfirm(
  row: SentOrder & RowId & Pick<BatchRow, 'line' | 'state' | 'addedAt' | 'matches'>,
  request: RequestResource,
  rowsOfRequest: readonly (RowId & Partial<Pick<Submission, 'recipient'>>)[],
  clockDifferenceMs: number | undefined,
  fingerprintMatch?: PersonMatch,
): Difference[] {
  const otherRow = rowsOfRequest.find((each) => each.batchId !== row.batchId || each.row !== row.row)
  if (otherRow !== undefined) {
    const { recipient, row: number, batchId } = otherRow
    const orderText =
      recipient === undefined ? `row ${number} of batch ${batchId}` : personWithEmail(recipient)
    throw new DuplicateError(`request ${request.request_id} is the order of ${orderText} already`, {
      hint: 'Nothing was recorded. One request is one order: check the id with the provider.',
    })
  }
  const differs = findDifferences(row, request, clockDifferenceMs, fingerprintMatch)
  if (differs === undefined) throw otherOrderError(request, row, 'for somebody else')
  if (row.state === 'held') {
    // Later orders of the person of the request are compared with the person of the row.
    const kind = row.recipient && similarity(row.recipient, request.recipient)?.kind
    if (row.recipient !== undefined && kind !== 'same' && kind !== 'similar')
      throw otherOrderError(request, row, 'for somebody else')
    return differencesOfHeldRow(row, request, differs)
  }
  if (differs.includes('package')) throw otherOrderError(request, row, `of package ${request.package_id}`)
  return differs
}

/**
 * Returns the differences of a held row, which has no attempt to compare the time and the requester with: in spelling,
 * and, unless the row is held because of this request, in age.
 */
function differencesOfHeldRow(
  { addedAt, matches }: Pick<BatchRow, 'addedAt' | 'matches'>,
  { request_id: requestId, created_at: createdAt }: RequestResource,
  differs: readonly Difference[],
): Difference[] {
  const isOlder = Date.parse(createdAt) < addedAt - maxClockDifferenceMs
  const isNamed = matches?.requestId === requestId.toLowerCase()
  return [...differs.filter((each) => each === 'person'), ...(isOlder && !isNamed ? ['age' as const] : [])]
}

/** Returns the error for a request that is not the order of a row. `description`: what it is instead. */
export function otherOrderError(
  { request_id }: RequestResource,
  row: Parameters<typeof formatRow>[0],
  description: string,
): InvalidInputError {
  return new InvalidInputError(
    `request ${request_id} is ${description}, so it is not the order of ${formatRow(row)}`,
    {
      hint: `Nothing was recorded. Check the id with the provider; "refcheck request get ${request_id}" shows that request.`,
    },
  )
}

/** Returns the question about a request that differs: it shows both sides and the differences. */
export function confirmationQuestion(
  row: SentOrder & Pick<BatchRow, 'row' | 'line' | 'state'>,
  request: RequestResource,
  differs: readonly Difference[],
): string {
  const { recipient, userEmail, attemptedAt } = row
  const orderedPerson =
    recipient === undefined ? 'a person whose name is not known here' : personText(recipient)
  const sentAtText = attemptedAt === undefined ? 'at an unknown time' : localTime(attemptedAt)
  const orderText =
    row.state === 'held'
      ? `The row is for ${orderedPerson}`
      : `The order is for ${orderedPerson}, sent ${sentAtText} by ${userEmail}`
  return (
    `Request ${request.request_id} is ${personText(request.recipient)}, created ${localTime(request.created_at)} by ${request.requester.email}. ` +
    `${orderText}. Different: ${differencesText(differs)}. Record this request for ${formatRow(row)}?`
  )
}

function personText(person: Recipient): string {
  return `${personName(person)} (${person.email}, ${person.phone})`
}

/** An event may arrive within 15 minutes of the attempt, so the row is not sent again before. */
const resendDelayMs = 15 * 60_000

/** The answer of the provider about a row with an unknown outcome, as the user records it. */
export type ProvidersAnswer =
  /** The provider has the request. */
  | { kind: 'has'; requestId: string }
  /**
   * The provider does not have it, so the row is sent again. `confirmedEmail` is the e-mail that the user typed;
   * undefined if it still has to be typed.
   */
  | { kind: 'order'; confirmedEmail: string | undefined }
  /** The row is never sent. */
  | { kind: 'leave' }

/**
 * Throws UsageError for a row that is not unknown or dropped. It is called before any question. `answer`: the answer that
 * the user gave already; a request can be recorded for a held row too.
 */
export function requireUnsettled(row: BatchRow, answer?: ProvidersAnswer): void {
  if (row.state === 'unknown' || row.state === 'dropped') return
  const isSimilarToUnknown = row.heldFor === 'similar_unknown'
  if (row.state === 'held' && answer?.kind === 'has' && !isSimilarToUnknown) return
  if (row.state === 'held') {
    throw new UsageError(`${formatRow(row)} is held, not unknown: there is nothing to decide`, {
      hint: isSimilarToUnknown
        ? `Settle the order of the similar person first: ${row.matches === undefined ? '' : decisionCommand(row.matches)}`
        : `Decide about held rows with: refcheck batch release ${row.batchId}`,
    })
  }
  throw new UsageError(`${formatRow(row)} is ${row.state}, not unknown: there is nothing to decide`, {
    hint: `List the unknown rows with: refcheck batch rows ${row.batchId} --state unknown`,
  })
}

/**
 * Returns the milliseconds until a row may be sent again; 0 or less if it may be sent now. `now` is a time of the clock
 * that times attempts.
 */
export const sendableInMs = ({ attemptedAt, changedAt }: BatchRow, now: number): number =>
  (attemptedAt ?? changedAt) + resendDelayMs - now

/** Returns the minute from which a row can be sent again. It is rounded up, because an earlier order is refused. */
export const sendableText = (sendableAt: number): string =>
  localTime(Math.ceil(sendableAt / minuteMs) * minuteMs)

/**
 * Describes the requests that may be the order of an unknown row, before the user decides. `sendableAt` is set if it is
 * in the future.
 */
export function unknownDetails(nearMatches: readonly NearMatch[], sendableAt: number | undefined): string[] {
  return [
    ...(nearMatches.length === 0
      ? ['No event names this person. That proves nothing: ask the provider.']
      : [
          'These requests may be this order. Ask the provider:',
          ...nearMatches.map((each) => `  ${nearMatchText(each)}`),
        ]),
    ...(sendableAt === undefined
      ? []
      : [`Ordering again is possible from ${sendableText(sendableAt)}, if no event arrives.`]),
  ]
}

/** Describes the state of a row after a decision: `Row 2 is ordered: request …`. */
export function describeOutcome(rowBefore: BatchRow, rowAfter: BatchRow | undefined): string {
  const rowText = formatRow(rowBefore)
  if (rowAfter?.state === 'dropped') return `${rowText} will not be sent again.`
  if (rowAfter?.state === 'unknown') return `${rowText}: the outcome is still unknown`
  if (rowAfter?.state === 'pending') return `${rowText} was not ordered yet; the row waits to be sent.`
  if (rowAfter?.state !== 'accepted') return `${rowText} is ${rowAfter?.state}`
  return `${rowText} is ordered: request ${rowAfter.requestId}`
}

/** Throws UsageError if a row cannot be sent again yet. Recording an id and dropping need no such wait. */
export function requireSendable(row: BatchRow, now: number): void {
  requireUnsettled(row)
  const waitMs = sendableInMs(row, now)
  if (waitMs > 0) {
    throw new UsageError(
      `the order of ${formatRow(row)} was sent less than 15 minutes ago: its event may still arrive`,
      {
        hint: `Nothing was sent. Run this again in ${Math.ceil(waitMs / minuteMs)} min.`,
      },
    )
  }
}

/**
 * Returns the possible answers of the provider about an unknown outcome, each with the command that records
 * it (src/docs/ordering.md, section 5). `email` is the recipient's, if it may be shown. A row
 * without its recipient cannot be ordered again.
 */
export function answersHint(
  { batchId, row, recipient }: Pick<Submission, 'batchId' | 'row' | 'recipient'>,
  email = 'EMAIL',
): string {
  const command = `refcheck batch reconcile ${batchId} --row ${row}`
  const sendAgainText =
    recipient === undefined
      ? 'close the row (nothing is sent; the person can then be ordered)'
      : 'order it now (a new order)'
  return [
    'Ask the provider whether they have a request for this person, and record the answer.',
    `They have it: ${command} --request-id UUID`,
    `They do not have it, ${sendAgainText}: ${command} --confirm-email ${email}`,
    `Nobody knows, never send it (the same order stays refused): ${command} --drop`,
  ].join('\n')
}
