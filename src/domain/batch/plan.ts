import { hash } from 'node:crypto'

import { InvalidInputError, type RefcheckError } from '../../errors/kinds.ts'
import type { BatchCounts, BatchPreview, NewRow } from './batch.ts'
import type { AboutToOrder } from '../submission/confirmation.ts'
import { type AllowFlags, choicesOf, fileCommand } from './file-command.ts'
import type { FileReading } from './new-row.ts'
import type { RowChange, UnlikelyValue, RowProblem, RowReading } from './row.ts'
import type { Recipient, RequestBody } from '../../contract/request.ts'
import type { ConflictReason } from '../submission/conflicts.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { parseJsonOrUndefined } from '../../contract/parse-json.ts'
import { personName, formatCount } from '../wording/text.ts'
import type { ImplausibleValue } from '../form/implausible.ts'
import { areAllOrderedBefore, type ConflictCounts, countConflicts, notStartedError } from './verdict.ts'
import { conflictingOrder } from '../submission/duplicate.ts'
import { noPlus } from '../form/recipient.ts'
import { personKey } from '../submission/identity.ts'

export type Plan = ReturnType<typeof planOf>

/** A row that is sent or held, with what a plan mentions of it. */
function mentioned<More extends object>(row: NewRow, more: More) {
  if (row.state !== 'pending') return []
  return [{ row: row.row, line: row.line, person: row.recipient, ...more }]
}

/** What running a file would do. */
export function planOf(
  check: BatchCheck,
  { counts, packages, conflicts, phones, names: namesakes, namesInFile, people }: BatchPreview,
  {
    batchId,
    seconds,
    now,
    names,
  }: { batchId: string; seconds: number; now: number; names: ReadonlyMap<number, string> },
) {
  const duplicates = conflicts.filter(({ stop }) => stop.becomes === 'duplicate')
  const matches = duplicates.filter(({ stop }) => stop.order.batchId !== batchId)
  const stopped = new Set([
    ...conflicts.map(({ row }) => row.row),
    ...check.duplicates.map(([, row]) => row),
    ...check.problems.map(({ row }) => row),
  ])
  return {
    /** What the file would be as a batch. */
    batchId,
    counts,
    /** Improbable values of the rows that would be sent. */
    unlikely: check.unlikely.filter(({ row }) => !stopped.has(row)),
    /** Values of the rows that would be sent that are changed before. */
    changes: check.changes.filter(({ row }) => !stopped.has(row)),
    /** Orders of each package that would be sent, the most first. */
    packages: [...packages]
      .map(([package_id, orders]) => ({ package_id, name: names.get(package_id), orders }))
      .sort((a, b) => b.orders - a.orders),
    /** Rows that are not sent since they conflict with an order made before. */
    matches: matches.map(({ row, stop }) => ({
      row: row.row,
      line: check.lines[row.row],
      person: row.state === 'pending' ? row.recipient : stop.order.recipient,
      stop,
    })),
    /** Rows of the file that are the same as an earlier one. */
    repeated: counts.duplicate - matches.length,
    /** Rows that are not sent until they are released, by what they share or match. */
    held: conflicts.flatMap(({ row, stop }) => (stop.becomes === 'held' ? mentioned(row, { stop }) : [])),
    phones: phones.flatMap(({ row, order }) => mentioned(row, { order })),
    names: namesakes.flatMap(({ row, orderedAt }) => mentioned(row, { orderedAt })),
    namesInFile: namesInFile.flatMap(({ row, earlier }) =>
      mentioned(row, { earlier: { row: earlier.row, line: check.lines[earlier.row] } }),
    ),
    people,
    check,
    /** By quota alone, with what was used of it before. */
    seconds,
    /** When the last order would have been sent; wall time in milliseconds. */
    endsAt: now + seconds * 1000,
  }
}

/** A plan as it is written for a later `batch run --plan`: the file it is for, and how it is read. */
export interface StoredPlan {
  refcheck_plan: 1
  file: string
  sha256: string
  base_url: string
  package_id: number | null
  reading: FileReading
  counts: BatchCounts
  duplicates: [row: number, row: number][]
  changes: RowChange[]
  /** Missing in a plan of an earlier version. */
  unlikely?: Omit<UnlikelyValue, 'person'>[]
  /** `batch_id`: null where only a results file names it. */
  ordered_before: { row: number; request_id: string | null; batch_id: string | null }[]
  held: { row: number; reason: ConflictReason; request_id: string | null }[]
  allow_duplicate: boolean
  allow_similar: boolean
  shared: string[]
  ignore_results: boolean
  seconds: number
}

export function storedPlan(
  { counts, matches, held, check, unlikely, seconds }: Plan,
  facts: Pick<
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
    ...facts,
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
    ordered_before: matches.map(({ row, stop: { order, externalResult } }) => ({
      row,
      request_id: order.requestId ?? null,
      batch_id: externalResult === undefined ? order.batchId : null,
    })),
    held: held.map(({ row, stop }) => ({
      row,
      reason: stop.reason,
      request_id: stop.order.requestId ?? null,
    })),
    seconds,
  }
}

/** Reads a plan file; an InvalidInputError for anything else. */
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

/** What a plan allows; one of 0.1.0 says nothing of it. */
export function allowedBy(plan: Partial<StoredPlan>): AllowFlags {
  const { allow_duplicate = false, allow_similar = false, shared = [], ignore_results = false } = plan
  return {
    allowDuplicate: allow_duplicate,
    allowSimilar: allow_similar,
    shared,
    ignoreResults: ignore_results,
  }
}

