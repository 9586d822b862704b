import { DuplicateError } from '../../errors/kinds.ts'
import type { Submission } from './submission.ts'

/** Why an order is not made again: what it matches, when that was ordered, and how to go on. */
export function duplicateOf(match: Submission): DuplicateError {
  const [message, hint] = sentences(match)
  return new DuplicateError(message, { hint })
}

function sentences(match: Submission): [message: string, hint: string] {
  const what = `package ${match.packageId}`
  const who = match.recipient === undefined ? 'this person' : `"${match.recipient.email}"`
  const when = moment(match.attemptedAt ?? match.addedAt)
  if (match.state === 'accepted') {
    return [
      `${what} was already ordered for ${who}: request ${match.requestId}, on ${when}, ` +
        `last seen ${match.requestStatus}`,
      `To order it once more, add --allow-duplicate. Show the request with: refcheck request get ${match.requestId}`,
    ]
  }
  if (match.state === 'pending') {
    return [
      `${what} is queued for ${who} since ${when} (batch ${match.batchId})`,
      'To order it once more, add --allow-duplicate. Show the batch with: refcheck batch status ${match.batchId}',
    ]
  }
  if (match.state === 'sending') {
    return [
      `${what} is being ordered for ${who} by another command, since ${when}`,
      'Wait until that command has ended, then see the result with: refcheck request list',
    ]
  }
  return [
    `${what} was sent for ${who} on ${when} with an unknown outcome`,
    settleHint(match.offeredId, '--allow-duplicate does not override this. '),
  ]
}

/** What to do about an order whose outcome is unknown; `more` is said before the command. */
export function settleHint(offeredId: string | undefined, more = ''): string {
  const named = offeredId === undefined ? '' : `The answer named request ${offeredId}. `
  return `It may have been ordered, so it is not sent again. ${named}${more}Settle it with: refcheck batch reconcile`
}

/** Wall time to the minute, in UTC. */
function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
