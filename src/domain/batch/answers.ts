/**
 * What the provider may say of an order whose outcome is unknown, and the command that records each answer, side by
 * side ("Settling an unknown"). `email`: the recipient's, where it is known.
 */
export function threeAnswers(batchId: string, row: number, email = 'EMAIL'): string {
  const command = `refcheck batch reconcile ${batchId} --row ${row}`
  return [
    'Ask the provider whether they have a request for this person, and record the answer.',
    `They have it: ${command} --request-id UUID`,
    `They do not have it, order it now (a new order): ${command} --confirm-email ${email}`,
    `Nobody knows, never send it (the same order stays refused): ${command} --drop`,
  ].join('\n')
}
