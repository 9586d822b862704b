import { relative } from 'node:path'

import type { Check, Referee, RequestResource } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import { statusCounts } from '../../domain/overview/people.ts'
import type { PrintedRequest } from '../../domain/request/listed-request.ts'
import { isUnread, type RequestResult } from '../../domain/request/result.ts'
import { localDay, localTime } from '../../domain/wording/time.ts'
import { cutName, personName, formatCount } from '../../domain/wording/text.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { sanitize } from '../../host/text.ts'
import { failureJson } from '../present.ts'
import { statusStyle, styled, type Terminal, styledStatus } from '../terminal.ts'
import { table } from '../table.ts'
import type { Column, ListView, View } from '../view.ts'
import {
  type FilingResult,
  isMissing,
  type MissingReport,
  type StoredReport,
} from '../../domain/report/filed.ts'

/** Statuses of checks and referees that end without a report. */
const ended: ReadonlySet<string> = new Set(['CANCELLED', 'ERROR'])

interface CheckRow {
  check: string
  status: string
  id: string
  report: string
}

/** Left out where a narrow terminal would break e-mails for it: the sign before the name says the same. */
const refereePrefix = /^referee /

const columns: Column<CheckRow>[] = [
  { name: 'check' },
  { name: 'status', style: (row) => statusStyle(row.status) },
  { name: 'report', style: (row) => (row.report === 'ready' ? 'green' : 'dim') },
  { name: 'id', avoidsWrapping: true, short: (row) => row.id.replace(refereePrefix, '') },
]

/**
 * One request, or several: an array in JSON where more than one was asked for, in which one that could not be read
 * is reported in its position.
 */
export function requestsView(results: readonly RequestResult[], asArray: boolean): View {
  const json = results.map((each) =>
    isUnread(each) ? { request_id: each.requestId, error: failureJson(each.error) } : each.request,
  )
  return {
    json: asArray ? json : json[0],
    text: (terminal) => {
      const read = results.flatMap((each) => (isUnread(each) ? [] : [requestText(each.request, terminal)]))
      // One alone is what the error is about.
      const unread = results.filter(isUnread)
      const lines = (unread.length === 1 ? [] : unread).map(
        ({ requestId, error }) =>
          `${styled(terminal, 'yellow', 'not read')}  ${sanitize(requestId)}: ${sanitize(error.message)}`,
      )
      return [...read, ...(lines.length === 0 ? [] : [lines.join('\n')])].join('\n\n')
    },
  }
}

/** Everybody of a batch who was waited for, a line each; in JSON as `requestsView` of several. */
export function waitedBatchView(results: readonly RequestResult[]): View {
  const read = results.flatMap((each) => (isUnread(each) ? [] : [each.request]))
  return {
    json: requestsView(results, true).json,
    text: (terminal) => {
      const counts = statusCounts(read).map(([status, count]) => `${count} ${status}`)
      const unread = results.length - read.length
      const totals = [...counts, ...(unread === 0 ? [] : [`${unread} not read`])].join(', ')
      const shown = waitedColumns.slice(0, read.some(hasReason) ? undefined : -1)
      return `${read.length === 0 ? '' : `${table(read, shown, terminal)}\n\n`}${totals}`
    },
  }
}

const hasReason = ({ error_reason: reason }: RequestResource): boolean => typeof reason === 'string'

const waitedColumns: Column<RequestResource>[] = [
  { name: 'name', value: ({ recipient: { first_name: first, last_name: last } }) => `${first} ${last}` },
  { name: 'status', style: (row) => statusStyle(row.status) },
  { name: 'request_id', avoidsWrapping: true },
  {
    name: 'reason',
    value: ({ error_reason: reason }) => (typeof reason === 'string' ? reason : undefined),
    show: ({ error_reason: reason }) => (typeof reason === 'string' ? reason : ''),
  },
]

function requestText(request: RequestResource, terminal: Terminal): string {
  const { recipient } = request
  const name = sanitize(personName(recipient))
  const lines = [
    `${styled(terminal, 'bold', name)}  ${styledStatus(terminal, request.status)}`,
    `  request    ${sanitize(request.request_id)}`,
    `  package    ${packageText(request)}`,
    `  recipient  ${sanitize(recipient.email)}, ${sanitize(recipient.phone)}`,
    `  created    ${sanitize(localTime(request.created_at))} by ${sanitize(request.requester.email)}`,
  ]
  const { error_reason: reason } = request
  if (typeof reason === 'string') lines.push(`  reason     ${sanitize(reason)}`)
  else if (ended.has(request.status) && terminal.columns !== undefined)
    lines.push('  reason     none is known here; ask the provider, with the id above')
  const isOver = terminalStatuses.includes(request.status)
  const rows = request.checks.flatMap((check) => checkRows(check, isOver))
  if (rows.length === 0) lines.push('', '  No checks have been started yet.')
  else lines.push('', table(rows, columns, terminal))
  if (terminal.columns !== undefined) lines.push(...nextStep(request, rows))
  return lines.join('\n')
}

