import { checkedBatch } from './check.ts'
import type { NewRow } from '../../domain/batch/batch.ts'
import { type Intake, newRow } from '../../domain/batch/intake.ts'
import type { Orders } from './understand-orders.ts'

/** Checks every row and makes of each what the store keeps of it. */
export async function takeIn(orders: Orders): Promise<Intake> {
  const rows: NewRow[] = []
  const check = await checkedBatch(orders, (reading) => rows.push(newRow(reading)))
  return { check, rows }
}
