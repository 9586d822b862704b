import type { BatchRow } from '../../domain/batch/batch.ts'
import type { Cell } from '../../domain/sheet/cell.ts'
import type { AnnotatedRow } from '../../sheets/rewrite.ts'
import type { Sheet } from '../../sheets/sheet.ts'
import { listedRow } from '../../domain/batch/standing.ts'
import type { Batches } from '../../store/ledger/batches.ts'

/** What is put at the end of a person's own columns. */
export const resultColumns = [
  'refcheck_state',
  'refcheck_request_id',
  'refcheck_status',
  'refcheck_error',
] as const

/** Every row of the file as it is there, with what became of it. Rows nobody took in are left bare. */
export async function* resultRows(
  sheet: Sheet,
  batches: Batches,
  batchId: string,
): AsyncGenerator<AnnotatedRow> {
  const everyColumn = new Set(sheet.columns.keys())
  const taken = batches.rows(batchId)[Symbol.asyncIterator]()
  try {
    let next = await taken.next()
    for await (const row of sheet.rows()) {
      while (next.done !== true && next.value.row < row.row) next = await taken.next()
      const found = next.done !== true && next.value.row === row.row ? next.value : undefined
      const refused = found?.state === 'invalid' ? everyColumn : undefined
      yield { row, refused, added: found === undefined ? resultColumns.map(() => '') : resultCells(found) }
    }
  } finally {
    await taken.return(undefined)
  }
}

function resultCells(row: BatchRow): Cell[] {
  const { state, request_id, error } = listedRow(row)
  return [state, request_id ?? '', row.requestStatus ?? '', error ?? '']
}
