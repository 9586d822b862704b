import stringWidth from 'fast-string-width'

import type { ListedBatch } from '../../domain/batch/batch-status.ts'
import { type Attention, type AttentionGroup, groupAttention } from '../../domain/overview/attention.ts'
import type { OtherOrders, Overview } from '../../domain/overview/overview.ts'
import { type Closing, closingClauses } from '../../domain/store/closing.ts'
import type { WindowStatus } from '../../domain/quota/book.ts'
import { formatCount, cutText } from '../../domain/wording/text.ts'
import { localClock, localTime } from '../../domain/wording/time.ts'
import { sanitize } from '../../host/text.ts'
import { progressBar, formatDuration, type Style, styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'
import { attentionWords, kindStyle, maxNamed, namesOf } from './attention.ts'

/** Limits with which the text fits a screen of 24 lines. */
const maxBatches = 3
const maxAttentionLines = 8
const maxNameWidth = 24
const minuteMs = 60_000
const dayMs = 86_400_000
/** A window of the quota is shown if at least this fraction of its calls is used. */
const shownQuotaFraction = 0.9

/**
 * Shows `refcheck status`. `quota` is undefined if no profile is logged in; `closing` is the reason why the store is
 * closed. `showsAll`: whether each person who needs the user has a line, without a limit. `unread`: the number of requests
 * that events name and that were not read yet.
 */
export function overviewView(
  overview: Overview,
  quota: QuotaStatus | undefined,
  closing: Closing | undefined,
  { now, showsAll, unread }: { now: number; showsAll: boolean; unread: number },
): View {
  return {
    json: {
      ...overview,
      quota: quota === undefined ? null : quotaJson(quota, now),
      ...(unread > 0 && { unread }),
    },
    text: (terminal) =>
      [
        ...closingLines(closing, terminal),
        organisationLine(overview, now, terminal),
        ...runningLines(overview, terminal),
        ...attentionTable(overview.attention, unread, terminal, showsAll),
        ...endedLines(overview),
        ...reportLines(overview, terminal),
        ...quotaWarning(quota, now, terminal),
        ...otherOrdersLines(overview.other_orders),
      ].join('\n'),
  }
}

/** Returns the reason why no order can be made. It is printed first, because it is the most important line. */
function closingLines(closing: Closing | undefined, terminal: Terminal): string[] {
  if (closing === undefined) return []
  const why = sanitize(closingClauses(closing).join(', '))
  return [
    `${styled(terminal, 'red', 'The store takes no orders')}: ${why}`,
    '  See what is missing, and how to continue, with: refcheck store check',
  ]
}

const labelWidth = 11

const labelLine = (terminal: Terminal, label: string, text: string): string =>
  `${styled(terminal, 'bold', label)}${' '.repeat(Math.max(1, labelWidth - label.length))}${text}`

function organisationLine(
  { organisation, in_flight: inFlight }: Overview,
  now: number,
  terminal: Terminal,
): string {
  if (organisation === null) return 'Nobody is logged in. Log in with: refcheck auth login'
  const { profile, base_url: baseUrl, user_email: email } = organisation
  const who = `${styled(terminal, 'bold', sanitize(profile ?? new URL(baseUrl).host))} (${sanitize(email)})`
  const { read_since: since } = inFlight
  if (since === null) return who
  const age = Math.max(0, now - Date.parse(since))
  if (age < minuteMs) return `${who}   read just now`
  const readTime =
    age > dayMs ? localTime(since).slice(0, -' +00:00'.length) : localClock(since).slice(0, -':00'.length)
  // The status of a request that was never read is that of its order.
  return `${who}   as of ${readTime}, ${formatDuration(age / 1000)} ago`
}

function runningLines({ in_flight: inFlight, attention }: Overview, terminal: Terminal): string[] {
  const { requests, batches } = inFlight
  const orders =
    requests === 0 ? [] : [`${formatCount(requests, 'order')}   read again: refcheck request list --refresh`]
  // A batch that needs a person, such as a halted one, is not running. `attentionTable` shows it with its command.
  const batchesInAttention = new Set(attention.flatMap(({ row, batch_id: id }) => (row === null ? id : [])))
  const running = batches.filter(({ batch_id: id }) => !batchesInAttention.has(id))
  const more = running.length - maxBatches
  const hasState = (state: string): boolean => running.some((batch) => batch.state === state)
  const lines = [
    ...orders,
    ...running.slice(0, maxBatches).map(batchLine),
    ...(more > 0 ? [`${formatCount(more, 'more batch', 'more batches')}: refcheck batch list`] : []),
    // Workers are not recorded. One that runs has begun a queued batch within seconds, or runs another one.
    ...(hasState('queued') && !hasState('running')
      ? ['Queued rows wait for a worker. If none runs, start it: refcheck worker']
      : []),
  ]
  return (lines.length === 0 ? ['nothing'] : lines).map((line, index) =>
    labelLine(terminal, index === 0 ? 'Running' : '', line),
  )
}

function batchLine({ name, state, total, pending }: ListedBatch): string {
  const rows = `${sanitize(cutText(name, maxNameWidth))}: ${pending} of ${formatCount(total, 'row')} left to send`
  return state === 'running' || state === 'queued' ? `${rows}, ${state}` : rows
}

/** Returns the people and batches that need the user, each with the kind and the command. */
function attentionTable(
  attention: readonly Attention[],
  unread: number,
  terminal: Terminal,
  showsAll: boolean,
): string[] {
  if (attention.length + unread === 0) return [labelLine(terminal, 'Needs you', 'nothing')]
  const isShort = terminal.columns !== undefined
  const groups = groupAttention(attention).flatMap((group) => splitGroup(group, showsAll))
  const shown = isShort && !showsAll ? groups.slice(0, maxAttentionLines) : groups
  const cells = shown.map(({ kind, batch, items, command }) => ({
    who: items[0]?.row === null ? cutText(sanitize(batch ?? ''), maxNameWidth) : firstName(items),
    word: attentionWords[kind],
    style: kindStyle(kind),
    reason:
      kind === 'halted' || kind === 'stopped'
        ? items[0]?.reason
        : kind === 'invalid'
          ? `correct ${batch} and run it again`
          : kind === 'rejected'
            ? `correct ${batch} and run it again, or if the cause is gone, retry the rows`
            : undefined,
    // Commands accept the first characters of an id.
    command: isShort ? command.replaceAll(uuid, '$1') : command,
  }))
  if (unread > 0)
    cells.push({
      who: `${formatCount(unread, 'request')} that this store did not record`,
      word: 'not read yet',
      style: 'yellow',
      reason: undefined,
      command: 'refcheck batch reconcile',
    })
  const maxWidth = (texts: readonly string[]): number => Math.max(...texts.map((text) => stringWidth(text)))
  const whoWidth = maxWidth(cells.map(({ who }) => who))
  const wordWidth = maxWidth(cells.map(({ word }) => word))
  const lines = cells.map(({ who, word, style, reason, command }) => {
    const start = `  ${who}${' '.repeat(whoWidth - stringWidth(who))}  ${styled(terminal, style, word)}`
    const padding = ' '.repeat(wordWidth - word.length)
    const width = 6 + whoWidth + wordWidth + command.length
    const isOneLine = width <= (terminal.columns ?? Number.POSITIVE_INFINITY)
    const why = reason == null ? '' : `\n    ${sanitize(reason)}`
    return isOneLine ? `${start}${padding}  ${command}${why}` : `${start}${why}\n    ${command}`
  })
  const more = groups.length - shown.length
  const rest = more > 0 ? [`  and ${more} more; each person: refcheck status --all`] : []
  return [styled(terminal, 'bold', 'Needs you'), ...lines, ...rest]
}

/**
 * Returns a line for each status without a result, with the number of its requests that are settled: the user has looked at
 * them, or the person was ordered again. The others are listed above, each with its command.
 */
function endedLines({ statuses, attention }: Overview): string[] {
  return (['ERROR', 'CANCELLED'] as const).flatMap((status) => {
    const filter = status.toLowerCase()
    const listedCount = attention.filter(({ kind }) => kind === filter).length
    const count = (statuses[status] ?? 0) - listedCount
    return count <= 0 ? [] : [`Ended, settled: ${count} ${status} → refcheck request list --status ${filter}`]
  })
}

const uuid = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi

/**
 * Splits a group into one group per entry if `isAlwaysSplit`, or if they are a few finished requests, because each of
 * these needs its own command.
 */
function splitGroup(
  group: AttentionGroup,
  isAlwaysSplit: boolean,
): Pick<AttentionGroup, 'kind' | 'batch' | 'items' | 'command'>[] {
  const { kind, items } = group
  const isSmallFinished = (kind === 'error' || kind === 'cancelled') && items.length <= maxNamed
  return isAlwaysSplit || isSmallFinished
    ? items.map((item) => ({ kind, batch: item.batch, items: [item], command: item.command }))
    : [group]
}

function reportLines(
  { completed, new_reports: newReports, reports_awaited: awaited }: Overview,
  terminal: Terminal,
): string[] {
  const count = newReports ?? completed
  // "completed" instead of "ready": only a read of the request shows whether its reports are ready.
  const what = newReports === null ? 'completed' : 'not downloaded'
  const lines = [
    ...(count === 0 ? [] : [`${count} ${what} → refcheck report sync`]),
    // Without a command: another sync may find a report, but need not.
    ...(awaited === null || awaited === 0 ? [] : [`${awaited} looked at, no report here yet`]),
  ]
  return lines.map((line, index) => labelLine(terminal, index === 0 ? 'Reports' : '', line))
}

/** Returns the windows of the quota that are nearly used up, so that a run would soon have to wait. */
function quotaWarning(quota: QuotaStatus | undefined, now: number, terminal: Terminal): string[] {
  if (quota === undefined) return []
  const windows = quota.windows.filter(({ used, calls }) => used / calls >= shownQuotaFraction)
  if (windows.length === 0 && quota.notBefore <= now) return []
  // Without bars, which would make the lines wrap at 80 columns.
  const lines = quotaLines({ ...quota, windows }, now, terminal, false).filter((line) => line !== '')
  return lines.map((line, index) => labelLine(terminal, index === 0 ? 'Quota' : '', line))
}

/**
 * Returns the orders of other services and accounts. The orders of all sandboxes are one line, because sandboxes are
 * temporary.
 */
function otherOrdersLines(others: readonly OtherOrders[]): string[] {
  const practiceOrders = others
    .filter((each) => each.is_practice)
    .reduce((sum, { orders }) => sum + orders, 0)
  const lines = others.flatMap(
    ({ base_url: url, account, is_practice: isPractice, orders, needs_person: needs }) => {
      if (isPractice) return []
      const where = `${new URL(url).host}${account === '' ? '' : `, account ${account}`}`
      const open = needs === 0 ? '' : `; ${needs} ${needs === 1 ? 'needs' : 'need'} you`
      return `Also: ${formatCount(orders, 'order')} (${sanitize(where)})${open}`
    },
  )
  return practiceOrders === 0
    ? lines
    : [...lines, `Also: ${formatCount(practiceOrders, 'practice order')} (sandbox)`]
}

/** Returns the name of the first person of a group, shortened if it is long, and the count of the others. */
function firstName(items: readonly Attention[]): string {
  const more = items.length === 1 ? '' : ` and ${items.length - 1} more`
  return `${cutText(namesOf(items.slice(0, 1), 1), maxNameWidth)}${more}`
}

export interface QuotaStatus {
  windows: readonly WindowStatus[]
  notBefore: number
}

/** Shows the quota of a key at `now` (wall time in ms). */
export function quotaView(quota: QuotaStatus, now: number): View {
  return {
    json: quotaJson(quota, now),
    text: (terminal) => {
      const reportedWindows = quota.windows.filter(({ learnt }) => learnt)
      const notes = reportedWindows.map(
        ({ seconds }) =>
          `The service refused a call, probably because of the window of ${formatDuration(seconds)}.`,
      )
      return [
        'Calls to the service, without those of other programs that use the same key',
        ...quotaLines(quota, now, terminal),
        ...(notes.length === 0 ? [] : ['', ...notes]),
      ].join('\n')
    },
  }
}

function quotaJson({ windows, notBefore }: QuotaStatus, now: number) {
  return {
    windows: windows.map(({ calls, seconds, used, left, resetsAt, learnt }) => ({
      calls,
      seconds,
      used,
      left,
      resets_at: used === 0 ? null : new Date(resetsAt).toISOString(),
      learnt,
    })),
    not_before: notBefore > now ? new Date(notBefore).toISOString() : null,
  }
}

/** Returns a line for each window, with a bar if `hasBar`, and a further line while the service refuses calls. */
function quotaLines(
  { windows, notBefore }: QuotaStatus,
  now: number,
  terminal: Terminal,
  hasBar = true,
): string[] {
  const names = windows.map(({ calls, seconds }) => `${calls} in ${formatDuration(seconds)}`)
  const width = (texts: readonly (string | number)[]): number =>
    Math.max(...texts.map((text) => String(text).length))
  const [nameWidth, usedWidth, leftWidth] = [
    width(names),
    width(windows.map(({ used }) => used)),
    width(windows.map(({ left }) => left)),
  ]
  const lines = windows.map(({ calls, seconds, used, left, resetsAt, learnt }, index) => {
    // `resetsAt` assumes that calls arrived late, and may be too late; no wait is longer than the window.
    const waitSeconds = Math.min(seconds, (resetsAt - now) / 1000)
    const resetText = used === 0 ? '' : `, free again in ${formatDuration(waitSeconds)}`
    const usageBar = styled(terminal, usageStyle(used / calls), progressBar(used / calls))
    // A refusal states only a wait, neither its window nor the calls that other programs made.
    const counts = learnt
      ? 'probably used up'
      : `${String(used).padStart(usedWidth)} used, ${String(left).padStart(leftWidth)} left`
    const name = (names[index] ?? '').padEnd(nameWidth)
    return [name, ...(hasBar ? [usageBar] : []), `${counts}${resetText}`].join('  ')
  })
  if (notBefore <= now) return lines
  return [...lines, '', `The service takes calls again in ${formatDuration((notBefore - now) / 1000)}.`]
}

function usageStyle(usedFraction: number): Style {
  if (usedFraction >= 0.95) return 'red'
  return usedFraction >= 0.75 ? 'yellow' : 'green'
}
