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
