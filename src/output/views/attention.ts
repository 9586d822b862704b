import {
  type Attention,
  type AttentionGroup,
  type AttentionKind,
  groupAttention,
  longWaitDays,
} from '../../domain/overview/attention.ts'
import type { FailedPerson, FailedStatus } from '../../domain/batch/conflict-counts.ts'
import type { BatchResult } from '../../domain/batch/verdict.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { cutName, cutText, joinFirst, personName } from '../../domain/wording/text.ts'
import { sanitize } from '../../host/text.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'

/** The number of people of a group whose names are shown. */
export const maxNamed = 3

/** The words for the reasons why a person or a batch needs the user's attention. */
export const attentionWords: Readonly<Record<AttentionKind, string>> = {
  unknown: 'perhaps ordered',
  second_order: 'perhaps ordered twice',
  halted: 'halted',
  error: 'could not be done',
  cancelled: 'cancelled',
  rejected: 'rejected',
  invalid: 'invalid',
  held: 'held',
  stopped: 'stopped',
  waiting: `open for over ${longWaitDays} days`,
}

export const kindStyle = (kind: AttentionKind): Style =>
  ['held', 'stopped', 'waiting'].includes(kind) ? 'yellow' : 'red'

/**
 * Returns two lines for each group of problems that the user has to look at: a summary, and the command for it, for at
 * most `maxShown` groups.
 */
export function attentionLines(
  attention: readonly Attention[],
  terminal: Terminal,
  maxShown = Number.POSITIVE_INFINITY,
): string[] {
  const groups = groupAttention(attention)
  if (groups.length === 0) return [styled(terminal, 'green', 'Nothing.')]
  const lines = groups.slice(0, maxShown).flatMap((group) => {
    const { kind, items, command } = group
    const countText = `${items.length} ${attentionWords[kind]}`
    const summary = cutToTerminal(groupSummary(group), terminal, countText.length + 6)
    return [`${styled(terminal, kindStyle(kind), countText)}  ${summary}`.trimEnd(), `  ${command}`]
  })
  const omittedCount = groups.length - maxShown
  return omittedCount > 0 ? [...lines, `and ${omittedCount} more`] : lines
}

function groupSummary({ batch, items, kind }: AttentionGroup): string {
  const batchText = batch === null ? '' : `${sanitize(batch)}: `
  if (kind === 'halted' || kind === 'stopped')
    return `${sanitize(batch ?? '')}  ${sanitize(items[0]?.reason ?? '')}`.trimEnd()
  const people = `${batchText}${namesOf(items, maxNamed)}`
  const [reason, ...otherReasons] = new Set(items.map((each) => each.reason))
  return otherReasons.length > 0 || reason === null || reason === undefined
    ? people
    : `${people}: ${sanitize(reason)}`
}

/** Returns the names of the first `maxShown` people and the number of the other people. */
export function namesOf(items: readonly Attention[], maxShown: number): string {
  return joinFirst(items.slice(0, maxShown).map(nameOf), maxShown, items.length)
}

/** Returns the name of a person, or the e-mail; if both are unknown, the start of an id, or the row of an invalid line. */
function nameOf({ first_name: first, last_name: last, ...item }: Attention): string {
  const name = personName({ first_name: first ?? '', last_name: last ?? '' })
  if (name !== '') return sanitize(name)
  const { kind, email, row, request_id: requestId, batch_id: batchId } = item
  if (email !== null) return sanitize(email)
  return kind === 'invalid' ? `row ${row ?? '?'}` : `${(requestId ?? batchId).slice(0, 8)}, name not known`
}

function cutToTerminal(text: string, { columns }: Terminal, usedColumns: number): string {
  const maxColumns = columns === undefined ? Number.POSITIVE_INFINITY : columns - usedColumns
  return text.length <= maxColumns ? text : cutText(text, Math.max(0, maxColumns - 1))
}

/** The values that identify a person. */
type PersonValues = Readonly<Record<'first_name' | 'last_name' | 'email' | 'phone', string>>

/** Returns the command that orders a person again. */
export const orderAgainCommand = (packageId: number, recipient: PersonValues): string =>
  `refcheck request create --package ${packageId}${personFlags(recipient)} --allow-duplicate`

/** Returns the flags for ordering the same person again, without values that cannot be pasted as they are shown. */
function personFlags(recipient: PersonValues): string {
  return (['first_name', 'last_name', 'email', 'phone'] as const)
    .map((name) => [name, recipient[name]] as const)
    .filter(([, value]) => !value.startsWith('-') && cutName(value) === value && sanitize(value) === value)
    .map(([name, value]) => ` --${name.replace('_', '-')} ${shellWord(value)}`)
    .join('')
}

/** The maximum number of people without a result that the output of a run lists by name. */
const maxFailedNamed = 3

/** Returns the commands that order people again, if they are few. */
export const orderAgainLines = (failed: readonly FailedPerson[]): string[] =>
  failed.length > maxFailedNamed ? [] : failed.flatMap(orderAgainLine)

/** Returns no line for a person who was ordered again already, or whose data is not known. */
function orderAgainLine({ rowText, packageId, recipient, isOrderedAgain }: FailedPerson): string[] {
  return isOrderedAgain || packageId === undefined || recipient === undefined
    ? []
    : [`To order ${sanitize(rowText)} again: ${orderAgainCommand(packageId, recipient)}`]
}

/** Returns the command that shows why the requests of people ended without a result. */
export function failedRequestsCommand(failed: readonly FailedPerson[]): string {
  const statuses = new Set(failed.map(({ status }) => status))
  return failed.length <= maxFailedNamed
    ? `refcheck request get ${failed.map(({ requestId }) => requestId).join(' ')}`
    : `refcheck request list${statuses.size === 1 ? ` --status ${[...statuses].join('')}` : ''}`
}

/**
 * Returns `; the request of Ana Row (line 2) was CANCELLED`, or '' if no request was cancelled or ended in ERROR. If
 * `people` is empty, the text has only the number of requests.
 */
export function failedText(
  failedByStatus: BatchResult['earlierOrders']['failedByStatus'],
  people: readonly FailedPerson[],
): string {
  const describe = (status: FailedStatus, one: string, several: string): string => {
    const count = failedByStatus[status] ?? 0
    if (count === 0) return ''
    const names = people
      .filter((person) => person.status === status)
      .slice(0, maxFailedNamed)
      .map(({ rowText, isOrderedAgain }) => `${sanitize(rowText)}${isOrderedAgain ? ', ordered again,' : ''}`)
    const who = names.length === 0 ? String(count) : joinFirst(names, maxFailedNamed, count)
    return count === 1 ? `; the request of ${who} ${one}` : `; the requests of ${who} ${several}`
  }
  return (
    describe('CANCELLED', 'was CANCELLED', 'were CANCELLED') +
    describe('ERROR', 'ended in ERROR', 'ended in ERROR')
  )
}
