import type { AnnotatedRow } from '../../sheets/rewrite.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import { headerName } from '../../domain/batch/columns.ts'
import type { RowProblem } from '../../domain/batch/row.ts'

/** What is put at the end of a person's own columns where a row is not fit to be ordered. */
export const errorColumns = [
  'refcheck_row',
  'refcheck_column',
  'refcheck_problem',
  'refcheck_suggestion',
] as const

/** The rows to fix, as they are there, with everything that is wrong with each. */
export async function* rowsToFix(
  sheet: Sheet,
  problems: readonly RowProblem[],
): AsyncGenerator<AnnotatedRow> {
  const byRow = Map.groupBy(problems, ({ row }) => row)
  const columns = new Map(sheet.columns.map((column, at) => [headerName(column), at]))
  for await (const row of sheet.rows()) {
    const found = byRow.get(row.row)
    if (found === undefined) continue
    const said = (text: (problem: RowProblem) => string | undefined): string =>
      found.flatMap((problem) => text(problem) ?? []).join('; ')
    const refused = new Set(found.map(({ column }) => columns.get(column) ?? -1))
    yield {
      row,
      refused,
      added: [
        { kind: 'number', text: String(row.row), value: row.row, format: 'General' },
        said(({ column }) => column),
        said(({ column, problem }) => (found.length === 1 ? problem : `${column} ${problem}`)),
        said(({ suggestion }) => suggestion),
      ],
    }
  }
}
