import { resultCells, resultColumns, type ResultsOf } from '../../domain/batch/results-columns.ts'
import type { AnnotatedRow } from '../../sheets/rewrite.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import type { Batches } from '../../store/ledger/batches.ts'

/** Every row of the file as it is there, with what became of it. Rows nobody took in are left bare. */
export async function* resultRows(
  sheet: Sheet,
  batches: Batches,
  { id: batchId, ...of }: ResultsOf & { id: string },
): AsyncGenerator<AnnotatedRow> {
  const everyColumn = new Set(sheet.columns.keys())
  const taken = batches.rows(batchId)[Symbol.asyncIterator]()
  try {
    let next = await taken.next()
    for await (const row of sheet.rows()) {
      while (next.done !== true && next.value.row < row.row) next = await taken.next()
      const found = next.done !== true && next.value.row === row.row ? next.value : undefined
      const refused = found?.state === 'invalid' ? everyColumn : undefined
      const isUnseen = row.hidden === true || (row.struck ?? []).length > 0
      yield {
        row,
        refused,
        leftOut: found === undefined && isUnseen,
        added: found === undefined ? resultColumns.map(() => '') : resultCells(found, of),
      }
    }
  } finally {
    await taken.return(undefined)
  }
}
