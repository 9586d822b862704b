import { InvalidInputError } from '../../errors/kinds.ts'
import { Duplicates } from './duplicates.ts'
import type { Orders } from './orders.ts'
import type { RowChange, RowProblem, RowReading } from './row.ts'

/** What checking a file found (cli-contract, `batch validate --json`). */
export interface BatchCheck {
  rows: number
  valid: number
  invalid: number
  problems: RowProblem[]
  /** The row that came first, and the one that orders the same again. */
  duplicates: [first: number, again: number][]
  /** Values that will be sent otherwise than they stand; the first ones. */
  changes: RowChange[]
  changed: number
  /** Orders of each package that would be sent. */
  packages: Map<number, number>
}

/** Enough to review; the plan says how many there are. */
const mostChanges = 500

function checked(reading: RowReading, duplicates: Duplicates): RowReading {
  reading.duplicateOf = duplicates.firstOf(reading.row, reading.packageId, reading.person)
  return reading
}

/** Checks a whole file. Nothing is sent. */
export function checkBatch(orders: Orders): Promise<BatchCheck> {
  return checkedBatch(orders, () => undefined)
}

/** The same, with each row as it was read, compared with those before it, in the file's order. */
export async function checkedBatch(
  orders: Orders,
  onRow: (reading: RowReading) => void,
): Promise<BatchCheck> {
  const check: BatchCheck = {
    rows: 0,
    valid: 0,
    invalid: 0,
    problems: [],
    duplicates: [],
    changes: [],
    changed: 0,
    packages: new Map(),
  }
  const duplicates = new Duplicates()
  for await (const rows of orders.sheet.parts()) {
    for (const row of rows) {
      const reading = checked(orders.read(row), duplicates)
      count(check, reading)
      onRow(reading)
    }
  }
  if (check.rows > 0) return check
  throw new InvalidInputError(`${orders.sheet.name}: it has a header and no rows`, {
    hint: 'Add a row for each person.',
  })
}

function count(check: BatchCheck, { row, problems, changes, duplicateOf, packageId }: RowReading): void {
  check.rows += 1
  if (problems.length > 0) {
    check.invalid += 1
    check.problems.push(...problems)
  } else {
    check.valid += 1
  }
  if (duplicateOf !== undefined) check.duplicates.push([duplicateOf, row])
  else if (problems.length === 0 && packageId !== undefined) {
    check.packages.set(packageId, (check.packages.get(packageId) ?? 0) + 1)
  }
  if (changes.length === 0) return
  check.changed += changes.length
  if (check.changes.length < mostChanges) check.changes.push(...changes)
}

/** What a command fails with where rows are bad; undefined where none is. */
export function badRows(
  { rows, invalid, problems }: BatchCheck,
  name: string,
): InvalidInputError | undefined {
  if (invalid === 0) return undefined
  const [first] = problems
  return new InvalidInputError(
    `${name}: ${String(invalid)} of ${String(rows)} rows ${invalid === 1 ? 'is' : 'are'} not fit to be ordered`,
    {
      hint: 'Nothing was sent. Mend them, then run this again; --errors FILE writes them all down.',
      field: first?.column,
    },
  )
}
