import { groupedAttention } from '../../domain/overview/attention.ts'
import type { BatchProgressNow } from '../../domain/overview/overview.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { statusesInOrder } from '../../domain/overview/people.ts'
import type { CheckCounts } from '../../domain/request/check-counts.ts'
import { sanitize } from '../../host/text.ts'
import { styled } from '../terminal.ts'
import type { View } from '../view.ts'
import { attentionLines } from './overview.ts'
import { statusStyle } from './status.ts'

/** What a screen has room for under the rows. */
const mostGroups = 5

/** Where a batch stands, with how its checks go and who needs somebody. `standing`: its rows by state. */
export function followedBatchView(standing: View, { statuses, checks, attention }: BatchProgressNow): View {
  const counts = statusesInOrder(Object.entries(statuses))
  return {
    json: { ...(standing.json as object), statuses, checks, attention },
    text: (terminal) => {
      const shown = counts.map(([status, count]) => {
        const style = statusStyle(status)
        return `${count} ${style === undefined ? status : styled(terminal, style, status)}`
      })
      return [
        standing.text(terminal),
        ...(shown.length === 0 ? [] : ['', `requests  ${shown.join(', ')}`]),
        ...checkLines(checks, sum(Object.values(statuses))),
        ...(groupedAttention(attention).length === 0
          ? []
          : [
              '',
              styled(terminal, 'bold', 'Needs a person'),
              ...indented(
                attentionLines(attention, terminal, terminal.columns === undefined ? undefined : mostGroups),
              ),
            ]),
      ].join('\n')
    },
  }
}

const checkWords: Readonly<Record<string, readonly [one: string, many: string]>> = {
  RECEIVED: ['not started', 'not started'],
  IN_PROGRESS: ['in progress', 'in progress'],
  COMPLETED: ['completed', 'completed'],
  CANCELLED: ['cancelled', 'cancelled'],
  ERROR: ['needs attention', 'need attention'],
}

/** Single checks in words, by type where there are several; `requests`: how many there are. */
function checkLines({ requests, by_type: byType }: CheckCounts, all: number): string[] {
  const types = Object.entries(byType)
  if (types.length === 0) return []
  const total: Record<string, number> = {}
  for (const [, statuses] of types)
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count
  const of = requests === all ? '' : ` (${requests} of ${countInWords(all, 'request')} read)`
  return [
    `checks    ${checksInWords(total)}${of}`,
    ...(types.length === 1 ? [] : types.map(([type, statuses]) => `  ${type}: ${checksInWords(statuses)}`)),
  ]
}

const checksInWords = (statuses: Readonly<Record<string, number>>): string =>
  statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => {
      const [one, many] = checkWords[status] ?? [status, status]
      return `${count} ${sanitize(count === 1 ? one : many)}`
    })
    .join(', ')

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

/** `2 COMPLETED, 1 ERROR`: requests by status. */
export function requestsText(statuses: BatchProgressNow['statuses']): string {
  return statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)
