import type { Recipient } from '../../contract/request.ts'
import { personName, personWithEmail } from '../wording/text.ts'
import { type OrderInError, DuplicateError } from '../../errors/kinds.ts'
import type { Shared } from './similarity.ts'
import type { Conflict, ConflictReason } from './conflicts.ts'
import type { Submission } from './submission.ts'
import { localTime } from '../wording/time.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { isUnmatched } from './unmatched.ts'
import { externalResultPosition } from './external-results.ts'

/** Why an order to `baseUrl` is not made: what it matches, when that was ordered, and how to go on. */
export function refusedOrder(stop: Conflict, baseUrl: string): DuplicateError {
  const [message, hint] = sentences(stop, baseUrl)
  return new DuplicateError(message, { hint, order: conflictingOrder(stop) })
}

/** What is matched, as scripts read it. */
export function conflictingOrder({ order, reason, shares, externalResult }: Conflict): OrderInError {
  const isExact =
    reason === 'same' ||
    reason === 'other_service' ||
    reason === 'replaced_package' ||
    (reason === 'unmatched_request' && shares.length === 0)
  return {
    requestId: order.requestId,
    // A results file alone may tell of it.
    ...(externalResult === undefined && !isUnmatched(order) && { batchId: order.batchId, row: order.row }),
    match: isExact ? 'exact' : 'similar',
  }
}

/** What an order conflicts with, as a sentence without its end. */
export function conflictMessage(stop: Conflict): string {
  return sentences(stop, stop.order.baseUrl)[0]
}

function sentences(stop: Conflict, baseUrl: string): [message: string, hint: string] {
  const { order, reason, shares } = stop
  switch (reason) {
    case 'store_forgot':
    case 'same':
    case 'recent':
    case 'ended_in_error':
    case 'results_open':
    case 'results_unclear':
      return sameSentences(order)
    case 'unmatched_request':
      return unmatchedSentences(stop)
    case 'similar':
      return [
        `somebody similar was ordered: ${whatOf(order)} for ${personOf(order)} has the same ${sharedText(shares)}`,
        'Nothing was sent. If these are two people, or this is meant to be ordered again, add --allow-similar.',
      ]
    case 'similar_unknown':
      return [
        `somebody similar may have been ordered: ${whatOf(order)} for ${personOf(order)} has the same ${sharedText(shares)}`,
        `Nothing was sent. Settle that order first: ${reconcileCommand(order)}`,
      ]
    case 'other_service':
      return [
        `${whatOf(order)} for this person was ordered at ${order.baseUrl}`,
        `Nothing was sent. ${sameServiceHint(order.baseUrl, baseUrl)}`,
      ]
    case 'replaced_package':
      return [
        `package ${order.packageId}, which this package seems to replace, was ordered for this person: ${requestOf(order)}, on ${localTime(order.attemptedAt ?? order.addedAt)}`,
        'Nothing was sent. To order this package as well, add --allow-similar.',
      ]
  }
}

function sameSentences(match: Submission): [message: string, hint: string] {
  const what = `package ${match.packageId}`
  const who = match.recipient === undefined ? 'this person' : `"${match.recipient.email}"`
  const when = localTime(match.attemptedAt ?? match.addedAt)
  if (match.state === 'accepted') {
    // An order that was recovered is not read yet.
    const readAt = localTime(match.requestStatusAt ?? match.changedAt)
    const read = readAt === when ? 'when it was ordered' : `on ${readAt}`
    const seen = match.requestStatus === undefined ? '' : `, last seen ${match.requestStatus} ${read}`
    return [
      `${what} was already ordered for ${who}: request ${match.requestId}, on ${when}${seen}`,
      `To order it once more, add --allow-duplicate. Show the request with: refcheck request get ${match.requestId}`,
    ]
  }
  if (match.state === 'pending') {
    return [
      `${what} is queued for ${who} in batch ${match.batchId} (row ${match.row}), since ${when}`,
      `Resume that batch with: refcheck batch resume ${match.batchId}`,
    ]
  }
  if (match.state === 'sending') {
    return [
      `${what} is being ordered for ${who} by another command, since ${when}`,
      'Wait until that command has ended, then see the result with: refcheck request list',
    ]
  }
  return [
    `${what} was sent for ${who} on ${when} with an unknown outcome${match.state === 'dropped' ? ', and dropped' : ''}`,
    reconcileHint(match, '--allow-duplicate does not override this. '),
  ]
}

