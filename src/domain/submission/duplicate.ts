import type { Recipient } from '../../contract/request.ts'
import { isUnfinished } from '../../contract/statuses.ts'
import { personName, personWithEmail } from '../wording/text.ts'
import { type OrderInError, DuplicateError } from '../../errors/kinds.ts'
import type { SharedDetail } from './similarity.ts'
import type { Conflict, ConflictReason } from './conflicts.ts'
import { type Submission, isUnmatched } from './submission.ts'
import { localTime } from '../wording/time.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { externalResultPosition } from './external-results.ts'

/** The reason of a row that was left out because its person is the one of the order that it matches. */
export const samePersonReason = 'left out: the same person as another order'

/** Returns what happened to an order with which another one conflicts. */
export const orderedVerb = (state: Submission['state']): string =>
  state === 'pending' ? 'waits to be ordered' : state === 'accepted' ? 'was ordered' : 'may have been ordered'

/**
 * Returns the error for a new order to `baseUrl` that conflicts with an order: what conflicts, when that was ordered,
 * and how to proceed.
 */
export function duplicateError(conflict: Conflict, baseUrl: string): DuplicateError {
  const [message, hint] = conflictSentences(conflict, baseUrl)
  return new DuplicateError(message, { hint, order: conflictInError(conflict) })
}

/** Returns the conflicting order as it appears in the JSON of an error. */
export function conflictInError({ order, reason, shares, externalResult }: Conflict): OrderInError {
  const isExact =
    reason === 'same' ||
    reason === 'other_service' ||
    reason === 'replaced_package' ||
    (reason === 'unmatched_request' && shares.length === 0)
  return {
    requestId: order.requestId,
    // An order that only a results file or the service has is in no batch.
    ...(externalResult === undefined && !isUnmatched(order) && { batchId: order.batchId, row: order.row }),
    match: isExact ? 'exact' : 'similar',
  }
}

/**
 * Returns why an order of another package conflicts with a row, as a clause: after a move of a batch, both packages
 * count as one. `since`: when the batch was moved.
 */
export function countsAsText(orderPackage: number, rowPackage: number, since?: number): string {
  const sinceText = since === undefined ? '' : ` of ${localTime(since)}`
  return `${orderPackage} counts as ${rowPackage} since "batch move"${sinceText}`
}

/**
 * Returns the same clause for a stored row, whose order may have another package; undefined if it has the same one, or
 * if the text about the reason names that package already. A similar person is also compared with orders of a package
 * that was replaced without a move.
 */
export function storedCountsAsText({
  packageId,
  matches,
  heldFor,
}: {
  packageId: number | undefined
  matches: { packageId: number | undefined } | undefined
  heldFor: ConflictReason | undefined
}): string | undefined {
  const other = matches?.packageId
  if (packageId === undefined || other === undefined || other === packageId) return undefined
  if (heldFor === 'replaced_package') return undefined
  return heldFor === 'similar' || heldFor === 'similar_unknown'
    ? `${other} counts as ${packageId}`
    : countsAsText(other, packageId)
}

/** Returns the clause about a conflict with an order of another package, after a semicolon; '' for the same package. */
export const relatedPackageText = ({ order, countsAs }: Conflict): string =>
  countsAs === undefined ? '' : `; ${countsAsText(order.packageId, countsAs.packageId, countsAs.since)}`

/** Returns what a new order conflicts with, as a sentence without its full stop. */
export function conflictMessage(conflict: Conflict): string {
  return conflictSentences(conflict, conflict.order.baseUrl)[0]
}

function conflictSentences(conflict: Conflict, baseUrl: string): [message: string, hint: string] {
  const [message, hint] = sentencesAboutOrder(conflict, baseUrl)
  return [`${message}${relatedPackageText(conflict)}`, hint]
}

function sentencesAboutOrder(conflict: Conflict, baseUrl: string): [message: string, hint: string] {
  const { order, reason, shares, externalResult } = conflict
  switch (reason) {
    case 'store_forgot':
    case 'same':
    case 'recent':
    case 'ended_in_error':
    case 'results_open':
    case 'results_unclear':
      return sameSentences(conflict)
    case 'unmatched_request':
      return unmatchedSentences(conflict)
    case 'similar':
      return [
        `somebody similar ${orderedVerb(order.state)}: ${orderText(order)} for ${externalResult === undefined ? '' : 'the person in '}${personOrPosition(conflict)} has the same ${sharedText(shares)}`,
        'Nothing was sent. If these are two people, or this is meant to be ordered again, add --allow-similar.',
      ]
    case 'similar_unknown':
      return [
        `somebody similar may have been ordered: ${orderText(order)} for ${personOf(order)} has the same ${sharedText(shares)}`,
        `Nothing was sent. Settle that order first: ${decisionCommand(order)}`,
      ]
    case 'other_service':
      return [
        `${orderText(order)} for this person was ordered at ${order.baseUrl}`,
        `Nothing was sent. ${sameServiceHint(order.baseUrl, baseUrl)}`,
      ]
    case 'replaced_package':
      return [
        `package ${order.packageId}, which this package seems to replace, ${orderedVerb(order.state)} for this person: ${requestText(order)}, on ${localTime(order.attemptedAt ?? order.addedAt)}`,
        'Nothing was sent. To order this package as well, add --allow-similar.',
      ]
  }
}

