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
import {
  heldReasonText,
  personOf,
  sharedText,
  conflictText,
  personOrPosition,
  countsAsText,
  relatedPackageText,
} from '../../domain/submission/duplicate.ts'
import { externalResultPosition } from '../../domain/submission/external-results.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import { isUnmatched } from '../../domain/submission/submission.ts'
import { packageWithName } from '../../domain/submission/confirmation.ts'
import { formatCount, cutName, joinFirst, personName, shownName } from '../../domain/wording/text.ts'
import { localTime } from '../../domain/wording/time.ts'
import { sanitize } from '../../host/text.ts'
import { formatDuration, styled, type Terminal } from '../terminal.ts'
import { table } from '../table.ts'
import type { Column, View } from '../view.ts'
import { resultText } from './batches.ts'
import { isName } from './order.ts'

const maxProblems = 10
/** The greatest number of lines that one finding lists: pairs of rows, rows, or groups of rows. */
const maxListed = 10

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

/** The findings of a check of a file (src/docs/cli.md, "JSON of batches and reports", `batch validate --json`). */
export function batchCheckView(plan: Plan, name: string, showChanges = false): View {
  const { rows, valid, invalid, problems, duplicates, changes } = plan.check
  return {
    json: {
      rows,
      valid,
      invalid,
      problems: problems.map(problemJson),
      duplicates,
      similar: plan.held.map((held) => similarJson(held, plan)),
      ordered_before: plan.matches.map((each) => ({
        ...positionJson(each),
        matches: matchJson(each.conflict, plan),
      })),
      shared_phones: plan.phoneSharers.map((each) => ({
        ...positionJson(each),
        like: similarToJson(each.order, plan),
      })),
      shared_names: plan.namesakes.map((each) => ({
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

function similarJson(held: Plan['held'][number], plan: Plan): unknown {
  const { reason, shares, order } = held.conflict
  return {
    ...positionJson(held),
    like: similarToJson(order, plan),
    shares,
    reason,
    matches: matchJson(held.conflict, plan),
  }
}

/** Returns the earlier row of the file or the earlier order to which a row is similar. */
function similarToJson({ requestId, batchId, row }: Conflict['order'], plan: Plan): unknown {
  return batchId === plan.batchId ? { row } : { request_id: requestId ?? null }
}

function problemJson({ row, line, column, value, problem, suggestion }: RowProblem): unknown {
  return { row, line, column, value, problem, suggestion: suggestion ?? null }
}

/** Returns a summary, the first problems, the duplicates, and the changes before sending. */
function checkText(plan: Plan, name: string, terminal: Terminal, showChanges = false): string {
  const { rows, valid, invalid, problems, duplicates } = plan.check
  const { changes } = plan
  const validText = styled(terminal, 'green', `${valid} valid`)
  const invalidText = invalid === 0 ? '' : `, ${styled(terminal, 'red', `${invalid} invalid`)}`
  const parts = [`${sanitize(name)}: ${formatCount(rows, 'row')}, ${validText}${invalidText}`]
  if (problems.length > 0) {
    parts.push(
      table(problems.slice(0, maxProblems), problemColumns, terminal) +
        moreText(problems.length, maxProblems),
    )
  }
  if (duplicates.length > 0) parts.push(duplicatesText(plan.check))
  const remarks = remarkLines(plan, plan.check.unlikely)
  if (remarks.length > 0) parts.push(remarks.join('\n'))
  if (changes.length > 0) parts.push(changesText(changes, showChanges))
  return parts.join('\n\n')
}

function duplicatesText({ duplicates, lines: lineByRow }: BatchCheck): string {
  const lines = duplicates
    .slice(0, maxListed)
    .map(
      ([first, repeat]) =>
        `  ${positionText(repeat, lineByRow[repeat])} is the same as ${positionText(first, lineByRow[first])}`,
    )
  return (
    ['The same person and package more than once; only the first is sent:', ...lines].join('\n') +
    moreText(duplicates.length, maxListed)
  )
}

function moreText(count: number, shownCount: number): string {
  return count > shownCount ? `\n  … and ${count - shownCount} more` : ''
}

function matchJson({ order, externalResult }: Conflict, plan: Plan): unknown {
  const { state, batchId, row, requestId } = order
  const request_id = requestId ?? null
  // The id of the plan is not printed, because the file is not stored as a batch yet.
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

/** Returns the orders that running a file would make, shown before the confirmation. */
export function planText(plan: Plan, name: string, terminal: Terminal, showChanges = false): string {
  const { counts, changes, seconds, endsAt, packages, repeated } = plan
  const lines = [
    `${styled(terminal, 'bold', sanitize(name))}: ${formatCount(counts.total, 'row')}`,
    ...packages.map(
      ({ package_id: id, name: packageName, orders }) =>
        `  ${formatCount(orders, 'order')} of ${sanitize(packageWithName({ id, name: packageName }))}`,
    ),
  ]
  if (packages.length !== 1) lines.push(`  ${formatCount(counts.pending, 'order')} to send`)
  lines.push(...repeatedLines(repeated))
  lines.push(...remarkLines(plan, plan.unlikely))
  if (counts.invalid > 0) {
    lines.push(`  ${styled(terminal, 'red', formatCount(counts.invalid, 'row'))} invalid, not sent`)
    lines.push(...invalidLines(plan.check.problems))
  }
  if (counts.pending > 0) lines.push(`Sending takes ${timeText(seconds, endsAt)}`)
  return changes.length > 0 ? `${lines.join('\n')}\n\n${changesText(changes, showChanges)}` : lines.join('\n')
}

function timeText(seconds: number, endsAt: number): string {
  if (seconds === 0) return 'under a minute'
  return `about ${formatDuration(seconds)} within the quota, until ${localTime(endsAt)}`
}

/** The answer of a run that was not started, with the same JSON keys as that of a started run. */
export function unstartedView(
  { plan, packageId }: { plan: Plan; packageId: number | undefined },
  name: string,
  showChanges = false,
): View {
  const { counts } = plan
  const earlierOrders = findEarlierOrders(plan)
  const nothingToDo =
    earlierOrders === undefined
      ? []
      : [resultText(name, { counts, earlierOrders, orderedInThisRun: 0, people: [] }, undefined), '']
  return {
    json: { batch_id: null, package_id: packageId ?? null, counts, results_file: null, ...stoppedJson(plan) },
    text: (terminal) =>
      counts.invalid > 0
        ? checkText(plan, name, terminal, showChanges)
        : [...nothingToDo, planText(plan, name, terminal, showChanges)].join('\n'),
  }
}

/** Returns the `stopped` rows with their conflicts, as `batch run` prints them for a stored batch. */
function stoppedJson(plan: Plan): { stopped?: unknown[] } {
  const stoppedRow = (each: Plan['matches'][number], state: 'duplicate' | 'held', email: string | null) => ({
    ...positionJson(each),
    state,
    email,
    reason: conflictText(each.conflict),
    matches: matchJson(each.conflict, plan),
  })
  const matchedRows = new Set(plan.matches.map(({ row }) => row))
  const stopped = [
    ...plan.matches.map((each) =>
      stoppedRow(each, 'duplicate', each.conflict.order.recipient?.email ?? null),
    ),
    ...plan.held.map((each) => stoppedRow(each, 'held', each.person.email)),
    ...plan.check.duplicates
      .filter(([, row]) => !matchedRows.has(row))
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

/** Prints the whole plan to a pipe, and to a terminal only how to save it, because its counts were printed already. */
export function storedPlanView(plan: StoredPlan, path: string | undefined): View {
  return {
    json: plan,
    text: ({ columns }) => {
      if (path !== undefined) return `The plan is saved in ${sanitize(path)}`
      return columns === undefined ? JSON.stringify(plan, null, 2) : 'Save this plan with: --output plan.json'
    },
  }
}

const maxChangesPerKind = 3

const changeKindTexts: Record<ChangeKind, string> = {
  phone: 'phone: spaces, (), - and . are removed',
  country: 'phone: read as a number of --default-country',
  space: 'white space around the value is removed',
  apostrophe: 'the apostrophe that keeps a text from being a formula is removed',
  number: 'number: written as JSON writes it',
}

/** Returns the values before and after the changes, by kind: the first ones of each kind, or with `showAll` all. */
function changesText(changes: readonly RowChange[], showAll = false): string {
  const kinds = Map.groupBy(changes, changeKind)
  const parts = [...kinds].map(([kind, ofKind]) => {
    const shown = (showAll ? ofKind : ofKind.slice(0, maxChangesPerKind)).map(changeLine)
    const hiddenCount = ofKind.length - shown.length
    const lines = [`  ${ofKind.length} × ${changeKindTexts[kind]}`].concat(shown)
    return lines.concat(hiddenCount > 0 ? `    … and ${hiddenCount} more: --show-changes` : []).join('\n')
  })
  return ['Changed before sending:', ...parts].join('\n')
}

function changeLine({ line, column, from, to }: RowChange): string {
  return `    line ${line}, ${sanitize(column)}: "${sanitize(cutName(from))}" is sent as "${sanitize(cutName(to))}"`
}

/** The greatest number of people or columns that one finding lists by name. */
const maxNamed = 5

/** Returns the line of a row as spreadsheet programs number it, or the number of the row if the line is unknown. */
function positionText(row: number, line: number | undefined): string {
  return line === undefined ? `row ${row}` : `line ${line}`
}

/** Returns the rows that match earlier orders, grouped by state. Only accepted orders are called ordered. */
function matchLines(matches: Plan['matches']): string[] {
  const inState = (...states: SubmissionState[]) =>
    matches.filter(
      ({ conflict: { order, externalResult } }) =>
        externalResult === undefined && states.includes(order.state),
    )
  const pending = inState('pending')
  const inFlight = inState('sending')
  // Only a held row that may have been ordered is in conflict with another row.
  const unknown = inState('unknown', 'dropped', 'held')
  const notAccepted = new Set([...pending, ...inFlight, ...unknown])
  return [
    ...notSentLines(
      matches.filter((each) => !notAccepted.has(each)),
      'ordered before, not sent',
    ),
    ...notSentLines(unknown, 'that may have been ordered before, not sent'),
    ...notSentLines(inFlight, 'in flight in another command, not sent'),
    ...notSentLines(pending, 'already waiting in a batch, not sent'),
  ]
}

/** Returns the rows that repeat an earlier row of the file. */
function repeatedLines(repeated: Plan['repeated']): string[] {
  if (repeated.length === 0) return []
  return [
    `  ${formatCount(repeated.length, 'row')} the same as an earlier row, not sent`,
    ...firstLines(repeated, maxNamed, ({ row, line, name, earlier }) => {
      const position = positionText(row, line)
      const who = name === '' ? position : `${shownName(name)} (${position})`
      return `${who}, as in ${positionText(earlier.row, earlier.line)}`
    }),
  ]
}

/** Returns the hint below rows that are unusual but sent: a user may want to leave one of them out. */
const leaveOutLines = (rows: number): string[] =>
  rows === 0 ? [] : ['  To leave one of them out, remove its line from the file first']

/** Returns the rows that are not sent, and the rows that are sent but that the user should look at first. */
const remarkLines = (
  { matches, held, phoneSharers, namesakes, namesakesInFile }: Plan,
  unlikely: readonly UnlikelyValue[],
): string[] => [
  ...matchLines(matches),
  ...heldLines(held),
  ...phoneSharerLines(phoneSharers),
  ...namesakeLines(namesakes),
  ...namesakeInFileLines(namesakesInFile),
  ...leaveOutLines(phoneSharers.length + namesakes.length + namesakesInFile.length),
  ...improbableValueLines(unlikely),
]

function notSentLines(matches: Plan['matches'], why: string): string[] {
  if (matches.length === 0) return []
  return [
    `  ${formatCount(matches.length, 'row')} ${why}`,
    ...firstLines(matches, maxListed, ({ row, line, person, conflict }) => {
      const where = positionText(row, line)
      const who = person === undefined ? where : `${personName(person)} (${where})`
      return `${who}: ${earlierOrderText(conflict)}`
    }),
    ...relatedPackageLines(matches),
  ]
}

/** Returns one line for each package that counts as that of the rows since a move. */
function relatedPackageLines(matches: Plan['matches']): string[] {
  const texts = matches.flatMap(({ conflict: { order, countsAs } }) =>
    countsAs === undefined ? [] : countsAsText(order.packageId, countsAs.packageId, countsAs.since),
  )
  return [...new Set(texts)].map((text) => `    ${text}`)
}

/** Returns one line for each of the first `max` items, and the count of the others. */
function firstLines<T>(all: readonly T[], max: number, lineFor: (each: T) => string, unit = ''): string[] {
  const lines = all.slice(0, max).map((each) => `    ${sanitize(lineFor(each))}`)
  return all.length > max ? [...lines, `    … and ${all.length - max} more${unit}`] : lines
}

/** Returns the invalid rows, each with its first problem. */
function invalidLines(problems: readonly RowProblem[]): string[] {
  const firstOfRows = [...Map.groupBy(problems, ({ row }) => row).values()].flatMap(([first]) => first ?? [])
  return firstLines(firstOfRows, maxNamed, ({ row, line, person, column, problem }) => {
    const position = positionText(row, line)
    return `${person === '' ? position : `${shownName(person)} (${position})`}: ${column} ${problem}`
  })
}

/**
 * Returns the rows with the phone of another person. They are sent, because a couple or an office may share a phone.
 */
function phoneSharerLines(phones: Plan['phoneSharers']): string[] {
  if (phones.length === 0) return []
  const [has, theyAre] = phones.length === 1 ? ['has', 'it is'] : ['have', 'they are']
  return [
    `  ${formatCount(phones.length, 'row')} ${has} the phone of another person: ${theyAre} sent`,
    ...firstLines(
      phones,
      maxNamed,
      ({ row, line, person, order }) =>
        `${personName(person)} (${positionText(row, line)}) and ${personOf(order)}`,
    ),
  ]
}

/** Returns the improbable values of rows that are sent. Only a person can decide whether they are right. */
function improbableValueLines(unlikely: readonly UnlikelyValue[]): string[] {
  if (unlikely.length === 0) return []
  const rows = new Set(unlikely.map(({ row }) => row)).size
  const theyAre = rows === 1 ? 'it is' : 'they are'
  return [
    `  ${formatCount(rows, 'row')} with an unlikely value; fix the file, or ${theyAre} sent as ${theyAre}`,
    ...firstLines(unlikely, maxListed, improbableValueText),
  ]
}

function improbableValueText({ person, line, row, column, value, problem }: UnlikelyValue): string {
  return `${person} (${positionText(row, line)}): ${column} ${value} ${problem}`
}

/** Returns a warning for runs that do not show the plan; undefined if no value is improbable. */
export function improbableValuesWarning({ unlikely }: Plan, name: string): string | undefined {
  const [first, ...others] = unlikely
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${formatCount(others.length, 'more value', 'more values')}`
  return `${name}: unlikely, and sent as it is: ${improbableValueText(first)}${more}`
}

/** Returns the held rows, grouped by the reason or by the person to whom they are similar. */
function heldLines(held: Plan['held']): string[] {
  if (held.length === 0) return []
  const groups = Map.groupBy(held, ({ person, conflict }) =>
    conflict.reason === 'similar'
      ? `the same ${sharedText(conflict.shares)} as ${similarPerson(person, conflict)}${relatedPackageText(conflict)}`
      : conflict.reason === 'unmatched_request'
        ? conflictText(conflict)
        : `${heldReasonText(conflict.reason, conflict.order.state)}${relatedPackageText(conflict)}`,
  )
  const lines = [...groups].slice(0, maxListed).map(([heading, rows]) => {
    const people = rows.map(({ row, line, person }) => `${personName(person)} (${positionText(row, line)})`)
    return `    ${sanitize(heading)}\n      ${sanitize(joinFirst(people, maxNamed))}`
  })
  return [
    `  ${formatCount(held.length, 'row')} held, not sent until you release ${held.length === 1 ? 'it' : 'them'}`,
    ...lines,
    ...(groups.size > maxListed ? [`    … and ${groups.size - maxListed} more groups`] : []),
  ]
}

/**
 * Returns the person who has the same e-mail or phone, and the shared value. `personOf` contains the e-mail already.
 */
function similarPerson(person: Plan['held'][number]['person'], conflict: Conflict): string {
  const { order, shares, externalResult } = conflict
  if (externalResult === undefined && order.recipient !== undefined && shares.includes('email'))
    return personOf(order)
  return `${personOrPosition(conflict)}: ${shares.includes('email') ? person.email : person.phone}`
}

function earlierOrderText({ order, externalResult }: Conflict): string {
  const { requestId, requestStatus, state, batchId, attemptedAt, changedAt } = order
  if (externalResult !== undefined) return `ordered, by ${externalResultPosition(externalResult)}`
  if (state === 'pending') return `waiting in batch ${batchId.slice(0, 8)}`
  if (state === 'held') return `held in batch ${batchId.slice(0, 8)}`
  if (requestId === undefined) return `sent ${localTime(attemptedAt ?? changedAt)} (${state})`
  const end = requestStatus === 'CANCELLED' || requestStatus === 'ERROR' ? `, ended ${requestStatus}` : ''
  return `ordered ${localTime(attemptedAt ?? changedAt)}${end}`
}

/** Returns the head of the review of an order that an agent has planned. */
export function plannedText({ code, made_at, expires_at, base_url, user_email, profile }: OrderPlan): string {
  const profileText = profile === null ? '' : ` (profile "${profile}")`
  return [
    `Plan ${code}, prepared by an agent on ${localTime(made_at)}, valid until ${localTime(expires_at)}.`,
    `It is for ${base_url} as ${user_email}${profileText}.`,
  ].join('\n')
}

/**
 * Returns how an agent chose to read a file, or '' if it made no choices. No other text of the review shows which
 * column is read as the e-mail of a person.
 */
export function columnChoicesText(choices: ColumnChoices): string {
  const { map = [], ignore = [], sheet, headerRow, encoding, hidden, defaultCountry } = choices
  const fields = map.map((each) => {
    const end = each.lastIndexOf('=')
    return { column: shownName(each.slice(0, end)), field: shownName(each.slice(end + 1)) }
  })
  const identifiesPerson = (name: string): boolean =>
    ['firstname', 'lastname', 'email', 'phone'].includes(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
  const isPersonField = ({ field }: { field: string }): boolean => identifiesPerson(field)
  // Ignored columns that are called like the name or e-mail of a person come first, so that they are always listed.
  const ignoredColumns = [
    ...ignore.filter(identifiesPerson),
    ...ignore.filter((column) => !identifiesPerson(column)),
  ]
    .slice(0, maxNamed)
    .map((column) => shownName(column))
  const more = ignore.length > maxNamed ? ` and ${ignore.length - maxNamed} more` : ''
  // The columns that are read as name and e-mail come last, so that they are next to the question.
  const lines = [
    ...(sheet === undefined ? [] : [`sheet: ${shownName(sheet)}`]),
    ...(headerRow === undefined ? [] : [`line ${headerRow} names the columns`]),
    ...(encoding === undefined ? [] : [`encoding: ${shownName(encoding)}`]),
    ...(hidden === undefined ? [] : [`hidden rows: ${hidden}`]),
    ...(defaultCountry === undefined ? [] : [`phones without a country code: ${shownName(defaultCountry)}`]),
    ...(ignore.length === 0 ? [] : [`${ignoredColumns.join(', ')}${more} → left out`]),
    ...[...fields.filter((each) => !isPersonField(each)), ...fields.filter(isPersonField)].map(
      ({ column, field }) => `${column} → ${field}`,
    ),
  ]
  if (lines.length === 0) return ''
  return ['The agent chose to read the file so:', ...lines.map((line) => `  ${line}`)].join('\n')
}

/** Returns the cost of an order in calls, and the calls that the quota has left. */
export function orderCostText(windows: readonly WindowStatus[]): string {
  const windowTexts = windows.map(
    (each) => `${each.left} of ${each.calls} in ${formatDuration(each.seconds)}`,
  )
  return `It uses 1 call of the quota. Left: ${windowTexts.join(', ')}`
}

interface PlannedField {
  /** The number of the person in the plan, counted from 1. */
  person: number
  field: string
  value: FieldValue
}

const fieldColumns: Column<PlannedField>[] = [
  { name: 'person' },
  { name: 'field' },
  {
    name: 'answer',
    isUncut: true,
    value: (row) => formatAnswer(row.value),
    show: ({ field, value }) => {
      const text = formatAnswer(value)
      return isName(field) ? shownName(text) : text
    },
  },
]

/**
 * Returns a table with each field of the people whom an agent planned without a file. `rows` is the JSON of the rows.
 */
export function plannedPeopleText(rows: string, terminal: Terminal): string {
  const people = JSON.parse(rows) as Record<string, FieldValue>[]
  const fields = people.flatMap((person, index) =>
    fieldsOf(person).map(([field, value]) => ({ person: index + 1, field, value })),
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

/**
 * Returns the rows that have only the name in common with an earlier order. They are sent, because names are not
 * unique.
 */
function namesakeLines(names: Plan['namesakes']): string[] {
  if (names.length === 0) return []
  const [has, theyAre] = names.length === 1 ? ['has', 'it is'] : ['have', 'they are']
  return [
    `  ${formatCount(names.length, 'row')} ${has} the name of a person ordered before with another e-mail and phone: ${theyAre} sent`,
    ...firstLines(
      names,
      maxNamed,
      ({ row, line, person, orderedAt }) =>
        `${personName(person)} (${positionText(row, line)}): ordered ${localTime(orderedAt)}`,
    ),
  ]
}

/**
 * Returns the rows that have only the name in common with an earlier row. They are sent, because names are not
 * unique.
 */
function namesakeInFileLines(names: Plan['namesakesInFile']): string[] {
  if (names.length === 0) return []
  const [has, theyAre] = names.length === 1 ? ['has', 'it is'] : ['have', 'they are']
  return [
    `  ${formatCount(names.length, 'row')} ${has} the name of an earlier row with another e-mail and phone: ${theyAre} sent`,
    ...firstLines(
      names,
      maxNamed,
      ({ row, line, person, earlier }) =>
        `${personName(person)} (${positionText(row, line)}), as in ${positionText(earlier.row, earlier.line)}`,
    ),
  ]
}
