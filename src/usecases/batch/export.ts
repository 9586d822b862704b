import type { RowFilter } from '../../domain/batch/batch.ts'
import { exported, type ExportedRow } from '../../domain/batch/export.ts'
import type { ResultsOf } from '../../domain/batch/results-columns.ts'
import type { Batches } from '../../store/ledger/batches.ts'

/** Rows with the values they were or will be ordered with, in the order of the file. */
export async function allRows(
  batches: Batches,
  { id: batchId, ...of }: ResultsOf & { id: string },
  filter: RowFilter,
): Promise<ExportedRow[]> {
  const rows: ExportedRow[] = []
  const bodies = batches.bodies(batchId, filter)[Symbol.asyncIterator]()
  try {
    let next = await bodies.next()
    for await (const row of batches.rows(batchId, filter)) {
      while (next.done !== true && next.value.row < row.row) next = await bodies.next()
      const body = next.done !== true && next.value.row === row.row ? next.value.body : undefined
      rows.push(exported(row, body, of))
    }
    return rows
  } finally {
    await bodies.return?.()
  }
}