/** What a person does next with a request that ended. */
function nextStep(
  { request_id: id, package_id: packageId, status, recipient }: RequestResource,
  rows: CheckRow[],
): string[] {
  const command = ended.has(status)
    ? `To order again: refcheck request create --package ${packageId}${personFlags(recipient)} --allow-duplicate`
    : `Reports: refcheck report download --request ${sanitize(id.slice(0, 8))}`
  const hasReport = rows.some(({ report }) => report === 'ready')
  return ended.has(status) || (status === 'COMPLETED' && hasReport) ? ['', command] : []
}

/** The flags of a new order of the same person, with the values that can be pasted as they are shown. */
function personFlags(recipient: RequestResource['recipient']): string {
  return (['first_name', 'last_name', 'email', 'phone'] as const)
    .map((name) => [name, recipient[name]] as const)
    .filter(([, value]) => !value.startsWith('-') && cutName(value) === value && sanitize(value) === value)
    .map(([name, value]) => ` --${name.replace('_', '-')} ${shellWord(value)}`)
    .join('')
}

/** With its name where that is known. */
function packageText({ package_id: id, package_name: name }: RequestResource): string {
  return typeof name === 'string' ? `${id} ${sanitize(name)}` : String(id)
}

function checkRows(check: Check, isRequestOver: boolean): CheckRow[] {
  const isOver = isRequestOver || ended.has(check.status)
  const isReference = check.type === 'reference'
  const own: CheckRow = {
    check: checkName(check),
    status: check.status,
    id: check.id ?? '-',
    report: isReference ? '-' : readiness(check, isOver),
  }
  const referees = check.references ?? []
  if (isReference && referees.length === 0) own.report = isOver ? 'no referees' : 'no referees yet'
  return [own, ...referees.map((referee) => refereeRow(referee, isOver))]
}

/** With the partner who does it, where one is named. */
function checkName({ type, check_name: name, partner_name: partner }: Check): string {
  if (type === 'reference') return 'Reference check'
  return `${name ?? 'Background check'}${partner === null || partner === undefined ? '' : ` (${partner})`}`
}

function refereeRow(referee: Referee, isOver: boolean): CheckRow {
  const email = referee.referee_email === null ? '' : ` <${referee.referee_email}>`
  return {
    check: `└ ${referee.referee_name ?? 'Unnamed referee'}${email}`,
    status: referee.status,
    id: `referee ${referee.referee_id}`,
    report: readiness(referee, isOver),
  }
}

/** A check or referee of what is over gets no report any more, but for one that COMPLETED. */
function readiness(
  { status, report_pdf_url: url }: Pick<Check | Referee, 'status' | 'report_pdf_url'>,
  isOver: boolean,
): string {
  if (url !== null && url !== undefined) return 'ready'
  return ended.has(status) || (isOver && status !== 'COMPLETED') ? 'none' : 'not yet'
}

/** The journal's requests. A row without a status shows what is known of its order instead. */
export function listedRequestsView(requests: readonly PrintedRequest[]): ListView<PrintedRequest> {
  return {
    rows: requests,
    json: ({ failure, ...row }) => (failure === undefined ? row : { ...row, error: failureJson(failure) }),
    columns: [
      {
        name: 'request_id',
        short: (row) => row.request_id?.slice(0, 8) ?? '-',
        avoidsWrapping: true,
      },
      {
        name: 'status',
        value: (row) => row.status ?? row.state,
        style: (row) => (row.status === null ? 'yellow' : statusStyle(row.status)),
      },
      { name: 'ordered_at', show: (row) => localDay(row.ordered_at) },
      {
        name: 'name',
        value: ({ recipient: person }) => person && `${person.first_name} ${person.last_name}`,
      },
      {
        name: 'package',
        value: ({ package_id: id, package_name: name }) => (name === null ? id : `${id} ${name}`),
      },
      { name: 'first_name', value: (row) => row.recipient?.first_name, extra: true },
      { name: 'last_name', value: (row) => row.recipient?.last_name, extra: true },
      { name: 'email', value: (row) => row.recipient?.email, extra: true },
      { name: 'package_id', extra: true },
      { name: 'phone', value: (row) => row.recipient?.phone, extra: true },
      { name: 'status_read_at', extra: true },
      { name: 'batch_id', extra: true },
      { name: 'user_email', extra: true },
      { name: 'base_url', extra: true },
      { name: 'reason', extra: true },
      { name: 'error_reason', extra: true },
    ],
    empty: 'No requests match. Only requests ordered with this store are listed.',
  }
}

