import type { Submission } from '../submission/submission.ts'

/**
 * What the provider may say of an order whose outcome is unknown, and the command that records each answer, side by
 * side ("Settling an unknown"). `email`: the recipient's, where it is shown. A row without its recipient cannot be ordered again.
 */
export function threeAnswers(
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
