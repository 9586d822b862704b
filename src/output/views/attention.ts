import {
  type Attention,
  type AttentionGroup,
  type AttentionKind,
  groupAttention,
  longWaitDays,
} from '../../domain/overview/attention.ts'
import { cutText, personName } from '../../domain/wording/text.ts'
import { sanitize } from '../../host/text.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'

/** The number of groups that fit a screen of 24 lines. */
const maxGroups = 3
/** The number of people of a group whose names are shown. */
export const maxNamed = 3

/** The words for what happened to people or batches that need the user. */
export const attentionWords: Readonly<Record<AttentionKind, string>> = {
  unknown: 'perhaps ordered',
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
 * Returns the groups that need a person, each with its command. On a terminal, only the first `maxShown`
 * groups are shown.
 */
export function attentionLines(
  attention: readonly Attention[],
  terminal: Terminal,
  maxShown = terminal.columns === undefined ? Number.POSITIVE_INFINITY : maxGroups,
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
  return omittedCount > 0 ? [...lines, `and ${omittedCount} more; --json lists all`] : lines
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
  const otherCount = items.length - maxShown
  return `${items.slice(0, maxShown).map(nameOf).join(', ')}${otherCount > 0 ? ` and ${otherCount} more` : ''}`
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
