import { hash } from 'node:crypto'

import { InvalidInputError, type RefcheckError } from '../../errors/kinds.ts'
import type { BatchCounts, BatchPreview, NewRow } from './batch.ts'
import type { OrderToConfirm } from '../submission/confirmation.ts'
import { type AllowFlags, choicesOf, fileCommand } from './file-command.ts'
import type { FileReading } from './new-row.ts'
import type { RowChange, UnlikelyValue, RowProblem, RowReading } from './row.ts'
import type { Recipient, RequestBody } from '../../contract/request.ts'
import type { ConflictReason } from '../submission/conflicts.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { parseJsonOrUndefined } from '../../contract/parse-json.ts'
import { personName, formatCount } from '../wording/text.ts'
import type { ImplausibleValue } from '../form/implausible.ts'
import { type ConflictCounts, countConflicts } from './conflict-counts.ts'
import { areAllOrderedBefore, notStartedError } from './verdict.ts'
import { conflictInError } from '../submission/duplicate.ts'
import { noPlus } from '../form/recipient.ts'
import { personKey } from '../submission/identity.ts'

export type Plan = ReturnType<typeof createPlan>

/** Returns a list with the row and `details`; an empty list for a row that is invalid or repeats another row. */
function pendingRowWith<Details extends object>(row: NewRow, details: Details) {
  if (row.state !== 'pending') return []
  return [{ row: row.row, line: row.line, person: row.recipient, ...details }]
}

/** Returns what a run of a file would do. */
export function createPlan(
  check: BatchCheck,
  { counts, packages, conflicts, phoneSharers, namesakes, namesakesInFile, people }: BatchPreview,
  {
    batchId,
    seconds,
    now,
    packageNames,
  }: { batchId: string; seconds: number; now: number; packageNames: ReadonlyMap<number, string> },
) {
  const duplicates = conflicts.filter(({ conflict }) => conflict.becomes === 'duplicate')
  const matches = duplicates.filter(({ conflict }) => conflict.order.batchId !== batchId)
  const repeats = duplicates.filter(({ conflict }) => conflict.order.batchId === batchId)
  const rowsNotSent = new Set([
    ...conflicts.map(({ row }) => row.row),
    ...check.duplicates.map(([, row]) => row),
    ...check.problems.map(({ row }) => row),
  ])
  return {
    /** The id that the batch of the file would have. */
    batchId,
    counts,
    /** Improbable values of the rows that would be sent. */
    unlikely: check.unlikely.filter(({ row }) => !rowsNotSent.has(row)),
    /** Values that would be changed before sending, of the rows that would be sent. */
    changes: check.changes.filter(({ row }) => !rowsNotSent.has(row)),
    /** The number of orders of each package that would be sent; the greatest number comes first. */
    packages: [...packages]
      .map(([package_id, orders]) => ({ package_id, name: packageNames.get(package_id), orders }))
      .sort((a, b) => b.orders - a.orders),
    /** Rows that are not sent because they conflict with an earlier order. */
    matches: matches.map(({ row, conflict }) => ({
      row: row.row,
      line: check.lines[row.row],
      person: row.state === 'pending' ? row.recipient : conflict.order.recipient,
      conflict,
    })),
    /** Rows that are not sent because they repeat an earlier row of the file. */
    repeated: repeatedRows(check, repeats, new Set(conflicts.map(({ row }) => row.row))),
    /** Rows that are not sent until they are released, with their conflicts. */
    held: conflicts.flatMap(({ row, conflict }) =>
      conflict.becomes === 'held' ? pendingRowWith(row, { conflict }) : [],
    ),
    /** Rows that would be sent and have the phone of another person, with that person's order. */
    phoneSharers: phoneSharers.flatMap(({ row, order }) => pendingRowWith(row, { order })),
    /** Rows whose name, but not e-mail and phone, is that of a person who was ordered at `orderedAt`. */
    namesakes: namesakes.flatMap(({ row, orderedAt }) => pendingRowWith(row, { orderedAt })),
    /** Rows whose name, but not e-mail and phone, is that of an earlier row of the file. */
    namesakesInFile: namesakesInFile.flatMap(({ row, earlier }) =>
      pendingRowWith(row, { earlier: { row: earlier.row, line: check.lines[earlier.row] } }),
    ),
    /** The first people who would be ordered. */
    people,
    check,
    /** How many seconds it takes to send all orders within the quota, of which earlier calls have used a part. */
    seconds,
    /** When the last order would be sent; wall time in milliseconds. */
    endsAt: now + seconds * 1000,
  }
}

