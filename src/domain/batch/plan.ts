import { InvalidInputError } from '../../errors/kinds.ts'
import type { BatchCounts, BatchPreview } from './batch.ts'
import type { AboutToOrder } from '../submission/confirmation.ts'
import { type Allowed, choicesOf, fileCommand } from './file-command.ts'
import type { FileReading } from './new-row.ts'
import type { RowChange, UnlikelyValue } from './row-reading.ts'
import type { Recipient } from '../../contract/request-body.ts'
import type { Stop, StopReason } from '../submission/match.ts'
import type { Submission } from '../submission/submission.ts'
import { shellWord } from '../wording/shell-word.ts'
import type { BatchCheck } from './check.ts'
import { parseJson } from '../../contract/parse-json.ts'

/** What running a file would do. */
export interface Plan {
  /** What the file would be as a batch. */
  batchId: string
  counts: BatchCounts
  /** Orders of each package that would be sent, the most first. */
  packages: { package_id: number; orders: number }[]
  /** Rows that are not sent since an order made before stands in their way. */
  matches: { row: number; line: number | undefined; stop: Stop }[]
  /** Rows of the file that are the same as an earlier one. */
  repeated: number
  /** Rows that are not sent until somebody says so, by what they share or match. */
  held: { row: number; line: number | undefined; person: Recipient; stop: Stop }[]
  /** Rows that are sent and have the phone of another person, as a couple or an office has. */
  phones: { row: number; line: number | undefined; person: Recipient; order: Submission }[]
  /** The first people who would be ordered: one more than are named. */
  people: Recipient[]
  check: BatchCheck
  /** Improbable values of the rows that would be sent. */
  unlikely: UnlikelyValue[]
  /** By quota alone, with what was used of it before. */
  seconds: number
  /** When the last order would have been sent; wall time in milliseconds. */
  endsAt: number
}

export function planOf(
  check: BatchCheck,
  { counts, packages, stops, phones, people }: BatchPreview,
  { batchId, seconds, now }: { batchId: string; seconds: number; now: number },
): Plan {
  const duplicates = stops.filter(({ stop }) => stop.becomes === 'duplicate')
  const matches = duplicates.filter(({ stop }) => stop.order.batchId !== batchId)
  const unsent = new Set([...stops.map(({ row }) => row.row), ...check.duplicates.map(([, row]) => row)])
  return {
    batchId,
    counts,
    unlikely: check.unlikely.filter(({ row }) => !unsent.has(row)),
    packages: [...packages]
      .map(([package_id, orders]) => ({ package_id, orders }))
      .sort((a, b) => b.orders - a.orders),
    matches: matches.map(({ row, stop }) => ({ row: row.row, line: check.lines[row.row], stop })),
    repeated: counts.duplicate - matches.length,
    held: stops.flatMap(({ row, stop }) =>
      stop.becomes === 'held' && row.state === 'pending'
        ? [{ row: row.row, line: row.line, person: row.recipient, stop }]
        : [],
    ),
    phones: phones.flatMap(({ row, order }) =>
      row.state === 'pending' ? [{ row: row.row, line: row.line, person: row.recipient, order }] : [],
    ),
    people,
    check,
    seconds,
    endsAt: now + seconds * 1000,
  }
}

/** A plan as it is kept for a later `batch run --plan`: the file it is for, and how it is read. */
export interface KeptPlan {
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
  /** `batch_id`: null where a results file alone tells of it. */
  ordered_before: { row: number; request_id: string | null; batch_id: string | null }[]
  held: { row: number; reason: StopReason; request_id: string | null }[]
  allow_duplicate: boolean
  allow_similar: boolean
  shared: string[]
  ignore_results: boolean
  seconds: number
}

export function keptPlan(
  { counts, matches, held, check, unlikely, seconds }: Plan,
  facts: Pick<
    KeptPlan,
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
): KeptPlan {
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
    ordered_before: matches.map(({ row, stop: { order, witness } }) => ({
      row,
      request_id: order.requestId ?? null,
      batch_id: witness === undefined ? order.batchId : null,
    })),
    held: held.map(({ row, stop }) => ({
      row,
      reason: stop.reason,
      request_id: stop.order.requestId ?? null,
    })),
    seconds,
  }
}

/** Reads a kept plan; an InvalidInputError for anything else. */
export function parsePlan(text: string, name: string): KeptPlan {
  const plan = parsed(text)
  const { refcheck_plan, file, sha256, base_url, reading } = plan
  const isPlan =
    refcheck_plan === 1 &&
    [file, sha256, base_url].every((each) => typeof each === 'string') &&
    typeof reading === 'object'
  if (isPlan) return plan as KeptPlan
  throw new InvalidInputError(`${name} is not a plan`, {
    hint: 'Make a plan with: refcheck batch plan FILE --output plan.json',
  })
}

/** What a plan allows; one of 0.1.0 says nothing of it. */
export function allowedBy(plan: Partial<KeptPlan>): Allowed {
  const { allow_duplicate = false, allow_similar = false, shared = [], ignore_results = false } = plan
  return {
    allowDuplicate: allow_duplicate,
    allowSimilar: allow_similar,
    shared,
    ignoreResults: ignore_results,
  }
}

/** How the same plan is made of the file as it is now; `name`: the file that it is kept in. */
export function planAgain(plan: KeptPlan, name: string): string {
  const { file, reading, package_id } = plan
  const columns = choicesOf(reading, package_id)
  const more = ['--output', shellWord(name), '--overwrite']
  return `Plan again with: ${fileCommand('plan', { file, columns, allowed: allowedBy(plan), more })}`
}

/** A plan is for a file as it was; `again`: how another one is made. */
export function requireUnchanged(plan: KeptPlan, sha256: string, again: string): void {
  if (plan.sha256 === sha256) return
  throw new InvalidInputError(`${plan.file} has changed since it was planned`, {
    hint: `Nothing was sent. ${again}`,
  })
}

function parsed(text: string): Partial<Record<string, unknown>> & Partial<KeptPlan> {
  try {
    const value = parseJson(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** What a yes to the plan would order. */
export function aboutToOrder({ counts, packages, people, unlikely: values }: Plan): AboutToOrder {
  const [first, ...others] = packages
  const isOne = first !== undefined && others.length === 0
  const leftOut = counts.total - counts.pending
  const unlikely = new Set(values.map(({ row }) => row)).size
  return {
    package: isOne ? { id: first.package_id } : undefined,
    count: counts.pending,
    people,
    leftOut,
    unlikely,
  }
}