function sameSentences({ order, countsAs }: Conflict): [message: string, hint: string] {
  const packageText = `package ${order.packageId}`
  const personText = order.recipient === undefined ? 'this person' : `"${order.recipient.email}"`
  const orderTime = localTime(order.attemptedAt ?? order.addedAt)
  if (order.state === 'accepted') {
    // The request of a recovered order has not been read yet.
    const readAt = localTime(order.requestStatusAt ?? order.changedAt)
    const isFromCreate = readAt === orderTime && order.requestStatus === 'RECEIVED'
    const readText = isFromCreate ? 'when it was ordered' : `on ${readAt}`
    // The time of a final status is that of the first read that returned it.
    const seenText = isUnfinished(order.requestStatus) ? 'last seen' : 'seen'
    const statusText =
      order.requestStatus === undefined ? '' : `, ${seenText} ${order.requestStatus} ${readText}`
    const againText = countsAs === undefined ? 'it once more' : `${countsAs.packageId} as well`
    return [
      `${packageText} was already ordered for ${personText}: request ${order.requestId}, on ${orderTime}${statusText}`,
      `To order ${againText}, add --allow-duplicate. Show the request with: refcheck request get ${order.requestId}`,
    ]
  }
  if (order.state === 'pending') {
    return [
      `${packageText} is queued for ${personText} in batch ${order.batchId} (row ${order.row}), since ${orderTime}`,
      `Resume that batch with: refcheck batch resume ${order.batchId}`,
    ]
  }
  if (order.state === 'held') {
    return [
      `${packageText} may have been ordered for ${personText}: row ${order.row} of batch ${order.batchId} is held, because the store had lost attempts`,
      `Decide about that row first: refcheck batch release ${order.batchId}`,
    ]
  }
  if (order.state === 'sending') {
    return [
      `${packageText} is being ordered for ${personText} by another command, since ${orderTime}`,
      'Wait until that command has ended, then see the result with: refcheck request list',
    ]
  }
  return [
    `${packageText} was sent for ${personText} on ${orderTime} with an unknown outcome${order.state === 'dropped' ? ', and dropped' : ''}`,
    reconcileHint(order, '--allow-duplicate does not override this. '),
  ]
}

/** Returns a sentence about the earlier order of the same person, for the question whether to order again. */
export function repeatedOrderText(conflict: Conflict, person: Recipient): string {
  const { order } = conflict
  const status = order.requestStatus === undefined ? '' : `, last read ${order.requestStatus}`
  const orderTime = localTime(order.attemptedAt ?? order.addedAt)
  return `${personName(person)} was already ordered on ${orderTime} (package ${order.packageId}${status}${relatedPackageText(conflict)}).`
}

function unmatchedSentences({ order, shares }: Conflict): [message: string, hint: string] {
  const flag = shares.length === 0 ? '--allow-duplicate' : '--allow-similar'
  return [
    `${unmatchedText(order.requestId, shares)}: package ${order.packageId}, on ${localTime(order.changedAt)}`,
    `Nothing was sent. See who ordered it: refcheck request get ${order.requestId}\nTo order it all the same, add ${flag}.`,
  ]
}

/** Returns why a row is held because of a request that no row of the store ordered, as a clause. */
export function unmatchedText(requestId: string | undefined, shares: readonly SharedDetail[]): string {
  const person = shares.length === 0 ? 'this person' : `somebody with the same ${sharedText(shares)}`
  return `request ${requestId}, which was not ordered with this store, is for ${person}`
}

const orderText = (order: Submission): string =>
  `package ${order.packageId} (${requestText(order)}, ${localTime(order.attemptedAt ?? order.addedAt)})`

const requestText = (order: Submission): string =>
  order.requestId === undefined
    ? `row ${order.row} of batch ${order.batchId}, ${order.state}`
    : `request ${order.requestId}`

/** Returns the person of an order by name and e-mail. */
export function personOf({ recipient, reason }: Pick<Submission, 'recipient' | 'reason'>): string {
  if (recipient !== undefined) return personWithEmail(recipient)
  return reason === undefined
    ? 'somebody who was removed from this store'
    : 'somebody whose name is not known here (recovered)'
}

/** Returns the person of a conflicting order; the position of a person whom only a results file names. */
export const personOrPosition = ({ order, externalResult }: Conflict): string =>
  externalResult === undefined ? personOf(order) : externalResultPosition(externalResult)

/** Returns what a row conflicts with and why, as one clause. */
export function conflictText(conflict: Conflict): string {
  const { order, reason, shares } = conflict
  const packageText = relatedPackageText(conflict)
  if (reason === 'unmatched_request') return `${unmatchedText(order.requestId, shares)}${packageText}`
  return `${personOrPosition(conflict)} ${heldReasonText(reason, order.state)}${packageText}`
}