/** Returns the rows that repeat an earlier row of the file. `rowsWithConflict`: the numbers of rows with any conflict. */
function repeatedRows(
  { duplicates, lines, problems }: BatchCheck,
  repeats: BatchPreview['conflicts'],
  rowsWithConflict: ReadonlySet<number>,
): {
  row: number
  line: number | undefined
  name: string
  earlier: { row: number; line: number | undefined }
}[] {
  const nameOfInvalid = new Map(problems.map(({ row, person }) => [row, person]))
  const repeatedRow = (row: number, first: number, name: string) => ({
    row,
    line: lines[row],
    name,
    earlier: { row: first, line: lines[first] },
  })
  return [
    ...repeats.flatMap(({ row, conflict }) =>
      row.state === 'pending' ? [repeatedRow(row.row, conflict.order.row, personName(row.recipient))] : [],
    ),
    // An invalid row is not compared with orders.
    ...duplicates.flatMap(([first, row]) => {
      const name = rowsWithConflict.has(row) ? undefined : nameOfInvalid.get(row)
      return name === undefined ? [] : [repeatedRow(row, first, name)]
    }),
  ].sort((one, other) => one.row - other.row)
}

/** A plan in the form that is written for `batch run --plan`: the file and how it is read. */
export interface StoredPlan {
  refcheck_plan: 1
  file: string
  sha256: string
  base_url: string
  package_id: number | null
  reading: FileReading
  counts: BatchCounts
  /** The first row, and a later row that repeats its order. */
  duplicates: [row: number, row: number][]
  changes: RowChange[]
  /** Missing in plans of earlier versions. */
  unlikely?: Omit<UnlikelyValue, 'person'>[]
  /** `batch_id` is null if only a results file names the order. */
  ordered_before: { row: number; request_id: string | null; batch_id: string | null }[]
  held: { row: number; reason: ConflictReason; request_id: string | null }[]
  allow_duplicate: boolean
  allow_similar: boolean
  shared: string[]
  ignore_results: boolean
  seconds: number
}

export function toStoredPlan(
  { counts, matches, held, check, unlikely, seconds }: Plan,
  fileProperties: Pick<
    StoredPlan,
    | 'file'
    | 'sha256'
    | 'base_url'
    | 'package_id'
    | 'reading'
    | 'allow_duplicate'
    | 'allow_similar'
    | 'shared'
    | 'ignore_results'
  >,
): StoredPlan {
  return {
    refcheck_plan: 1,
    ...fileProperties,
    counts,
    duplicates: check.duplicates,
    changes: check.changes,
    unlikely: unlikely.map(({ row, line, column, value, problem }) => ({
      row,
      line,
      column,
      value,
      problem,
    })),
    ordered_before: matches.map(({ row, conflict: { order, externalResult } }) => ({
      row,
      request_id: order.requestId ?? null,
      batch_id: externalResult === undefined ? order.batchId : null,
    })),
    held: held.map(({ row, conflict }) => ({
      row,
      reason: conflict.reason,
      request_id: conflict.order.requestId ?? null,
    })),
    seconds,
  }
}

