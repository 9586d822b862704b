import type { RequestResource, Recipient } from '../../contract/request.ts'
import { OutcomeUnknownError, DuplicateError, InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { SecondOrder } from '../submission/unmatched.ts'
import type { RowId, Submission } from '../submission/submission.ts'
import { formatCount, personName } from '../wording/text.ts'
import { localClock, localTime } from '../wording/time.ts'
import { personKey, samePerson } from '../submission/identity.ts'
import type { BatchRow } from './batch.ts'
import { formatRow } from './batch-status.ts'

/** What was found about rows whose outcome was unknown. */
export interface Reconciliation {
  /** Proven to have been ordered, and journaled so. */
  settled: { submission: Submission; requestId: string; status: string }[]
  /**
   * Requests for the same or a similar person that are no proof, for a person to look at: several fit, several rows
   * are fitted, or something differs.
   */
  ambiguous: { submission: Submission; requestIds: string[]; near: NearMatch[] }[]
  /** No request for such a person was seen. That proves nothing. */
  open: Submission[]
  /** Requests that were read. */
  reads: number
  /** Requests that were not ordered with this store, for people who were. */
  secondOrders?: SecondOrder[]
  /** Rows that a person was asked about on a terminal, and saw there. */
  asked?: number
}

/** A request for the same or a similar person, and in what it differs from what was sent; nothing: it fits in all. */
export interface NearMatch {
  requestId: string
  createdAt: string
  differs: Difference[]
}

/** Why a request is shown, and not taken for proof. */
export function nearText({ requestId, createdAt, differs }: NearMatch): string {
  const why = differs.length === 0 ? 'fits' : `fits but for: ${differencesText(differs)}`
  return `request ${requestId}, created ${localTime(createdAt)}, ${why}`
}

export function fitsOthersToo(
  request: RequestResource,
  submission: Submission,
  fits: ReadonlyMap<Submission, readonly RequestResource[]>,
): boolean {
  return [...fits].some(([other, found]) => other !== submission && found.includes(request))
}

/** The error or message after a reconciliation; undefined where no unknown row is left. */
export function unreconciledError(
  { open, ambiguous, asked = 0 }: Reconciliation,
  batchId: string | undefined,
): OutcomeUnknownError | undefined {
  const shown = ambiguous.map(({ submission }) => submission)
  const left = [...open, ...shown].filter(({ state }) => state !== 'pending')
  const [first] = left
  if (first === undefined) return undefined
  const rows = formatCount(left.length, 'order is', 'orders are')
  const again = `Once the provider has answered: refcheck batch reconcile${batchId === undefined ? '' : ` ${batchId}`}`
  return new OutcomeUnknownError(`${rows} still not settled: no proof was found`, {
    hint:
      asked > 0 && first.state === 'unknown'
        ? again
        : answersHint({ ...first, batchId: batchId ?? first.batchId }),
    order: { batchId: first.batchId, row: first.row },
  })
}

/** In what a request is not what was sent for a row. */
type Difference = 'package' | 'person' | 'requester' | 'time'

/** How far the clocks may be apart where nothing is known of it. */
const skewMs = 60_000

/** The longest that an exchange takes, where the process died before it could say. */
const longestExchangeMs = 10 * 60_000

/** A clock further off than this is no difference to allow for, but a wrong date. */
const longestDifferenceMs = 24 * 60 * 60_000

/** What a row was sent with, and when it ended. */
export type SentOrder = Pick<
  Submission,
  'recipient' | 'packageId' | 'userEmail' | 'attemptedAt' | 'changedAt'
>

/** Whom a request is for against whom a row was for; `unknown`: nothing is left that could tell. */
export type PersonMatch = 'same' | 'similar' | 'other' | 'unknown'

/**
 * In what a request differs from what was sent for a row; empty: it fits in all. Undefined where it is about another
 * person, neither the same nor a similar one. `clockDifferenceMs`: how far the service's clock, by its Date header, is
 * ahead of the one that times attempts; it is allowed for, as are clocks that agree. `byFingerprints`: of a row whose name is gone.
 */
export function differences(
  sent: SentOrder,
  request: RequestResource,
  clockDifferenceMs = 0,
  byFingerprints: PersonMatch = 'other',
): Difference[] | undefined {
  const { recipient, packageId, userEmail } = sent
  const person = recipient === undefined ? byFingerprints : matchPersons(request.recipient, recipient)
  if (person === 'other') return undefined
  const found: [Difference, boolean][] = [
    ['package', request.package_id !== packageId],
    ['person', person !== 'same'],
    ['requester', request.requester.email.toLowerCase() !== userEmail.toLowerCase()],
    ['time', !isWithin(sent, Date.parse(request.created_at), clockDifferenceMs)],
  ]
  return found.flatMap(([name, differs]) => (differs ? [name] : []))
}

function isWithin(
  { attemptedAt, changedAt }: SentOrder,
  createdAt: number,
  clockDifferenceMs: number,
): boolean {
  if (attemptedAt === undefined) return false
  const endedAt = Math.min(changedAt, attemptedAt + longestExchangeMs)
  const known = Math.abs(clockDifferenceMs) <= longestDifferenceMs ? clockDifferenceMs : 0
  return [0, known].some(
    (ahead) => createdAt >= attemptedAt + ahead - skewMs && createdAt <= endedAt + ahead + skewMs,
  )
}

/** Similar is the same e-mail, phone or full name: it may be the person in another spelling. */
function matchPersons(one: Recipient, other: Recipient): PersonMatch {
  if (samePerson(one, other)) return 'same'
  const [first, last, email, phone] = personKey(one)
  const [otherFirst, otherLast, otherEmail, otherPhone] = personKey(other)
  const isName = first === otherFirst && last === otherLast
  return email === otherEmail || phone === otherPhone || isName ? 'similar' : 'other'
}

const words: Readonly<Record<Difference, string>> = {
  package: 'another package',
  person: 'another spelling of the person',
  requester: 'another requester',
  time: 'created outside the time of the attempt',
}

/** `another requester, created outside the time of the attempt`. */
export function differencesText(found: readonly Difference[]): string {
  return found.map((each) => words[each]).join(', ')
}

/**
 * What a read of the id that the provider named shows of a row ("they have it"): nothing, where it fits in all, or what
 * a person has to confirm, which is another spelling, requester or time. Throws an InvalidInputError where it is another
 * person or package, and a DuplicateError where another order has that request. `byFingerprints`: of a row whose name is
 * gone.
 */
export function differencesToConfirm(
  row: SentOrder & RowId,
  request: RequestResource,
  holders: readonly RowId[],
  clockDifferenceMs: number | undefined,
  byFingerprints?: PersonMatch,
): Difference[] {
  const other = holders.find((each) => each.batchId !== row.batchId || each.row !== row.row)
  if (other !== undefined) {
    throw new DuplicateError(
      `request ${request.request_id} is the order of row ${other.row} of batch ${other.batchId} already`,
      { hint: 'Nothing was recorded. One request is one order: check the id with the provider.' },
    )
  }
  const found = differences(row, request, clockDifferenceMs, byFingerprints)
  if (found === undefined) throw notThis(request, row.row, 'for somebody else')
  if (found.includes('package')) throw notThis(request, row.row, `of package ${request.package_id}`)
  return found
}

function notThis({ request_id }: RequestResource, row: number, what: string): InvalidInputError {
  return new InvalidInputError(`request ${request_id} is ${what}, so it is not the order of row ${row}`, {
    hint: `Nothing was recorded. Check the id with the provider; "refcheck request get ${request_id}" shows that request.`,
  })
}

/** What a person is asked where something differs: both sides, and in what. */
export function confirmationQuestion(
  { row, recipient, userEmail, attemptedAt }: SentOrder & Pick<Submission, 'row'>,
  request: RequestResource,
  differs: readonly Difference[],
): string {
  const sentAt = attemptedAt === undefined ? 'at an unknown time' : localTime(attemptedAt)
  return (
    `Request ${request.request_id} is ${personText(request.recipient)}, created ${localTime(request.created_at)} by ${request.requester.email}. ` +
    `Row ${row} is ${recipient === undefined ? 'a person whose name is not known here' : personText(recipient)}, sent ${sentAt} by ${userEmail}. ` +
    `Different: ${differencesText(differs)}. Record this request for row ${row}?`
  )
}

function personText(person: Recipient): string {
  return `${personName(person)} (${person.email}, ${person.phone})`
}

/** "Not within 15 minutes of the attempt": an event may still come. */
const quietMs = 15 * 60_000

/** What the provider said of a row whose outcome is unknown, as a person records it. */
export type ProvidersAnswer =
  /** They have it. */
  | { kind: 'has'; requestId: string }
  /** They do not: it is sent again. The e-mail as typed; undefined: it has to be asked for. */
  | { kind: 'order'; confirmedEmail: string | undefined }
  /** Never send it. */
  | { kind: 'leave' }

/** A row that a person may decide about; throws a UsageError for any other. Comes before any question. */
export function requireUnsettled(row: BatchRow): void {
  if (row.state === 'unknown' || row.state === 'dropped') return
  throw new UsageError(`row ${row.row} is ${row.state}, not unknown: there is nothing to decide`, {
    hint: `List the unknown rows with: refcheck batch rows ${row.batchId} --state unknown`,
  })
}

/** Milliseconds until a row may be sent again; at most 0: now. `now`: by the clock that times attempts. */
export const sendableInMs = ({ attemptedAt, changedAt }: BatchRow, now: number): number =>
  (attemptedAt ?? changedAt) + quietMs - now

/** What is known of a row whose outcome is unknown, before a person is asked. `sendableAt`: where that is still to come. */
export function unknownDetails(near: readonly NearMatch[], sendableAt: number | undefined): string[] {
  return [
    ...(near.length === 0
      ? ['No event names this person. That proves nothing: ask the provider.']
      : [
          'These requests may be this order. Ask the provider:',
          ...near.map((each) => `  ${nearText(each)}`),
        ]),
    ...(sendableAt === undefined
      ? []
      : [`It can be ordered again from ${localClock(sendableAt)}: until then an event may still arrive.`]),
  ]
}

/** `Row 2 is accepted: request …`, after an answer. */
export function rowOutcome(before: BatchRow, after: BatchRow | undefined): string {
  const who = formatRow(before, undefined)
  if (after?.state === 'dropped') return `${who} will not be sent again.`
  if (after?.state === 'unknown') return `${who}: the outcome is still unknown`
  if (after?.state !== 'accepted') return `${who} is ${after?.state}`
  return `${who} is ordered: request ${after.requestId}`
}

/** Why a row cannot be sent again now; throws a UsageError. Recording an id and dropping wait for nothing. */
export function requireSendable(row: BatchRow, now: number): void {
  requireUnsettled(row)
  const waitMs = sendableInMs(row, now)
  if (waitMs > 0) {
    throw new UsageError(`row ${row.row} was sent less than 15 minutes ago: its event may still arrive`, {
      hint: `Nothing was sent. Run this again in ${Math.ceil(waitMs / 60_000)} min.`,
    })
  }
}

/**
 * What the provider may say of an order whose outcome is unknown, and the command that records each answer, side by
 * side ("Settling an unknown"). `email`: the recipient's, where it is shown. A row without its recipient cannot be ordered again.
 */
export function answersHint(
  { batchId, row, recipient }: Pick<Submission, 'batchId' | 'row' | 'recipient'>,
  email = 'EMAIL',
): string {
  const command = `refcheck batch reconcile ${batchId} --row ${row}`
  const again =
    recipient === undefined
      ? 'close the row (nothing is sent; the person can then be ordered)'
      : 'order it now (a new order)'
  return [
    'Ask the provider whether they have a request for this person, and record the answer.',
    `They have it: ${command} --request-id UUID`,
    `They do not have it, ${again}: ${command} --confirm-email ${email}`,
    `Nobody knows, never send it (the same order stays refused): ${command} --drop`,
  ].join('\n')
}
