import { type Dialect, placeOf } from '../domain/sheet/cell.ts'
import { limits } from './limits.ts'
import { refusal, shown } from './refusal.ts'

/** For a table whose first row has one cell and the next has more. */
export const titleHint = 'If a title stands above the header, delete it: the first row names the columns.'

/**
 * The columns of a header: every name once, white space around it not counted. Cells without a name after
 * the last name are dropped; rows may hold nothing there.
 */
export function headerOf(cells: readonly string[], dialect: Dialect, line: number, name: string): string[] {
  const columns = [...cells]
  while (columns.length > 0 && columns.at(-1)?.trim() === '') columns.pop()
  if (columns.length > limits.columns) {
    throw refusal(
      name,
      `it has ${String(columns.length)} columns, and at most ${String(limits.columns)} are read`,
      'Leave out what is not about the requests.',
    )
  }
  const seen = new Map<string, number>()
  for (const [at, column] of columns.entries()) {
    const key = column.trim()
    if (key === '') continue
    const first = seen.get(key)
    if (first !== undefined) {
      throw refusal(
        name,
        `the column ${shown(key)} is there twice: ${placeOf(dialect, line, first)} and ${placeOf(dialect, line, at)}`,
        'Give each column a name of its own.',
      )
    }
    seen.set(key, at)
  }
  return columns.map((column) => (column.trim() === '' ? '' : column))
}