/** Parses a plan file. Throws InvalidInputError for any other text. */
export function parsePlan(text: string, name: string): StoredPlan {
  const plan = (parseJsonOrUndefined(text) ?? {}) as Partial<StoredPlan>
  const { refcheck_plan, file, sha256, base_url, reading } = plan
  const isPlan =
    refcheck_plan === 1 &&
    [file, sha256, base_url].every((each) => typeof each === 'string') &&
    typeof reading === 'object'
  if (isPlan) return plan as StoredPlan
  throw new InvalidInputError(`${name} is not a plan`, {
    hint: 'Make a plan with: refcheck batch plan FILE --output plan.json',
  })
}

/** Returns the flags with which conflicts were allowed in a plan. Plans of 0.1.0 do not have them. */
export function allowFlagsOf(plan: Partial<StoredPlan>): AllowFlags {
  const { allow_duplicate = false, allow_similar = false, shared = [], ignore_results = false } = plan
  return {
    allowDuplicate: allow_duplicate,
    allowSimilar: allow_similar,
    shared,
    ignoreResults: ignore_results,
  }
}

/** Returns the hint for planning the present file again with the same options. `name` is the path of the plan. */
export function planAgainHint(plan: StoredPlan, name: string): string {
  const { file, reading, package_id } = plan
  const columns = choicesOf(reading, package_id)
  const trailingWords = ['--output', shellWord(name), '--overwrite']
  return `Plan again with: ${fileCommand('plan', { file, columns, allowed: allowFlagsOf(plan), trailingWords })}`
}

/** Throws InvalidInputError if the file has changed since it was planned. `hint` is the hint for a new plan. */
export function requireUnchanged(plan: StoredPlan, sha256: string, hint: string): void {
  if (plan.sha256 === sha256) return
  throw new InvalidInputError(`${plan.file} has changed since it was planned`, {
    hint: `Nothing was sent. ${hint}`,
  })
}

/** Returns the orders that the user confirms when a run of the plan is started. */
export function ordersToConfirm({ counts, packages, people, unlikely: values }: Plan): OrderToConfirm {
  const [first, ...otherPackages] = packages
  const isOnePackage = first !== undefined && otherPackages.length === 0
  const leftOut = counts.total - counts.pending
  const unlikely = new Set(values.map(({ row }) => row)).size
  return {
    package: isOnePackage ? { id: first.package_id, name: first.name } : undefined,
    count: counts.pending,
    people,
    leftOut,
    unlikely,
  }
}

/** The result of checking a file (src/docs/cli.md, "JSON of batches and reports", `batch validate --json`). */
export interface BatchCheck {
  /** Numbers of all rows, of the valid and of the invalid ones. */
  rows: number
  valid: number
  invalid: number
  /** Rows that are not ordered because they are hidden or struck through. `rows` does not include them. */
  leftOut: number
  problems: RowProblem[]
  /** The first row, and a later row that repeats its order. */
  duplicates: [first: number, again: number][]
  /** The line of each row as a spreadsheet program counts, by row. */
  lines: number[]
  /** All values that are changed before sending. */
  changes: RowChange[]
  /** Improbable values of valid rows. */
  unlikely: UnlikelyValue[]
  /** The number of orders of each package that would be sent. */
  packages: Map<number, number>
}

/** Sets `duplicateOf` of a row that repeats an earlier one, and returns the row. */
export function markDuplicate(reading: RowReading, duplicates: Duplicates): RowReading {
  reading.duplicateOf = duplicates.findFirst(reading.row, reading.packageId, reading.person)
  return reading
}