/** How the same plan is made of the file as it is now; `name`: the file of the plan. */
export function planAgainHint(plan: StoredPlan, name: string): string {
  const { file, reading, package_id } = plan
  const columns = choicesOf(reading, package_id)
  const more = ['--output', shellWord(name), '--overwrite']
  return `Plan again with: ${fileCommand('plan', { file, columns, allowed: allowedBy(plan), more })}`
}

/** A plan is for a file as it was; `again`: how another one is made. */
export function requireUnchanged(plan: StoredPlan, sha256: string, again: string): void {
  if (plan.sha256 === sha256) return
  throw new InvalidInputError(`${plan.file} has changed since it was planned`, {
    hint: `Nothing was sent. ${again}`,
  })
}

/** What a yes to the plan would order. */
export function aboutToOrder({ counts, packages, people, unlikely: values }: Plan): AboutToOrder {
  const [first, ...others] = packages
  const isOne = first !== undefined && others.length === 0
  const leftOut = counts.total - counts.pending
  const unlikely = new Set(values.map(({ row }) => row)).size
  return {
    package: isOne ? { id: first.package_id, name: first.name } : undefined,
    count: counts.pending,
    people,
    leftOut,
    unlikely,
  }
}

/** What checking a file found (src/docs/cli.md, "JSON of batches and reports", `batch validate --json`). */
export interface BatchCheck {
  rows: number
  valid: number
  invalid: number
  /** Rows that are hidden or struck through, and not ordered for that; no part of `rows`. */
  leftOut: number
  problems: RowProblem[]
  /** The row that came first, and the one that orders the same again. */
  duplicates: [first: number, again: number][]
  /** The line of each row as a spreadsheet program counts, by row. */
  lines: number[]
  /** Values that are changed before sending, every one. */
  changes: RowChange[]
  /** Of rows that are valid. */
  unlikely: UnlikelyValue[]
  /** Orders of each package that would be sent. */
  packages: Map<number, number>
}

export function markDuplicate(reading: RowReading, duplicates: Duplicates): RowReading {
  reading.duplicateOf = duplicates.firstOf(reading.row, reading.packageId, reading.person)
  return reading
}

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

/** What of a valid row is improbable, as it is printed. */
export function unlikelyIn(
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

/** What a command fails with where rows are bad; undefined where none is. */
export function invalidRowsError(
  { rows, valid, invalid, problems }: BatchCheck,
  name: string,
  /** The command that writes the invalid rows to a file; undefined where the file cannot be read again. */
  errorsCommand?: string,
  /** Whether the command can leave them out. */
  canSkip = false,
): InvalidInputError | undefined {
  if (invalid === 0) return undefined
  const [first] = problems
  const isOfCountry = errorsCommand?.includes('--default-country ') === true
  const isWithoutPlus = !isOfCountry && problems.some(({ problem }) => problem.startsWith(noPlus))
  const others = canSkip && valid > 0 ? ', or add --on-invalid skip to order the valid rows only' : ''
  return new InvalidInputError(
    `${name}: ${invalid} of ${formatCount(rows, 'row')} ${invalid === 1 ? 'is' : 'are'} invalid`,
    {
      hint: [
        errorsCommand === undefined
          ? `Nothing was sent. Fix the invalid rows, then run it again${others}.`
          : `Nothing was sent. Fix the file and run it again${others}${others === '' ? ', or write' : '. Write'} the invalid rows to a file with: ${errorsCommand}`,
        ...(isWithoutPlus
          ? ['If all phones without + are of one country, add it, as in: --default-country DE']
          : []),
      ].join('\n'),
      field: first?.column,
    },
  )
}

/** Why a planned file is not begun; undefined where there is something to send. */
export function planFailure(
  plan: Plan,
  name: string,
  // `skip`: whether invalid rows are left out; undefined where they cannot be.
  { skip, errorsCommand }: { skip?: boolean | undefined; errorsCommand?: string | undefined },
): RefcheckError | undefined {
  const bad = invalidRowsError(plan.check, name, errorsCommand, skip !== undefined)
  if (bad !== undefined && skip !== true) return bad
  const conflicts = plan.matches.map(({ stop }) => stop)
  const [first] = conflicts
  return notStartedError(plan.counts, countConflicts(conflicts), first && conflictingOrder(first))
}

/** Where all rows of a file were ordered before: how many, and when the first and the last. */
export function orderedBefore({ counts, matches }: Plan): ConflictCounts['ordered'] | undefined {
  const conflicts = countConflicts(matches.map(({ stop }) => stop))
  return areAllOrderedBefore(counts, conflicts) ? { ...conflicts.ordered, count: counts.total } : undefined
}

/** Why a value is changed before it is sent. */
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

  /** The row that was given before for the same; undefined for the first one, and for a row without a person. */
  firstOf(row: number, packageId: number | undefined, person: Recipient): number | undefined {
    const { first_name, last_name, email, phone } = person
    if (email === '' && phone === '' && first_name === '' && last_name === '') return undefined
    // 43 characters, however long the names are.
    const named = JSON.stringify([packageId ?? 0, ...personKey(person)])
    const key = hash('sha256', named, 'base64url')
    const first = this.#firstRows.get(key)
    if (first === undefined) this.#firstRows.set(key, row)
    return first
  }
}
