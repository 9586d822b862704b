import { type BatchCheck, checked, count, unlikelyIn } from '../../domain/batch/plan.ts'
import { Duplicates } from '../../domain/batch/duplicates.ts'
import { doubter } from '../../domain/form/implausible.ts'
import type { RowReading } from '../../domain/batch/row.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { ReadableBatch } from './read-columns.ts'

/** Checks a whole file. Nothing is sent. `today` as `YYYY-MM-DD`. */
export function checkBatch(orders: ReadableBatch, today: string): Promise<BatchCheck> {
  return checkedBatch(orders, today, () => undefined)
}

/** The same, with each row as it was read, compared with those before it, in the file's order; those left out are counted. */
export async function checkedBatch(
  orders: ReadableBatch,
  today: string,
  onRow: (reading: RowReading, ordinal: number) => void,
): Promise<BatchCheck> {
  const check: BatchCheck = {
    rows: 0,
    valid: 0,
    invalid: 0,
    leftOut: 0,
    problems: [],
    duplicates: [],
    lines: [],
    changes: [],
    unlikely: [],
    packages: new Map(),
  }
  const duplicates = new Duplicates()
  const doubters = new Map([...orders.schemas].map(([id, schema]) => [id, doubter(schema, today)]))
  const doubts = orders.doubts()
  let ordinal = -1
  for await (const rows of orders.sheet.parts()) {
    for (const row of rows) {
      ordinal += 1
      if (doubts.leavesOut(row)) {
        check.leftOut += 1
        continue
      }
      const reading = checked(orders.read(row), duplicates)
      count(check, reading)
      const doubtful = doubters.get(reading.packageId ?? 0)
      if (doubtful !== undefined) check.unlikely.push(...unlikelyIn(reading, doubtful))
      onRow(reading, ordinal)
    }
  }
  const { firstBytes, samples } = doubts
  if (firstBytes !== undefined) {
    throw await orders.sheet.undecided(`"${firstBytes.column}" on line ${String(firstBytes.line)}`, samples)
  }
  const refusal = doubts.refusal({
    name: orders.sheet.name,
    headerLine: orders.sheet.headerLine,
    merged: orders.sheet.merged(),
    struckByRule: orders.sheet.look().struckByRule,
  })
  if (refusal !== undefined) throw refusal
  if (check.rows > 0) return check
  throw new InvalidInputError(`${orders.sheet.name}: it has a header but no rows`, {
    hint: 'Add a row for each person.',
  })
}
