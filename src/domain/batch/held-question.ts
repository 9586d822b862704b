import { formatRow, type BatchRow } from './batch.ts'
import { packageWithName } from '../submission/confirmation.ts'
import {
  hintsAboutHeldRow,
  orderedVerb,
  sharedText,
  storedCountsAsText,
  waitsElsewhere,
} from '../submission/duplicate.ts'
import { localTime } from '../wording/time.ts'
import { formatCount, joinFirst, personName, personWithEmail } from '../wording/text.ts'
import { statesNeedingDecision } from '../submission/states.ts'
import { IncompleteError, UsageError } from '../../errors/kinds.ts'

/**
 * The possible decisions about a held row. `same-service`: the two URLs are one service, so the row is a duplicate.
 * `has-request`: the provider has a request for the row, which is recorded as its order. `send-instead`: the similar row
 * that waits in another batch is cancelled, and this one is sent.
 */
type HeldAnswer = 'later' | 'order' | 'leave-out' | 'same-service' | 'has-request' | 'send-instead'

interface HeldChoice {
  value: HeldAnswer
  label: string
  detail?: string
}

/** The question about a held row. */
interface HeldQuestion {
  /** Lines to show before the question: the two people side by side. */
  details: string[]
  message: string
  choices: HeldChoice[]
  /** The request that the answer `has-request` records; if undefined, its id is asked for. */
  requestId?: string | undefined
}

/** A held row, and the order that it conflicts with if the store has that order. */
export interface HeldRow {
  held: BatchRow
  other: BatchRow | undefined
}

/**
 * Returns the question about a held row, by the reason of the hold. `verb`: what happens if the answer is
 * yes. `packages` are names by id. Undefined if no answer releases the row, because an order with an unknown
 * outcome has to be reconciled first.
 */
export function heldQuestion(
  { held, other }: HeldRow,
  verb: 'order' | 'release',
  packages: ReadonlyMap<number, string>,
): HeldQuestion | undefined {
  const { matches, heldFor } = held
  const name = held.recipient === undefined ? `row ${held.row}` : personName(held.recipient)
  // The name may not identify the person, so the choice that orders shows the e-mail of the row too.
  const person = held.recipient === undefined ? name : personWithEmail(held.recipient)
  const whenOrdered = matches?.orderedAt === undefined ? 'before' : `on ${localTime(matches.orderedAt)}`
  const packageText = storedCountsAsText(held)
  const createQuestion = (
    message: string,
    yes: string,
    no: string | undefined,
    { details = [], more = [] }: { details?: string[]; more?: HeldChoice[] } = {},
  ): HeldQuestion => ({
    details: packageText === undefined ? details : [...details, `  ${packageText}`],
    message,
    choices: [
      { value: 'later', label: 'Decide later' },
      { value: 'order', label: yes },
      ...more,
      ...(no === undefined ? [] : [{ value: 'leave-out' as const, label: no }]),
    ],
    requestId: matches?.requestId,
  })
  const orderAgain = `Yes: ${verb} ${person}${verb === 'order' ? ' again' : ''}`
  const no = 'No: leave out'
  const packageOf = (id = 0): string => packageWithName({ id, name: packages.get(id) })
  switch (heldFor) {
    case 'similar':
      return createQuestion('Is this one person?', `Two people: ${verb} ${person}`, samePersonLabel(held), {
        details: sideBySide(held, other),
        more: waitsElsewhere(held.batchId, matches) ? [sendInsteadChoice] : [],
      })
    case 'ended_in_error':
      return createQuestion(
        `The order of ${name}, sent ${whenOrdered}, failed with ERROR. Order again?`,
        orderAgain,
        no,
      )
    case 'recent':
      return createQuestion(
        `${name} was ordered ${whenOrdered}, less than 7 days ago. Order again?`,
        orderAgain,
        no,
      )
    case 'replaced_package':
      return createQuestion(
        `${name} ${orderedVerb(matches?.state ?? 'accepted')} ${whenOrdered} under ${packageOf(matches?.packageId)}, which ${packageOf(held.packageId)} seems to replace. Order ${packageOf(held.packageId)} as well?`,
        `Yes: ${verb} ${packageOf(held.packageId)} for ${person}`,
        no,
      )
    case 'unmatched_request':
      return createQuestion(
        `Request ${matches?.requestId}, which was not ordered with this store, is for ${held.shares.length === 0 ? name : `somebody with the same ${sharedText(held.shares)} as ${name}`}. Order as well?`,
        `Yes: ${verb} ${person} as well`,
        no,
        { more: [{ value: 'has-request', label: 'No: that request is this order, record it' }] },
      )
    case 'results_open':
    case 'results_unclear':
      return createQuestion(
        `${matches?.externalResult?.file ?? 'A results file'}, line ${matches?.externalResult?.line}, says that ${name} may have been ordered. Order?`,
        `Not ordered: ${verb} ${person}`,
        'Ordered: leave out',
      )
    case 'store_forgot':
      return createQuestion(
        `This store had lost attempts, so ${name} may have been ordered. Does the provider have a request?`,
        `The provider has none: ${verb} ${person}`,
        undefined,
        {
          more: [
            {
              value: 'has-request',
              label: 'The provider has one: record it',
              detail: 'Its id is asked for, read once and recorded as the order of this row.',
            },
          ],
        },
      )
    case 'other_service':
      return {
        details: [],
        message: `${name} was ordered ${whenOrdered} at ${other?.baseUrl}. Is that the same service as ${held.baseUrl}?`,
        choices: [
          { value: 'later', label: 'Decide later' },
          { value: 'same-service', label: 'The same service: leave out' },
          { value: 'order', label: `Another service: ${verb} ${person}` },
        ],
      }
    case 'similar_unknown':
    case 'same':
    case undefined:
      return undefined
  }
}

