import type { AdditionalInformation, FieldValue } from '../../contract/request.ts'
import type { OrderPlan } from '../../domain/approval/order-plan.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import {
  type BatchCheck,
  type ChangeKind,
  changeKind,
  findEarlierOrders,
  type StoredPlan,
  type Plan,
} from '../../domain/batch/plan.ts'
import type { RowChange, RowProblem, UnlikelyValue } from '../../domain/batch/row.ts'
import { formatAnswer } from '../../domain/form/fields.ts'
import type { WindowStatus } from '../../domain/quota/book.ts'
import type { Conflict } from '../../domain/submission/conflicts.ts'
import { heldReasonTexts, personOf, sharedText, conflictText } from '../../domain/submission/duplicate.ts'
import { externalResultPosition } from '../../domain/submission/external-results.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import { isUnmatched } from '../../domain/submission/unmatched.ts'
import { packageWithName } from '../../domain/submission/confirmation.ts'
import { formatCount, cutName, personName, shownName } from '../../domain/wording/text.ts'
import { localTime } from '../../domain/wording/time.ts'
import { sanitize } from '../../host/text.ts'
import { formatDuration, styled, type Terminal } from '../terminal.ts'
import { table } from '../table.ts'
import type { Column, View } from '../view.ts'
import { resultText } from './batches.ts'
import { isName } from './order.ts'

const maxProblems = 10
const maxPairs = 10

const problemColumns: Column<RowProblem>[] = [
  { name: 'line' },
  { name: 'person' },
  { name: 'column' },
  { name: 'value' },
  {
    name: 'problem',
    show: ({ problem, suggestion }) =>
      suggestion === undefined ? problem : `${problem} (did you mean "${suggestion}"?)`,
  },
]

/** What checking a file found (src/docs/cli.md, "JSON of batches and reports", `batch validate --json`). */
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
      ordered_before: plan.matches.map((each) => ({
        ...positionJson(each),
        matches: matchOf(each.stop, plan),
      })),
      shared_phones: plan.phones.map((each) => ({ ...positionJson(each), like: likeOf(each.order, plan) })),
      shared_names: plan.names.map((each) => ({
        ...positionJson(each),
        ordered_at: new Date(each.orderedAt).toISOString(),
      })),
      changes,
      unlikely: plan.check.unlikely.map(({ column, value, problem, ...each }) => ({
        ...positionJson(each),
        column,
        value,
        problem,
      })),
    },
    text: (terminal) => checkText(plan, name, terminal, showChanges),
  }
}

const positionJson = ({ row, line }: { row: number; line: number | undefined }) => ({
  row,
  line: line ?? null,
})

function asSimilar(held: Plan['held'][number], plan: Plan): unknown {
  const { reason, shares, order } = held.stop
  return {
    ...positionJson(held),
    like: likeOf(order, plan),
    shares,
    reason,
    matches: matchOf(held.stop, plan),
  }
}

/** An earlier row of the file, or an order made before. */
function likeOf({ requestId, batchId, row }: Conflict['order'], plan: Plan): unknown {
  return batchId === plan.batchId ? { row } : { request_id: requestId ?? null }
}

function asContract({ row, line, column, value, problem, suggestion }: RowProblem): unknown {
  return { row, line, column, value, problem, suggestion: suggestion ?? null }
}

/** A summary, the first problems, the duplicates, and what will be changed before it is sent. */
function checkText(plan: Plan, name: string, terminal: Terminal, showChanges = false): string {
  const { rows, valid, invalid, problems, duplicates } = plan.check
  const { changes } = plan
  const good = styled(terminal, 'green', `${valid} valid`)
  const bad = invalid === 0 ? '' : `, ${styled(terminal, 'red', `${invalid} invalid`)}`
  const parts = [`${sanitize(name)}: ${formatCount(rows, 'row')}, ${good}${bad}`]
  if (problems.length > 0) {
    parts.push(
      table(problems.slice(0, maxProblems), problemColumns, terminal) +
        moreText(problems.length, maxProblems),
    )
  }
  if (duplicates.length > 0) parts.push(pairs(plan.check))
  const stopped = remarkableLines(plan, plan.check.unlikely)
  if (stopped.length > 0) parts.push(stopped.join('\n'))
  if (changes.length > 0) parts.push(changesText(changes, showChanges))
  return parts.join('\n\n')
}

