import { groupedAttention } from '../../domain/overview/attention.ts'
import type { BatchProgressNow } from '../../domain/overview/overview.ts'
import { statusesInOrder } from '../../domain/overview/people.ts'
import { styled } from '../terminal.ts'
import type { View } from '../view.ts'
import { attentionLines } from './overview.ts'
import { statusStyle } from './status.ts'

/** What a screen has room for under the rows. */
const mostGroups = 5

/** Where a batch stands, with how its checks go and who needs somebody. `standing`: its rows by state. */
export function followedBatchView(standing: View, { statuses, attention }: BatchProgressNow): View {
  const counts = statusesInOrder(Object.entries(statuses))
  return {
    json: { ...(standing.json as object), statuses, attention },
    text: (terminal) => {
      const shown = counts.map(([status, count]) => {
        const style = statusStyle(status)
        return `${count} ${style === undefined ? status : styled(terminal, style, status)}`
      })
      return [
        standing.text(terminal),
        ...(shown.length === 0 ? [] : ['', `requests  ${shown.join(', ')}`]),
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

/** `2 COMPLETED, 1 ERROR`: requests by status. */
export function requestsText(statuses: BatchProgressNow['statuses']): string {
  return statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)