/** Returns the shared values as text, such as `e-mail and phone`. */
export function sharedText(shares: readonly SharedDetail[]): string {
  const words = shares.map((each) => (each === 'email' ? 'e-mail' : each))
  return words.length === 0 ? 'details' : words.join(' and ')
}

/** Why a row is held, in a few words. */
export const heldReasonTexts: Readonly<Record<ConflictReason, string>> = {
  store_forgot: 'may have been sent: the store had forgotten attempts',
  same: 'is the same person',
  similar: 'is similar',
  similar_unknown: 'is similar to an order whose outcome is unknown',
  other_service: 'was ordered at another URL',
  recent: 'was ordered less than 7 days ago',
  ended_in_error: 'was ordered, and that request ended in ERROR',
  replaced_package: 'was ordered under the package that this one replaces',
  unmatched_request: 'has a request that was not ordered with this store',
  results_open: 'may have been ordered, by what a results file says',
  results_unclear: 'may have been ordered: a results file has a request of it that cannot be read',
}

/** Returns the same text for an order that conflicts, which may not have been accepted. */
export const heldReasonText = (reason: ConflictReason, state: Submission['state'] | undefined): string =>
  reason === 'replaced_package'
    ? `${orderedVerb(state ?? 'accepted')} under the package that this one replaces`
    : heldReasonTexts[reason]

/** Returns a hint with two commands: that two base URLs are the same service, or that they are not. */
export function sameServiceHint(one: string, other: string): string {
  const command = `refcheck store same-service ${shellWord(one)} ${shellWord(other)}`
  return [
    'Say once whether the two URLs are the same service.',
    `They are the same: ${command}`,
    `They are different: ${command} --different`,
  ].join('\n')
}

type OpenOrder = Pick<Submission, 'batchId' | 'row'> & { state: Submission['state'] | undefined }

/**
 * Returns the command to settle an order that may have been accepted: a row that is held because the store had lost
 * attempts is released. Another one is reconciled by evidence, except for a dropped row, about which a user has already
 * decided without evidence.
 */
export function decisionCommand({ batchId, row, state }: OpenOrder): string {
  if (state === 'held') return `refcheck batch release ${batchId}`
  return `refcheck batch reconcile ${batchId}${state === 'dropped' ? ` --row ${row}` : ''}`
}

/** Returns a hint about an order whose outcome is unknown; `extraText` is inserted before the command. */
export function reconcileHint(order: OpenOrder & Pick<Submission, 'offeredId'>, extraText = ''): string {
  const { offeredId } = order
  const requestNamed = offeredId === undefined ? '' : `The answer named request ${offeredId}. `
  return `It may have been ordered, so it is not sent again. ${requestNamed}${extraText}Settle it with: ${decisionCommand(order)}`
}

/** A held row that a hint names. */
export interface NamedHeldRow {
  row: number
  /** The name and the line of the row. */
  rowText: string
  heldFor: ConflictReason | undefined
  /** The order that the row conflicts with. For a request that this store did not order, `batchId` is its id. */
  matches?: OpenOrder | undefined
}

/** Whether the order that a row conflicts with is a row of another batch that waits to be sent. */
export const waitsElsewhere = (batchId: string, matches: OpenOrder | undefined): matches is OpenOrder =>
  matches?.state === 'pending' && matches.batchId !== batchId

/** Returns the decisions that fit the reason why a row is held, each with its command. */
export function hintsAboutHeldRow(
  batchId: string,
  { row, rowText, heldFor, matches }: NamedHeldRow,
): string[] {
  const release = `refcheck batch release ${batchId} --row ${row}`
  const leaveOut = `refcheck batch cancel ${batchId} --row ${row}`
  const recordRequest = `refcheck batch reconcile ${batchId} --row ${row} --request-id`
  switch (heldFor) {
    case 'similar_unknown':
      return matches === undefined
        ? []
        : [`Settle the order with an unknown outcome first: ${decisionCommand(matches)}`]
    case 'similar':
      return waitsElsewhere(batchId, matches)
        ? [
            `${rowText} is another person: ${release}`,
            `The same person, and the row that waits is right: ${leaveOut}`,
            `The same person, and this row is right: refcheck batch cancel ${matches.batchId} --row ${matches.row}`,
            `Then order this row: refcheck batch resume ${batchId}`,
          ]
        : [`${rowText} is another person: ${release}`, `${rowText} is the same person: ${leaveOut}`]
    case 'store_forgot':
      return [
        `The provider has no request for ${rowText}: ${release}`,
        `The provider has one: ${recordRequest} UUID`,
      ]
    case 'unmatched_request':
      return [
        `Order ${rowText} as well: ${release}`,
        `That request is the order of ${rowText}: ${recordRequest} ${matches?.batchId}`,
      ]
    case 'recent':
    case 'ended_in_error':
      return [`Order ${rowText} again: ${release}`, `Leave ${rowText} out: ${leaveOut}`]
    case 'other_service':
    case 'replaced_package':
    case 'results_open':
    case 'results_unclear':
    case 'same':
    case undefined:
      return [`Order ${rowText}: ${release}`, `Leave ${rowText} out: ${leaveOut}`]
  }
}