function pairs({ duplicates, lines: lineAt }: BatchCheck): string {
  const lines = duplicates
    .slice(0, maxPairs)
    .map(
      ([first, again]) =>
        `  ${position(again, lineAt[again])} is the same as ${position(first, lineAt[first])}`,
    )
  return (
    ['The same person and package more than once; only the first is sent:', ...lines].join('\n') +
    moreText(duplicates.length, maxPairs)
  )
}

function moreText(all: number, shown: number): string {
  return all > shown ? `\n  … and ${all - shown} more` : ''
}

function matchOf({ order, externalResult }: Conflict, plan: Plan): unknown {
  const { state, batchId, row, requestId } = order
  const request_id = requestId ?? null
  // The file is no batch yet.
  const batch_id = batchId === plan.batchId ? null : batchId
  if (isUnmatched(order)) return { state, batch_id: null, row: null, request_id }
  if (externalResult === undefined) return { state, batch_id, row, request_id }
  return {
    state,
    batch_id: null,
    row: null,
    request_id,
    results_file: externalResult.file,
    line: externalResult.line,
  }
}

/** What running a file would do, shown before the confirmation. */
export function planText(plan: Plan, name: string, terminal: Terminal, showChanges = false): string {
  const { counts, changes, seconds, endsAt, packages, repeated: inFile } = plan
  const lines = [
    `${styled(terminal, 'bold', sanitize(name))}: ${formatCount(counts.total, 'row')}`,
    ...packages.map(
      ({ package_id: id, name: of, orders }) =>
        `  ${formatCount(orders, 'order')} of ${sanitize(packageWithName({ id, name: of }))}`,
    ),
  ]
  if (packages.length !== 1) lines.push(`  ${formatCount(counts.pending, 'order')} to send`)
  if (inFile > 0) lines.push(`  ${formatCount(inFile, 'row')} the same as an earlier row, not sent`)
  lines.push(...remarkableLines(plan, plan.unlikely))
  if (counts.invalid > 0)
    lines.push(`  ${styled(terminal, 'red', formatCount(counts.invalid, 'row'))} invalid, not sent`)
  if (counts.pending > 0) lines.push(`Sending takes ${timeText(seconds, endsAt)}`)
  return changes.length > 0 ? `${lines.join('\n')}\n\n${changesText(changes, showChanges)}` : lines.join('\n')
}

function timeText(seconds: number, endsAt: number): string {
  if (seconds === 0) return 'under a minute'
  return `about ${formatDuration(seconds)} within the quota, until ${localTime(endsAt)}`
}

/** The answer of a run that did not begin, in the shape of one that did. */
export function unstartedView(
  { plan, packageId }: { plan: Plan; packageId: number | undefined },
  name: string,
  showChanges = false,
): View {
  const { counts } = plan
  const ordered = findEarlierOrders(plan)
  const nothingToDo =
    ordered === undefined ? [] : [resultText(name, { counts, ordered, now: 0, people: [] }, undefined), '']
  return {
    json: { batch_id: null, package_id: packageId ?? null, counts, results_file: null, ...stoppedJson(plan) },
    text: (terminal) =>
      counts.invalid > 0
        ? checkText(plan, name, terminal, showChanges)
        : [...nothingToDo, planText(plan, name, terminal, showChanges)].join('\n'),
  }
}