/** The earlier order of the same person, as a sentence for the question whether to order again. */
export function repeatedOrderText({ order }: Conflict, person: Recipient): string {
  const status = order.requestStatus === undefined ? '' : `, last read ${order.requestStatus}`
  const when = localTime(order.attemptedAt ?? order.addedAt)
  return `${personName(person)} was already ordered on ${when} (package ${order.packageId}${status}).`
}

function unmatchedSentences({ order, shares }: Conflict): [message: string, hint: string] {
  const flag = shares.length === 0 ? '--allow-duplicate' : '--allow-similar'
  return [
    `${unmatchedText(order.requestId, shares)}: package ${order.packageId}, on ${localTime(order.changedAt)}`,
    `Nothing was sent. See who ordered it: refcheck request get ${order.requestId}\nTo order it all the same, add ${flag}.`,
  ]
}

/** Why a request that no row of the store ordered holds a row, as a clause. */
export function unmatchedText(requestId: string | undefined, shares: readonly Shared[]): string {
  const person = shares.length === 0 ? 'this person' : `somebody with the same ${sharedText(shares)}`
  return `request ${requestId}, which was not ordered with this store, is for ${person}`
}

const whatOf = (order: Submission): string =>
  `package ${order.packageId} (${requestOf(order)}, ${localTime(order.attemptedAt ?? order.addedAt)})`

const requestOf = (order: Submission): string =>
  order.requestId === undefined
    ? `row ${order.row} of batch ${order.batchId}, ${order.state}`
    : `request ${order.requestId}`

/** The person by name. */
export function personOf({ recipient }: Pick<Submission, 'recipient'>): string {
  return recipient === undefined ? 'somebody who was removed from this store' : personWithEmail(recipient)
}

/** What a row conflicts with, and why, in one clause. */
export function conflictText({ order, reason, shares, externalResult }: Conflict): string {
  if (reason === 'unmatched_request') return unmatchedText(order.requestId, shares)
  return `${externalResult === undefined ? personOf(order) : externalResultPosition(externalResult)} ${heldReasonTexts[reason]}`
}

/** `e-mail and phone`. */
export function sharedText(shares: readonly Shared[]): string {
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

/** Says once whether two base URLs are one service: a command for each answer. */
export function sameServiceHint(one: string, other: string): string {
  const command = `refcheck store same-service ${shellWord(one)} ${shellWord(other)}`
  return [
    'Say once whether the two URLs are the same service.',
    `They are the same: ${command}`,
    `They are different: ${command} --different`,
  ].join('\n')
}

type Unsettled = Pick<Submission, 'batchId' | 'row' | 'state'>

/** Reconciling by evidence comes first; about a dropped row a person decided without evidence. */
function reconcileCommand({ batchId, row, state }: Unsettled): string {
  return `refcheck batch reconcile ${batchId}${state === 'dropped' ? ` --row ${row}` : ''}`
}

/** What to do about an order whose outcome is unknown; `more` is said before the command. */
export function reconcileHint(order: Unsettled & Pick<Submission, 'offeredId'>, more = ''): string {
  const { offeredId } = order
  const named = offeredId === undefined ? '' : `The answer named request ${offeredId}. `
  return `It may have been ordered, so it is not sent again. ${named}${more}Settle it with: ${reconcileCommand(order)}`
}