/** How many accepted requests are not finished, as `status` counts them, and when their statuses were read. */
export function listAgeText(requests: readonly PrintedRequest[]): string | undefined {
  const open = requests.filter(
    ({ state, status }) => state === 'accepted' && !terminalStatuses.includes(status ?? ''),
  )
  if (open.length === 0) return undefined
  const [first, ...others] = open.flatMap(({ status_read_at: at }) => at ?? []).sort()
  const isOlder = others.some((at) => localTime(at) !== localTime(first ?? at))
  const read = first === undefined ? [] : [`last read ${localTime(first)}${isOlder ? ' or later' : ''}`]
  const isAllRead = open.every(({ status }) => status !== null)
  const count = `${open.length} not finished${isAllRead ? '' : ' or not read yet'}`
  return `${[count, ...read].join(', ')}\nRead again with: refcheck request list --refresh`
}

/** Files as a person would name them from `cwd`, and what could not be had; in JSON each at its position. */
export function reportsView({ reports, stored, missing }: FilingResult, cwd: string): View {
  return {
    json: reports.map((each) => (isMissing(each) ? missingJson(each) : each)),
    text: (terminal) =>
      reports.length > 1
        ? `${reportLines(stored, missing, cwd, terminal)}\n\n${reportTotals(stored, missing.length)}`
        : reportLines(stored, missing, cwd, terminal) || 'There are no reports to download.',
  }
}

/** `12 stored (4.2 MB), 3 already there, 1 unavailable`. */
function reportTotals(stored: readonly StoredReport[], missing: number): string {
  const fresh = stored.filter((each) => !each.skipped)
  const there = stored.length - fresh.length
  const bytes = fresh.reduce((sum, each) => sum + each.bytes, 0)
  return [
    `${formatCount(fresh.length, 'report')} stored${fresh.length === 0 ? '' : ` (${size(bytes)})`}`,
    ...(there === 0 ? [] : [`${there} already there`]),
    ...(missing === 0 ? [] : [`${missing} unavailable`]),
  ].join(', ')
}

function missingJson({ requestId, checkId, refereeId, error }: MissingReport) {
  return { request_id: requestId, check_id: checkId, referee_id: refereeId, error: failureJson(error) }
}

/** What bringing a folder up to date came to: what is new, and what could not be had. */
export function syncView(result: FilingResult, folder: string, cwd: string): View {
  const fresh = result.stored.filter((each) => !each.skipped)
  return {
    json: {
      folder,
      stored: fresh,
      missing: result.missing.map((each) => ({ ...missingJson(each), reason: each.error.message })),
      skipped: result.stored.length - fresh.length,
      unfinished: result.unfinished,
      not_ready: result.notReady,
    },
    text: (terminal) => reportLines(fresh, result.missing, cwd, terminal),
  }
}

/** `In reports: 2 stored, 120 already there, 3 requests not finished, 1 completed without its report yet`. */
export function syncSummary(
  { stored, unfinished, notReady }: FilingResult,
  folder: string,
  cwd: string,
): string {
  const fresh = stored.filter((each) => !each.skipped).length
  const open = `${formatCount(unfinished - notReady, 'request')} not finished`
  const late = notReady === 0 ? '' : `, ${notReady} completed without its report yet`
  const where = shortest(folder, cwd) || folder
  return `In ${where}: ${fresh} stored, ${stored.length - fresh} already there, ${open}${late}`
}

function reportLines(
  stored: readonly StoredReport[],
  missing: readonly MissingReport[],
  cwd: string,
  terminal: Terminal,
): string {
  return [
    ...stored.map((report) => line(report, cwd, terminal)),
    ...missing.map((each) => `${styled(terminal, 'yellow', 'unavailable')}  ${missingText(each)}`),
  ].join('\n')
}

function line(report: StoredReport, cwd: string, terminal: Terminal): string {
  const word = report.skipped ? styled(terminal, 'dim', 'exists') : styled(terminal, 'green', 'stored')
  return `${word}  ${sanitize(shortest(report.path, cwd))}  ${size(report.bytes)}`
}

function missingText({ requestId, person, error }: MissingReport): string {
  return `${sanitize(person ?? `request ${requestId}`)}: ${sanitize(error.message)}`
}

function shortest(path: string, cwd: string): string {
  const local = relative(cwd, path)
  return local.startsWith('..') || local.length >= path.length ? path : local
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
