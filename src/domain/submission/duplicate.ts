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
      `${what} was ordered for ${who} before: request ${match.requestId}, on ${when}, ` +
        `last seen ${match.requestStatus}`,
      `"refcheck request get ${match.requestId}" shows it; to order it once more all the same, add --allow-duplicate.`,
    ]
  }
  if (match.state === 'pending') {
    return [
      `${what} is waiting to be ordered for ${who} by another command, since ${when} (batch ${match.batchId})`,
      'Let that one do it; to order it once more all the same, add --allow-duplicate.',
    ]
  }
  if (match.state === 'sending') {
    return [
      `${what} is being ordered for ${who} by another command, since ${when}`,
      'Wait until that one has ended; "refcheck request list" then shows what came of it.',
    ]
  }
  return [
    `${what} was sent for ${who} on ${when}, and whether it was ordered is unknown`,
    `${lookFirst(match.offeredId)} --allow-duplicate does not go past it.`,
  ]
}

/** What to do about an order whose outcome is unknown. */
export function lookFirst(offeredId: string | undefined): string {
  const named =
    offeredId === undefined ? '' : ` Its answer named ${offeredId}: try "refcheck request get ${offeredId}".`
  return (
    'It may have been ordered, so settle it before anything is sent again, with "refcheck batch reconcile"; ' +
    `where that finds no proof, ask the people of the service whether they have a request for this person.${named}`
  )
}

/** Wall time to the minute, in UTC. */
function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
