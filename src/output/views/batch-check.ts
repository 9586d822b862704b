import type { KeptPlan, Plan, BatchCheck } from '../../domain/batch/plan.ts'
import { stopText } from '../../domain/submission/duplicate.ts'
import type { Stop } from '../../domain/submission/conflicts.ts'
import { isUnmatched } from '../../domain/submission/unmatched.ts'
import type { RowProblem } from '../../domain/batch/row.ts'
import { sanitize } from '../../host/text.ts'
import { table } from '../table.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { Column, View } from '../view.ts'
import { durationInWords } from '../duration.ts'
import { localTime } from '../../domain/wording/local-time.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { changesText } from './batch-changes.ts'
import { heldLines, matchLines, phoneLines, place, unlikelyLines } from './batch-rows-told.ts'

const mostProblems = 10
const mostPairs = 10

const problemColumns: Column<RowProblem>[] = [
  { name: 'line', value: (problem) => problem.line },
  { name: 'person', value: (problem) => problem.person },
  { name: 'column', value: (problem) => problem.column },
  { name: 'value', value: (problem) => problem.value },
  {
    name: 'problem',
    value: (problem) => problem.problem,
    show: ({ problem, suggestion }) =>
      suggestion === undefined ? problem : `${problem} (did you mean "${suggestion}"?)`,
  },
]

/** What checking a file found (cli-contract, `batch validate --json`). */
export function batchCheckView(plan: Plan, name: string, showChanges = false): View {
  const { rows, valid, invalid, problems, duplicates, changes } = plan.check
  return {
    json: {
      rows,
      valid,
      invalid,
      problems: problems.map(asContract),
      duplicates,
      similar: plan.held.map((held) => asSimilar(held, plan)),
      ordered_before: plan.matches.map(({ row, line, stop }) => ({
        row,
        line: line ?? null,
        matches: matchOf(stop, plan),
      })),
      shared_phones: plan.phones.map(({ row, line, order }) => ({
        row,
        line: line ?? null,
        like: likeOf(order, plan),
      })),
      changes,
      unlikely: plan.check.unlikely.map(({ row, line, column, value, problem }) => ({
        row,
        line,
        column,
        value,
        problem,
      })),
    },
    text: (terminal) => checkText(plan, name, terminal, showChanges),
  }
}

function asSimilar({ row, line, stop }: Plan['held'][number], plan: Plan): unknown {
  const { reason, shares } = stop
  return {
    row,
    line: line ?? null,
    like: likeOf(stop.order, plan),
    shares,
    reason,
    matches: matchOf(stop, plan),
  }
}

/** An earlier row of the file, or an order made before. */
function likeOf({ requestId, batchId, row }: Stop['order'], plan: Plan): unknown {
  return batchId === plan.batchId ? { row } : { request_id: requestId ?? null }
}

function asContract({ row, line, column, value, problem, suggestion }: RowProblem): unknown {
  return { row, line, column, value, problem, suggestion: suggestion ?? null }
}

/** A summary, the first problems, the duplicates, and what will be sent otherwise than it stands. */
export function checkText(plan: Plan, name: string, terminal: Terminal, showChanges = false): string {
  const { rows, valid, invalid, problems, duplicates, changes } = plan.check
  const good = styled(terminal, 'green', `${valid} valid`)
  const bad = invalid === 0 ? '' : `, ${styled(terminal, 'red', `${invalid} invalid`)}`
  const parts = [`${sanitize(name)}: ${countInWords(rows, 'row')}, ${good}${bad}`]
  if (problems.length > 0) {
    parts.push(
      table(problems.slice(0, mostProblems), problemColumns, terminal) + more(problems.length, mostProblems),
    )
  }
  if (duplicates.length > 0) parts.push(pairs(plan.check))
  const stopped = [
    ...matchLines(plan.matches),
    ...heldLines(plan.held),
    ...phoneLines(plan.phones),
    ...unlikelyLines(plan.check.unlikely),
  ]
  if (stopped.length > 0) parts.push(stopped.join('\n'))
  if (changes.length > 0) parts.push(changesText(changes, showChanges))
  return parts.join('\n\n')
}

function pairs({ duplicates, lines: standsAt }: BatchCheck): string {
  const lines = duplicates
    .slice(0, mostPairs)
    .map(
      ([first, again]) =>
        `  ${place(again, standsAt[again])} is the same as ${place(first, standsAt[first])}`,
    )
  return (
    ['The same person and package more than once; only the first is sent:', ...lines].join('\n') +
    more(duplicates.length, mostPairs)
  )
}

