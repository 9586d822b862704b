import { all, type Dialect, type Insert, type NewRow, type Work } from './engine.ts'

/** More rows would make one statement too large. */
export const maxRows = 500

/** Adds rows in their order; what `ending` returns of them. */
export function* insertRows<Row>(dialect: Dialect, insert: Insert, rows: readonly NewRow[]): Work<Row[]> {
  const { sql, values } = dialect.insert(insert)
  const found: Row[] = []
  for (let at = 0; at < rows.length; at += maxRows) {
    for (const each of values(rows.slice(at, at + maxRows))) {
      for (const row of yield* all<Row>(sql, each)) found.push(row)
    }
  }
  return found
}