/**
 * Returns the next command for listed held rows. `isAsked` is set on a terminal, where one command asks about all of
 * them.
 */
export function hintForHeldRows(rows: readonly HeldRow[], isAsked: boolean): string {
  const first = (rows.find(({ held }) => held.heldFor !== 'similar_unknown') ?? rows[0])?.held
  if (first === undefined) return ''
  const { batchId, row, heldFor, matches } = first
  if (isAsked && heldFor !== 'similar_unknown')
    return `Decide about each held row: refcheck batch release ${batchId}`
  const named = { row, rowText: formatRow(first), heldFor, matches }
  return hintsAboutHeldRow(batchId, named).join('\n')
}

/** Whether the person of a held row may have been ordered: by this row, or as the similar person of an open order. */
const isPerhapsOrdered = ({ heldFor, matches }: BatchRow): boolean =>
  heldFor === 'store_forgot' ||
  heldFor === 'similar_unknown' ||
  (heldFor === 'similar' && matches?.state === 'dropped')

/** Returns the error for a row that cannot be cancelled, because it may have been sent before the store lost attempts. */
export function perhapsSentError(row: BatchRow): UsageError {
  const { batchId } = row
  const named = { row: row.row, rowText: formatRow(row), heldFor: row.heldFor }
  return new UsageError(
    `${formatRow(row)} cannot be cancelled: the order may have been sent, because this store had lost attempts`,
    { hint: hintsAboutHeldRow(batchId, named).join('\n') },
  )
}

/** The greatest number of people whom the error about held rows names. */
const maxNamedHeld = 5

/**
 * Returns the error about the rows that a release of all rows left held, because their people may have been ordered;
 * undefined if there are none.
 */
export function perhapsOrderedError(heldRows: readonly HeldRow[]): IncompleteError | undefined {
  const rows = heldRows.filter(({ held }) => isPerhapsOrdered(held))
  if (rows.length === 0) return undefined
  const names = rows.map(({ held }) => formatRow(held))
  const reason = rows.some(({ held }) => held.heldFor === 'store_forgot')
    ? 'this store had lost attempts'
    : 'an order of a similar person has an unknown outcome'
  return new IncompleteError(
    `${formatCount(rows.length, 'row stays', 'rows stay')} held, because ${rows.length === 1 ? 'its person' : 'their people'} may have been ordered (${reason}): ${joinFirst(names, maxNamedHeld)}`,
    { hint: hintForHeldRows(rows, false) },
  )
}

const sendInsteadChoice: HeldChoice = {
  value: 'send-instead',
  label: 'The same person: send this one instead',
}

/** If the other row waits in another batch, its spelling of the person is the one that is sent. */
const samePersonLabel = ({ matches, batchId }: BatchRow): string =>
  waitsElsewhere(batchId, matches)
    ? 'The same person: leave out, and send the row that waits'
    : 'The same person: leave out'

function sideBySide(held: BatchRow, other: BatchRow | undefined): string[] {
  const { recipient, shares, matches } = held
  const state = matches?.state
  const isPerhaps = state !== undefined && statesNeedingDecision.includes(state)
  const waitingText = other?.line === undefined ? 'waiting' : `line ${other.line}`
  const label = state === 'accepted' ? 'ordered' : isPerhaps ? 'perhaps' : waitingText
  const timeText =
    matches?.orderedAt === undefined
      ? ''
      : `, ${isPerhaps ? 'perhaps ordered ' : ''}${localTime(matches.orderedAt)}`
  const labelledLine = (title: string, text: string): string => `  ${title.padEnd(8)} ${text}`
  const formatPerson = (recipientOrNone: BatchRow['recipient']): string =>
    recipientOrNone === undefined
      ? 'removed from this store'
      : `${personName(recipientOrNone)}  ${recipientOrNone.email}${shares.includes('phone') ? '' : `  ${recipientOrNone.phone}`}`
  const sharedValues = shares.map((each) =>
    recipient === undefined || each === 'name'
      ? sharedText([each])
      : `${sharedText([each])} ${recipient[each]}`,
  )
  return [
    labelledLine('new', formatPerson(recipient)),
    labelledLine(label, `${formatPerson(other?.recipient)}${timeText}`),
    labelledLine('same', sharedValues.join(', ')),
  ]
}