/** What each row that would not be sent matches, as `batch run` prints it once there is a batch. */
function stoppedJson(plan: Plan): { stopped?: unknown[] } {
  const rowOf = (each: Plan['matches'][number], state: 'duplicate' | 'held', email: string | null) => ({
    ...positionJson(each),
    state,
    email,
    reason: conflictText(each.stop),
    matches: matchOf(each.stop, plan),
  })
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

/** The plan itself for a pipe, for a person how to save it: its counts were printed already. */
export function storedPlanView(plan: StoredPlan, path: string | undefined): View {
  return {
    json: plan,
    text: ({ columns }) => {
      if (path !== undefined) return `The plan is saved in ${sanitize(path)}`
      return columns === undefined ? JSON.stringify(plan, null, 2) : 'Save this plan with: --output plan.json'
    },
  }
}

const maxOfAKind = 3

const meanings: Record<ChangeKind, string> = {
  phone: 'phone: spaces, (), - and . are removed',
  country: 'phone: read as a number of --default-country',
  space: 'white space around the value is removed',
  apostrophe: 'the apostrophe that keeps a text from being a formula is removed',
  number: 'number: written as JSON writes it',
}

/** Before and after, for a person to review: by kind, the first of each or all of them. */
function changesText(changes: readonly RowChange[], all = false): string {
  const kinds = Map.groupBy(changes, changeKind)
  const parts = [...kinds].map(([kind, found]) => {
    const shown = (all ? found : found.slice(0, maxOfAKind)).map(lineOf)
    const left = found.length - shown.length
    const lines = [`  ${found.length} × ${meanings[kind]}`].concat(shown)
    return lines.concat(left > 0 ? `    … and ${left} more: --show-changes` : []).join('\n')
  })
  return ['Changed before sending:', ...parts].join('\n')
}

function lineOf({ line, column, from, to }: RowChange): string {
  return `    line ${line}, ${sanitize(column)}: "${sanitize(cutName(from))}" is sent as "${sanitize(cutName(to))}"`
}

const maxNamed = 5

/** A person counts lines as the spreadsheet program does; a row alone is named where its line is not known. */
function position(row: number, line: number | undefined): string {
  return line === undefined ? `row ${row}` : `line ${line}`
}

/** Only what was accepted is called ordered; the other lines state no more than is known. */
function matchLines(matches: Plan['matches']): string[] {
  const inState = (...states: SubmissionState[]) =>
    matches.filter(
      ({ stop: { order, externalResult } }) => externalResult === undefined && states.includes(order.state),
    )
  const waiting = inState('pending')
  const inFlight = inState('sending')
  const unknown = inState('unknown', 'dropped')
  const apart = new Set([...waiting, ...inFlight, ...unknown])
  return [
    ...notSentLines(
      matches.filter((each) => !apart.has(each)),
      'ordered before, not sent',
    ),
    ...notSentLines(unknown, 'that may have been ordered before, not sent'),
    ...notSentLines(inFlight, 'in flight in another command, not sent'),
    ...notSentLines(waiting, 'already waiting in a batch, not sent'),
  ]
}

/** What is remarkable may be meant, and may be one person too many. */
const leaveOutLines = (rows: number): string[] =>
  rows === 0 ? [] : ['  To leave one of them out, remove its line from the file first']

/** What is worth knowing of rows before they are sent, and those that are not sent. */
const remarkableLines = (
  { matches, held, phones, names, namesInFile }: Plan,
  unlikely: readonly UnlikelyValue[],
): string[] => [
  ...matchLines(matches),
  ...heldLines(held),
  ...phoneLines(phones),
  ...nameLines(names),
  ...nameInFileLines(namesInFile),
  ...leaveOutLines(phones.length + names.length + namesInFile.length),
  ...unlikelyLines(unlikely),
]

function notSentLines(matches: Plan['matches'], why: string): string[] {
  if (matches.length === 0) return []
  return [
    `  ${formatCount(matches.length, 'row')} ${why}`,
    ...matches.slice(0, maxPairs).map(({ row, line, person, stop }) => {
      const at = position(row, line)
      const who = person === undefined ? at : `${personName(person)} (${at})`
      return `    ${sanitize(`${who}: ${whatMatches(stop)}`)}`
    }),
  ]
}

/** The first of several below a heading, a line each, and how many more there are. */
function firstOf<T>(all: readonly T[], max: number, lineFor: (each: T) => string, unit = ''): string[] {
  const lines = all.slice(0, max).map((each) => `    ${sanitize(lineFor(each))}`)
  return all.length > max ? [...lines, `    … and ${all.length - max} more${unit}`] : lines
}

/** As a couple or an office has: they are sent. */
function phoneLines(phones: Plan['phones']): string[] {
  if (phones.length === 0) return []
  const [has, are] = phones.length === 1 ? ['has', 'it is'] : ['have', 'they are']
  return [
    `  ${formatCount(phones.length, 'row')} ${has} the phone of another person: ${are} sent`,
    ...firstOf(
      phones,
      maxNamed,
      ({ row, line, person, order }) =>
        `${personName(person)} (${position(row, line)}) and ${personOf(order)}`,
    ),
  ]
}

/** What is improbable in rows that are sent: only a person can decide. */
function unlikelyLines(unlikely: readonly UnlikelyValue[]): string[] {
  if (unlikely.length === 0) return []
  const rows = new Set(unlikely.map(({ row }) => row)).size
  const are = rows === 1 ? 'it is' : 'they are'
  return [
    `  ${formatCount(rows, 'row')} with an unlikely value; fix the file, or ${are} sent as ${are}`,
    ...firstOf(unlikely, maxPairs, unlikelyText),
  ]
}

function unlikelyText({ person, line, row, column, value, problem }: UnlikelyValue): string {
  return `${person} (${position(row, line)}): ${column} ${value} ${problem}`
}

/** One line for who is not shown the plan; undefined where nothing is improbable. */
export function unlikelyWarning({ unlikely }: Plan, name: string): string | undefined {
  const [first, ...others] = unlikely
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${formatCount(others.length, 'more value', 'more values')}`
  return `${name}: unlikely, and sent as it is: ${unlikelyText(first)}${more}`
}

/** Grouped by what they share, by name: not sent until they are released. */
function heldLines(held: Plan['held']): string[] {
  if (held.length === 0) return []
  const groups = Map.groupBy(held, ({ person, stop }) =>
    stop.reason === 'similar'
      ? `the same ${sharedText(stop.shares)} as ${similarPerson(person, stop)}`
      : stop.reason === 'unmatched_request'
        ? conflictText(stop)
        : heldReasonTexts[stop.reason],
  )
  const lines = [...groups].slice(0, maxPairs).map(([what, rows]) => {
    const people = rows
      .slice(0, maxNamed)
      .map(({ row, line, person }) => `${personName(person)} (${position(row, line)})`)
    const rest = rows.length > maxNamed ? ` and ${rows.length - maxNamed} more` : ''
    return `    ${sanitize(what)}\n      ${sanitize(people.join(', '))}${rest}`
  })
  return [
    `  ${formatCount(held.length, 'row')} held, not sent until you release ${held.length === 1 ? 'it' : 'them'}`,
    ...lines,
    ...(groups.size > maxPairs ? [`    … and ${groups.size - maxPairs} more groups`] : []),
  ]
}

/** The person who has the same e-mail or phone, and which; the text of a person has the e-mail already. */
function similarPerson(
  person: Plan['held'][number]['person'],
  { order, shares, externalResult }: Conflict,
): string {
  if (externalResult === undefined && order.recipient !== undefined && shares.includes('email'))
    return personOf(order)
  const who = externalResult === undefined ? personOf(order) : externalResultPosition(externalResult)
  return `${who}: ${shares.includes('email') ? person.email : person.phone}`
}

function whatMatches({ order, externalResult }: Conflict): string {
  const { requestId, requestStatus, state, batchId, row, attemptedAt, changedAt } = order
  if (externalResult !== undefined) return `ordered, by ${externalResultPosition(externalResult)}`
  if (requestId === undefined) return `row ${row} of batch ${batchId} (${state})`
  const end = requestStatus === 'CANCELLED' || requestStatus === 'ERROR' ? `, ended ${requestStatus}` : ''
  return `ordered ${localTime(attemptedAt ?? changedAt)}${end}`
}

/** Said before the review of what an agent planned. */
export function plannedText({ code, made_at, expires_at, base_url, user_email, profile }: OrderPlan): string {
  const as = profile === null ? '' : ` (profile "${profile}")`
  return [
    `Plan ${code}, prepared by an agent on ${localTime(made_at)}, valid until ${localTime(expires_at)}.`,
    `It is for ${base_url} as ${user_email}${as}.`,
  ].join('\n')
}

/** How an agent chose to read a file: nothing else on the screen shows which column is whose e-mail. '' for no choice. */
export function plannedReadingText(choices: ColumnChoices): string {
  const { map = [], ignore = [], sheet, headerRow, encoding, hidden, defaultCountry } = choices
  const fields = map.map((each) => {
    const end = each.lastIndexOf('=')
    return { column: shownName(each.slice(0, end)), field: shownName(each.slice(end + 1)) }
  })
  const isOfPerson = (name: string): boolean =>
    ['firstname', 'lastname', 'email', 'phone'].includes(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
  const isPerson = ({ field }: { field: string }): boolean => isOfPerson(field)
  // Those that would be a name or an e-mail by what they are called come first, before the list is cut.
  const named = [...ignore.filter(isOfPerson), ...ignore.filter((column) => !isOfPerson(column))]
    .slice(0, maxNamed)
    .map((column) => shownName(column))
  const more = ignore.length > maxNamed ? ` and ${ignore.length - maxNamed} more` : ''
  // Whose name and e-mail is which column comes last, next to the question.
  const lines = [
    ...(sheet === undefined ? [] : [`sheet: ${shownName(sheet)}`]),
    ...(headerRow === undefined ? [] : [`line ${headerRow} names the columns`]),
    ...(encoding === undefined ? [] : [`encoding: ${shownName(encoding)}`]),
    ...(hidden === undefined ? [] : [`hidden rows: ${hidden}`]),
    ...(defaultCountry === undefined ? [] : [`phones without a country code: ${shownName(defaultCountry)}`]),
    ...(ignore.length === 0 ? [] : [`${named.join(', ')}${more} → left out`]),
    ...[...fields.filter((each) => !isPerson(each)), ...fields.filter(isPerson)].map(
      ({ column, field }) => `${column} → ${field}`,
    ),
  ]
  if (lines.length === 0) return ''
  return ['The agent chose to read the file so:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** What one order takes of the quota. */
export function orderCostText(windows: readonly WindowStatus[]): string {
  const left = windows.map((each) => `${each.left} of ${each.calls} in ${formatDuration(each.seconds)}`)
  return `It uses 1 call of the quota. Left: ${left.join(', ')}`
}

interface PlannedField {
  /** Which of the people, counted from 1. */
  person: number
  field: string
  value: FieldValue
}

const fieldColumns: Column<PlannedField>[] = [
  { name: 'person' },
  { name: 'field' },
  {
    name: 'answer',
    uncut: true,
    value: (row) => formatAnswer(row.value),
    show: ({ field, value }) => {
      const text = formatAnswer(value)
      return isName(field) ? shownName(text) : text
    },
  },
]

/** All people whom an agent planned without a file, field by field: JSON of the rows, since there is no file. */
export function plannedPeopleText(rows: string, terminal: Terminal): string {
  const people = JSON.parse(rows) as Record<string, FieldValue>[]
  const fields = people.flatMap((person, at) =>
    fieldsOf(person).map(([field, value]) => ({ person: at + 1, field, value })),
  )
  return table(fields, fieldColumns, terminal)
}

type NamedValue = [field: string, value: FieldValue]

function fieldsOf(person: Record<string, FieldValue>): NamedValue[] {
  return Object.entries(person).flatMap(([name, value]): NamedValue[] => {
    if (name === 'recipient') return Object.entries(value ?? {})
    if (name !== 'additional_information' || !Array.isArray(value)) return [[name, value]]
    return (value as unknown as AdditionalInformation[]).flatMap(({ code, fields }) =>
      Object.entries(fields).map(([field, answer]): NamedValue => [`${code}.${field}`, answer]),
    )
  })
}

/** They may be the same people with a new e-mail and phone: they are sent. */
function nameLines(names: Plan['names']): string[] {
  if (names.length === 0) return []
  const [has, are] = names.length === 1 ? ['has', 'it is'] : ['have', 'they are']
  return [
    `  ${formatCount(names.length, 'row')} ${has} the name of a person ordered before with another e-mail and phone: ${are} sent`,
    ...firstOf(
      names,
      maxNamed,
      ({ row, line, person, orderedAt }) =>
        `${personName(person)} (${position(row, line)}): ordered ${localTime(orderedAt)}`,
    ),
  ]
}

/** They may be one person with two e-mails and phones, or two of one name: they are sent. */
function nameInFileLines(names: Plan['namesInFile']): string[] {
  if (names.length === 0) return []
  const [has, are] = names.length === 1 ? ['has', 'it is'] : ['have', 'they are']
  return [
    `  ${formatCount(names.length, 'row')} ${has} the name of an earlier row with another e-mail and phone: ${are} sent`,
    ...firstOf(
      names,
      maxNamed,
      ({ row, line, person, earlier }) =>
        `${personName(person)} (${position(row, line)}), as in ${position(earlier.row, earlier.line)}`,
    ),
  ]
}
