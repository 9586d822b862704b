import type { AnnotatedRow } from '../../sheets/rewrite.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { RowProblem } from '../../domain/batch/row-reading.ts'

/** What is put at the end of a person's own columns where a row is not fit to be ordered. */
export const errorColumns = [
  'refcheck_row',
  'refcheck_column',
  'refcheck_problem',
  'refcheck_suggestion',
] as const

/** The rows to mend, as they are there, with everything that is wrong with each. */
export async function* rowsToMend(
  sheet: Sheet,
  problems: readonly RowProblem[],
): AsyncGenerator<AnnotatedRow> {
  const byRow = Map.groupBy(problems, ({ row }) => row)
  for await (const row of sheet.rows()) {
    const found = byRow.get(row.row)
    if (found === undefined) continue
    const said = (text: (problem: RowProblem) => string | undefined): string =>
      found.flatMap((problem) => text(problem) ?? []).join('; ')
    yield {
      row,
      added: [
        { kind: 'number', text: String(row.row), value: row.row, format: 'General' },
        said(({ column }) => column),
        said(({ column, problem }) => (found.length === 1 ? problem : `${column} ${problem}`)),
        said(({ suggestion }) => suggestion),
      ],
    }
  }
}