/** Adds a row to the result of a check. */
export function countRow(
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

/** Returns the improbable values of a valid row, as they are printed. */
export function findUnlikelyValues(
  { row, source, body, person }: RowReading,
  findImplausible: (body: RequestBody) => readonly ImplausibleValue[],
): UnlikelyValue[] {
  if (body === undefined) return []
  return findImplausible(body).map(({ field, value, reason: implausible }) => ({
    row,
    line: source.line,
    person: personName(person),
    column: field.column,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    problem: implausible,
  }))
}

/** Returns the error of a command for a file with invalid rows; undefined if there are none. */
export function invalidRowsError(
  { rows, valid, invalid, problems }: BatchCheck,
  name: string,
  /** The command that writes the invalid rows to a file; undefined if the file cannot be read again. */
  errorsCommand?: string,
  /** Whether the command has a flag that leaves out invalid rows. */
  canSkip = false,
): InvalidInputError | undefined {
  if (invalid === 0) return undefined
  const [first] = problems
  const hasDefaultCountry = errorsCommand?.includes('--default-country ') === true
  const hasPhoneWithoutPlus = !hasDefaultCountry && problems.some(({ problem }) => problem.startsWith(noPlus))
  const skipHint = canSkip && valid > 0 ? ', or add --on-invalid skip to order the valid rows only' : ''
  return new InvalidInputError(
    `${name}: ${invalid} of ${formatCount(rows, 'row')} ${invalid === 1 ? 'is' : 'are'} invalid`,
    {
      hint: [
        errorsCommand === undefined
          ? `Nothing was sent. Fix the invalid rows, then run it again${skipHint}.`
          : `Nothing was sent. Fix the file and run it again${skipHint}${skipHint === '' ? ', or write' : '. Write'} the invalid rows to a file with: ${errorsCommand}`,
        ...(hasPhoneWithoutPlus
          ? ['If all phones without + are of one country, add it, as in: --default-country DE']
          : []),
      ].join('\n'),
      field: first?.column,
    },
  )
}

/** Returns why a planned file is not started; undefined if there is something to send. */
export function planFailure(
  plan: Plan,
  name: string,
  // `skip` is whether invalid rows are left out; undefined if the command cannot leave them out.
  {
    skip,
    errorsCommand,
    isDryRun,
  }: { skip?: boolean | undefined; errorsCommand?: string | undefined; isDryRun?: boolean | undefined },
): RefcheckError | undefined {
  const invalidRows = invalidRowsError(plan.check, name, errorsCommand, skip !== undefined)
  if (invalidRows !== undefined && skip !== true) return invalidRows
  const conflicts = plan.matches.map(({ conflict }) => conflict)
  const [first] = conflicts
  return notStartedError(plan.counts, countConflicts(conflicts), first && conflictInError(first), isDryRun)
}

/** If all rows of the file were ordered before, returns their number and the times of the first and the last order. */
export function findEarlierOrders({
  counts,
  matches,
  repeated,
}: Plan): ConflictCounts['orderedBefore'] | undefined {
  const conflicts = countConflicts(matches.map(({ conflict }) => conflict))
  if (!areAllOrderedBefore(counts, conflicts)) return undefined
  const { orderedBefore } = conflicts
  const repeats = orderedBefore.repeatCounts.ordered + repeated.length
  return { ...orderedBefore, count: counts.total, repeatCounts: { ordered: repeats, all: repeats } }
}

/** Why a value is changed before it is sent. `country`: the calling code of a country was added to a phone. */
export type ChangeKind = 'space' | 'apostrophe' | 'phone' | 'country' | 'number'

export function changeKind({ from, to }: Pick<RowChange, 'from' | 'to'>): ChangeKind {
  if (from.trim() === to) return 'space'
  if (from.startsWith("'")) return 'apostrophe'
  if (!to.startsWith('+')) return 'number'
  return from.trim().startsWith('+') ? 'phone' : 'country'
}

/** Finds rows that order the same package for the same person (src/docs/ordering.md, section 4). */
export class Duplicates {
  readonly #firstRows = new Map<string, number>()

  /** Returns an earlier row with the same package and person; undefined if there is none or the row has no person. */
  findFirst(row: number, packageId: number | undefined, person: Recipient): number | undefined {
    const { first_name, last_name, email, phone } = person
    if (email === '' && phone === '' && first_name === '' && last_name === '') return undefined
    // The hash has 43 characters for names of any length.
    const personText = JSON.stringify([packageId ?? 0, ...personKey(person)])
    const key = hash('sha256', personText, 'base64url')
    const first = this.#firstRows.get(key)
    if (first === undefined) this.#firstRows.set(key, row)
    return first
  }
}