function more(all: number, shown: number): string {
  return all > shown ? `\n  … and ${all - shown} more` : ''
}

function matchOf({ order, witness }: Stop, plan: Plan): unknown {
  const { state, batchId, row, requestId } = order
  const request_id = requestId ?? null
  // The file is no batch yet.
  const batch_id = batchId === plan.batchId ? null : batchId
  if (isUnmatched(order)) return { state, batch_id: null, row: null, request_id }
  if (witness === undefined) return { state, batch_id, row, request_id }
  return { state, batch_id: null, row: null, request_id, results_file: witness.file, line: witness.line }
}

/** What running a file would do, before anybody says yes. */
export function planText(plan: Plan, name: string, terminal: Terminal, showChanges = false): string {
  const { counts, matches, held, phones, check, seconds, endsAt, packages, repeated: inFile, unlikely } = plan
  const lines = [
    `${styled(terminal, 'bold', sanitize(name))}: ${countInWords(counts.total, 'row')}`,
    ...packages.map(
      ({ package_id, orders }) => `  ${countInWords(orders, 'order')} of package ${package_id}`,
    ),
  ]
  if (packages.length !== 1) lines.push(`  ${countInWords(counts.pending, 'order')} to send`)
  if (inFile > 0) lines.push(`  ${countInWords(inFile, 'row')} the same as an earlier row, not sent`)
  lines.push(...matchLines(matches), ...heldLines(held), ...phoneLines(phones), ...unlikelyLines(unlikely))
  if (counts.invalid > 0)
    lines.push(`  ${styled(terminal, 'red', countInWords(counts.invalid, 'row'))} invalid, not sent`)
  if (counts.pending > 0) lines.push(`Sending takes ${timeText(seconds, endsAt)}`)
  const { changes } = check
  return changes.length > 0 ? `${lines.join('\n')}\n\n${changesText(changes, showChanges)}` : lines.join('\n')
}

export function timeText(seconds: number, endsAt: number): string {
  if (seconds === 0) return 'under a minute'
  return `about ${durationInWords(seconds)} within the quota, until ${localTime(endsAt)}`
}

/** The answer of a run that did not begin, in the shape of one that did. */
export function unstartedView(
  plan: Plan,
  name: string,
  packageId: number | undefined,
  showChanges = false,
): View {
  const { counts } = plan
  return {
    json: { batch_id: null, package_id: packageId ?? null, counts, results_file: null, ...stoppedJson(plan) },
    text: (terminal) =>
      counts.invalid > 0
        ? checkText(plan, name, terminal, showChanges)
        : planText(plan, name, terminal, showChanges),
  }
}

/** What each row that would not be sent matches, as `batch run` tells it once there is a batch. */
function stoppedJson(plan: Plan): { stopped?: unknown[] } {
  const rowOf = (
    { row, line, stop }: Plan['matches'][number],
    state: 'duplicate' | 'held',
    email: string | null,
  ) => ({ row, line: line ?? null, state, email, reason: stopText(stop), matches: matchOf(stop, plan) })
  const matched = new Set(plan.matches.map(({ row }) => row))
  const stopped = [
    ...plan.matches.map((each) => rowOf(each, 'duplicate', each.stop.order.recipient?.email ?? null)),
    ...plan.held.map((each) => rowOf(each, 'held', each.person.email)),
    ...plan.check.duplicates
      .filter(([, row]) => !matched.has(row))
      .map(([first, row]) => ({
        row,
        line: null,
        state: 'duplicate',
        email: null,
        reason: `is the same order as row ${first}`,
        matches: { state: null, batch_id: null, row: first, request_id: null },
      })),
  ]
  return stopped.length === 0 ? {} : { stopped: stopped.sort((one, other) => one.row - other.row) }
}

/** The plan itself for a pipe, for a person how to keep it: what it comes to was told already. */
export function keptPlanView(kept: KeptPlan, path: string | undefined): View {
  return {
    json: kept,
    text: ({ columns }) => {
      if (path !== undefined) return `The plan is saved in ${sanitize(path)}`
      return columns === undefined ? JSON.stringify(kept, null, 2) : 'Save this plan with: --output plan.json'
    },
  }
}
