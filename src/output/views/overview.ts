import { requestStatuses, terminalStatuses } from '../../contract/statuses.ts'
import type { ListedBatch } from '../../domain/batch/batch-status.ts'
import {
  type Attention,
  type AttentionGroup,
  type AttentionKind,
  groupedAttention,
  longWaitDays,
} from '../../domain/overview/attention.ts'
import type { Overview } from '../../domain/overview/overview.ts'
import type { WindowStanding } from '../../domain/quota/book.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'
import { cutText } from '../../domain/wording/cut-text.ts'
import { localDay } from '../../domain/wording/local-time.ts'
import { personName } from '../../domain/wording/shown-name.ts'
import { sanitize } from '../../host/text.ts'
import { bar, formatDuration } from '../format.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

/** What a screen of 24 lines has room for. */
const maxGroups = 3
const maxBatches = 3
const maxReports = 3
/** People who are named of a group. */
const maxNamed = 3
/** Statuses that were read longer ago are told of as old. */
const oldMs = 86_400_000

export const attentionWords: Readonly<Record<AttentionKind, string>> = {
  unknown: 'unknown outcome',
  halted: 'halted',
  error: 'ERROR',
  rejected: 'rejected',
  invalid: 'invalid',
  held: 'held',
  stopped: 'stopped',
  waiting: `open for more than ${longWaitDays} days`,
}

const kindStyle: Readonly<Record<AttentionKind, Style>> = {
  unknown: 'red',
  halted: 'red',
  error: 'red',
  rejected: 'red',
  invalid: 'red',
  held: 'yellow',
  stopped: 'yellow',
  waiting: 'yellow',
}

/** The morning's screen. `quota`: undefined where nobody is logged in. */
export function overviewView(overview: Overview, quota: QuotaStatus | undefined, now: number): View {
  return {
    json: { ...overview, quota: quota === undefined ? null : quotaJson(quota, now) },
    text: (terminal) =>
      [
        section('In flight', inFlightLines(overview, now), terminal),
        section('Needs a person', attentionLines(overview.attention, terminal), terminal),
        ...(quota === undefined
          ? []
          : [section('Quota (calls to the service)', quotaLines(quota, now, terminal), terminal)]),
        ...(overview.reports.length === 0
          ? []
          : [section('Newest reports', reportLines(overview), terminal)]),
      ].join('\n\n'),
  }
}

function section(title: string, lines: readonly string[], terminal: Terminal): string {
  return [styled(terminal, 'bold', title), ...lines.map((line) => (line === '' ? '' : `  ${line}`))].join(
    '\n',
  )
}

function inFlightLines({ statuses, in_flight: inFlight }: Overview, now: number): string[] {
  const { requests, read_since: since, batches } = inFlight
  const open = requestStatuses.filter((status) => !terminalStatuses.includes(status))
  const counts = open.flatMap((status) =>
    statuses[status] === undefined ? [] : `${statuses[status]} ${status}`,
  )
  const age = since === null ? 0 : now - Date.parse(since)
  const lines = [
    requests === 0
      ? 'No request is in flight.'
      : `${countInWords(requests, 'request')}: ${counts.join(', ')}`,
    ...(age > oldMs
      ? [`Last read up to ${formatDuration(age / 1000)} ago. Read again: refcheck request list --refresh`]
      : []),
    ...batches.slice(0, maxBatches).map(batchLine),
  ]
  const more = batches.length - maxBatches
  return more > 0
    ? [...lines, `${countInWords(more, 'more batch', 'more batches')}: refcheck batch list`]
    : lines
}

function batchLine({ name, state, total, pending }: ListedBatch): string {
  const rows = `${sanitize(name)}: ${pending} of ${countInWords(total, 'row')} not sent yet`
  return state === 'running' || state === 'queued' ? `${rows}, ${state}` : rows
}

/** What needs a person, with the command for each; on a terminal as much as a screen takes. */
export function attentionLines(
  attention: readonly Attention[],
  terminal: Terminal,
  maxShown = terminal.columns === undefined ? Number.POSITIVE_INFINITY : maxGroups,
): string[] {
  const groups = groupedAttention(attention)
  if (groups.length === 0) return [styled(terminal, 'green', 'Nothing.')]
  const lines = groups.slice(0, maxShown).flatMap((group) => {
    const { kind, items, command } = group
    const head = `${items.length} ${attentionWords[kind]}`
    const about = shortened(aboutGroup(group), terminal, head.length + 6)
    return [`${styled(terminal, kindStyle[kind], head)}  ${about}`.trimEnd(), `  ${command}`]
  })
  const more = groups.length - maxShown
  return more > 0 ? [...lines, `and ${more} more; --json lists all`] : lines
}

