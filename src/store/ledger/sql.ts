import { statusRank } from '../../contract/statuses.ts'

/** `('pending', 'sending')`: words of our own as a list of SQL. */
export function sqlList(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(', ')})`
}

/** How far on the status in an expression is; one that the contract does not know counts as the furthest. */
export function sqlStatusRank(expression: string): string {
  const known = Object.entries(statusRank).map(([status, rank]) => `WHEN '${status}' THEN ${rank}`)
  return `CASE ${expression} ${known.join(' ')} ELSE ${Math.max(...Object.values(statusRank))} END`
}

/**
 * Whether a row of submissions is of the service in an expression, or of one that a person has said to be the same; NULL
 * there stands for any.
 */
export function sqlIsOfService(row: string, baseUrl: string): string {
  return `(${baseUrl} IS NULL OR EXISTS (
    SELECT 1 FROM batches WHERE batches.id = ${row}.batch_id AND (batches.base_url = ${baseUrl} OR EXISTS (
      SELECT 1 FROM joined_services joined WHERE joined.same = 1 AND (
        (joined.one = batches.base_url AND joined.other = ${baseUrl}) OR
        (joined.other = batches.base_url AND joined.one = ${baseUrl}))))))`
}
