import { checkedBatch } from './check.ts'
import { newRow, PackedRows } from '../../domain/batch/new-row.ts'
import type { CheckedFile } from '../../domain/batch/plan.ts'
import type { ReadableBatch } from './read-columns.ts'
import type { Witnesses } from './witnesses.ts'

/** Checks every row and makes of each what the store keeps of it. `today` as `YYYY-MM-DD`. */
export async function checkFile(
  orders: ReadableBatch,
  today: string,
  witnesses: Witnesses | 'not heard' | undefined,
): Promise<CheckedFile> {
  const heard = witnesses === 'not heard' ? undefined : witnesses
  const rows = new PackedRows({ ignoresResults: witnesses === 'not heard' })
  const check = await checkedBatch(orders, today, (reading, ordinal) => {
    rows.push(newRow(reading))
    heard?.collect(reading, ordinal)
  })
  await heard?.attach(rows)
  return { check, rows }
}
