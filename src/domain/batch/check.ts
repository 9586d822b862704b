import { personName } from '../wording/shown-name.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import type { Doubt } from '../form/implausible.ts'
import { countInWords } from '../wording/count-in-words.ts'
import { Duplicates } from './duplicates.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import type { RowChange, RowProblem, RowReading, UnlikelyValue } from './row-reading.ts'

/** What checking a file found (cli-contract, `batch validate --json`). */
export interface BatchCheck {
  rows: number
  valid: number
  invalid: number
  /** Rows that are hidden or struck through, and not ordered for that; no part of `rows`. */
  leftOut: number
  problems: RowProblem[]
  /** The row that came first, and the one that orders the same again. */
  duplicates: [first: number, again: number][]
  /** Where a row stands as a spreadsheet program counts, by row. */
  lines: number[]
  /** Values that are changed before sending, every one. */
  changes: RowChange[]
  /** Of rows that are valid. */
  unlikely: UnlikelyValue[]
  /** Orders of each package that would be sent. */
  packages: Map<number, number>
}

export function checked(reading: RowReading, duplicates: Duplicates): RowReading {
  reading.duplicateOf = duplicates.firstOf(reading.row, reading.packageId, reading.person)
  return reading
}

export function count(
  check: BatchCheck,
  { row, source, problems, changes, duplicateOf, packageId }: RowReading,
): void {
  check.lines[row] = source.line
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
  if (changes.length > 0) check.changes.push(...changes)
}

/** What of a valid row is improbable, as it is told. */
export function unlikelyIn(
  { row, source, body, person }: RowReading,
  doubts: (body: RequestBody) => readonly Doubt[],
): UnlikelyValue[] {
  if (body === undefined) return []
  return doubts(body).map(({ field, value, doubt }) => ({
    row,
    line: source.line,
    person: personName(person),
    column: field.column,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    problem: doubt,
  }))
}

/** What a command fails with where rows are bad; undefined where none is. */
export function badRows(
  { rows, valid, invalid, problems }: BatchCheck,
  name: string,
  /** The command that writes the invalid rows to a file; undefined where the file cannot be read again. */
  errorsCommand?: string,
  /** Whether the command can leave them out. */
  canSkip = false,
): InvalidInputError | undefined {
  if (invalid === 0) return undefined
  const [first] = problems
  const others = canSkip && valid > 0 ? ', or add --on-invalid skip to order the valid rows only' : ''
  return new InvalidInputError(
    `${name}: ${String(invalid)} of ${countInWords(rows, 'row')} ${invalid === 1 ? 'is' : 'are'} invalid`,
    {
      hint:
        errorsCommand === undefined
          ? `Nothing was sent. Fix the invalid rows, then run it again${others}.`
          : `Nothing was sent. Fix the file and run it again${others}${others === '' ? ', or write' : '. Write'} the invalid rows to a file with: ${errorsCommand}`,
      field: first?.column,
    },
  )
}