function aboutGroup({ batch, items, kind }: AttentionGroup): string {
  const where = batch === null ? '' : `${sanitize(batch)}: `
  if (kind === 'halted' || kind === 'stopped')
    return `${sanitize(batch ?? '')}  ${sanitize(items[0]?.reason ?? '')}`
  const people = `${where}${namesOf(items, maxNamed)}`
  const [reason, ...others] = new Set(items.map((each) => each.reason))
  return others.length > 0 || reason === null || reason === undefined
    ? people
    : `${people}: ${sanitize(reason)}`
}

/** The first of them by their names, and how many more there are. */
export function namesOf(items: readonly Attention[], maxShown: number): string {
  const rest = items.length - maxShown
  return `${items.slice(0, maxShown).map(nameOf).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** As a person is called, or else what is known of them. */
function nameOf({ first_name: first, last_name: last, email, row }: Attention): string {
  const name = personName({ first_name: first ?? '', last_name: last ?? '' })
  return sanitize(name === '' ? (email ?? `row ${row ?? '?'}`) : name)
}

function shortened(text: string, { columns }: Terminal, taken: number): string {
  const maxColumns = columns === undefined ? Number.POSITIVE_INFINITY : columns - taken
  return text.length <= maxColumns ? text : cutText(text, Math.max(0, maxColumns - 1))
}

function reportLines({ reports }: Overview): string[] {
  const shown = reports.slice(0, maxReports)
  const missing = reports.some(({ files }) => files === null || files === 0)
  const lines = shown.map(
    ({ completed_at: at, first_name: first, last_name: last, request_id: id, files }) => {
      const state =
        files === null ? '' : files === 0 ? '  not downloaded' : `  ${countInWords(files, 'file')}`
      const name = personName({ first_name: first ?? '', last_name: last ?? '' })
      return `${localDay(at)}  ${id.slice(0, 8)}  ${sanitize(name === '' ? '-' : name)}${state}`
    },
  )
  const isSet = reports.every(({ files }) => files !== null)
  const command = isSet ? 'refcheck report sync' : 'refcheck report download --all-completed --output reports'
  return missing ? [...lines, `Download: ${command}`] : lines
}

export interface QuotaStatus {
  windows: readonly WindowStanding[]
  notBefore: number
}

/** The windows of a key at `now` (wall time in ms). */
export function quotaView(quota: QuotaStatus, now: number): View {
  return {
    json: quotaJson(quota, now),
    text: (terminal) => {
      const known = quota.windows.filter(({ learnt }) => learnt)
      const counts = known.map(
        ({ seconds }) => `The window of ${formatDuration(seconds)} is as the service reported it.`,
      )
      return [
        'Calls to the service',
        ...quotaLines(quota, now, terminal),
        ...(counts.length === 0 ? [] : ['', ...counts]),
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

/** A bar for each window, and a line where the service refuses calls. */
function quotaLines({ windows, notBefore }: QuotaStatus, now: number, terminal: Terminal): string[] {
  const names = windows.map(({ calls, seconds }) => `${calls} in ${formatDuration(seconds)}`)
  const width = (texts: readonly (string | number)[]): number =>
    Math.max(...texts.map((text) => String(text).length))
  const [nameWidth, usedWidth, leftWidth] = [
    width(names),
    width(windows.map(({ used }) => used)),
    width(windows.map(({ left }) => left)),
  ]
  const lines = windows.map(({ calls, seconds, used, left, resetsAt }, at) => {
    // Calls are counted as if they arrived late; nobody waits longer than the window.
    const rest = Math.min(seconds, (resetsAt - now) / 1000)
    const again = used === 0 ? '' : `, free again in ${formatDuration(rest)}`
    const drawn = styled(terminal, fullness(used / calls), bar(used / calls))
    const counts = `${String(used).padStart(usedWidth)} used, ${String(left).padStart(leftWidth)} left`
    return `${(names[at] ?? '').padEnd(nameWidth)}  ${drawn}  ${counts}${again}`
  })
  if (notBefore <= now) return lines
  return [...lines, '', `The service refuses calls for another ${formatDuration((notBefore - now) / 1000)}.`]
}

function fullness(part: number): Style {
  if (part >= 0.95) return 'red'
  return part >= 0.75 ? 'yellow' : 'green'
}
