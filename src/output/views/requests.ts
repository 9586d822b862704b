import { isUnfinished } from '../../contract/statuses.ts'
import { relative } from 'node:path'

import type { Check, Referee, RequestResource } from '../../contract/request.ts'
import { statusCounts } from '../../domain/overview/people.ts'
import type { PrintedRequest } from '../../domain/request/listed-request.ts'
import { isUnread, type RequestResult } from '../../domain/request/result.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { listedTime, localTime } from '../../domain/wording/time.ts'
import { formatBytes, joinFirst, personName, formatCount } from '../../domain/wording/text.ts'
import { sanitize } from '../../host/text.ts'
import { failureJson } from '../present.ts'
import { orderAgainCommand } from './attention.ts'
import { statusStyle, styled, type Terminal, styledStatus } from '../terminal.ts'
import { table } from '../table.ts'
import type { Column, ListView, View } from '../view.ts'
import {
  type FilingResult,
  isMissing,
  type MissingReport,
  type StoredReport,
} from '../../domain/report/filed.ts'

/** The final statuses of checks, referees and requests without a report. */
const failedStatuses: ReadonlySet<string> = new Set(['CANCELLED', 'ERROR'])

interface CheckRow {
  check: string
  status: string
  id: string
  report: string
}

/**
 * Omitted on narrow terminals, where it would force e-mails to be wrapped. The sign └ before the name means the same.
 */
const refereePrefix = /^referee /

const checkColumns: Column<CheckRow>[] = [
  { name: 'check' },
  { name: 'status', style: (row) => statusStyle(row.status) },
  { name: 'report', style: (row) => (row.report === 'ready' ? 'green' : 'dim') },
  { name: 'id', avoidsWrapping: true, short: (row) => row.id.replace(refereePrefix, '') },
]

/** Shows requests. In JSON (an array if `asArray`), a request that could not be read is an error at its position. */
/** `orderedAgain`: by the id of a request without a result, the later request for the same person and package. */
export function requestsView(
  results: readonly RequestResult[],
  asArray: boolean,
  orderedAgain: ReadonlyMap<string, Submission> = new Map(),
): View {
  const json = results.map((each) =>
    isUnread(each) ? { request_id: each.requestId, error: failureJson(each.error) } : each.request,
  )
  return {
    json: asArray ? json : json[0],
    text: (terminal) => {
      const read = results.flatMap((each) =>
        isUnread(each) ? [] : [requestText(each.request, terminal, orderedAgain)],
      )
      // If only one request could not be read, the error of the command reports it.
      const unread = results.filter(isUnread)
      const lines = (unread.length === 1 ? [] : unread).map(
        ({ requestId, error }) =>
          `${styled(terminal, 'yellow', 'not read')}  ${sanitize(requestId)}: ${sanitize(error.message)}`,
      )
      return [...read, ...(lines.length === 0 ? [] : [lines.join('\n')])].join('\n\n')
    },
  }
}

/** Shows one line per person of a batch that the command waited for. The JSON is that of `requestsView`. */
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

function requestText(
  request: RequestResource,
  terminal: Terminal,
  orderedAgain: ReadonlyMap<string, Submission>,
): string {
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
  else if (failedStatuses.has(request.status) && terminal.columns !== undefined)
    lines.push('  reason     none is known here; ask the provider, with the id above')
  const isOver = !isUnfinished(request.status)
  const rows = request.checks.flatMap((check) => checkRows(check, isOver))
  if (rows.length === 0) lines.push('', '  No checks have been started yet.')
  else lines.push('', table(rows, checkColumns, terminal))
  if (terminal.columns !== undefined)
    lines.push(...nextStep(request, rows, orderedAgain.get(request.request_id)))
  return lines.join('\n')
}

/** Returns the command that the user is likely to need next for a finished request. */
function nextStep(
  { request_id: id, package_id: packageId, status, recipient }: RequestResource,
  rows: CheckRow[],
  again: Submission | undefined,
): string[] {
  const command = failedStatuses.has(status)
    ? again === undefined
      ? `To order again: ${orderAgainCommand(packageId, recipient)}`
      : `Ordered again, ${again.requestStatus ?? 'RECEIVED'}: refcheck request get ${again.requestId?.slice(0, 8)}`
    : `Reports: refcheck report download --request ${sanitize(id.slice(0, 8))}`
  const hasReport = rows.some(({ report }) => report === 'ready')
  return failedStatuses.has(status) || (status === 'COMPLETED' && hasReport) ? ['', command] : []
}

/** Returns the id of the package, and its name if it is known. */
function packageText({ package_id: id, package_name: name }: RequestResource): string {
  return typeof name === 'string' ? `${id} ${sanitize(name)}` : String(id)
}

function checkRows(check: Check, isRequestOver: boolean): CheckRow[] {
  const isOver = isRequestOver || failedStatuses.has(check.status)
  const isReference = check.type === 'reference'
  const row: CheckRow = {
    check: checkName(check),
    status: check.status,
    id: check.id ?? '-',
    report: isReference ? '-' : readiness(check, isOver),
  }
  const referees = check.references ?? []
  if (isReference && referees.length === 0) row.report = isOver ? 'no referees' : 'no referees yet'
  return [row, ...referees.map((referee) => refereeRow(referee, isOver))]
}

/** Returns the name of a check, and the partner who carries it out if one is named. */
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

/**
 * Returns whether a report is ready, may still come, or cannot come because the check or request ended
 * without it.
 */
function readiness(
  { status, report_pdf_url: url }: Pick<Check | Referee, 'status' | 'report_pdf_url'>,
  isOver: boolean,
): string {
  if (url !== null && url !== undefined) return 'ready'
  return failedStatuses.has(status) || (isOver && status !== 'COMPLETED') ? 'none' : 'not yet'
}

/** Shows the requests of the journal. A row whose status was never read shows the state of its order instead. */
export function listedRequestsView(requests: readonly PrintedRequest[]): ListView<PrintedRequest> {
  const isAccepted = ({ state }: PrintedRequest): boolean => state === 'accepted'
  const orderedAt = listedTime(
    requests.filter(isAccepted),
    (row) => row.ordered_at,
    ({ recipient: person }) => (person === null ? '' : personName(person)),
  )
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
      {
        name: 'ordered_at',
        // An order that may not have been accepted has only the time at which it was sent, which --json contains.
        value: (row) => (isAccepted(row) ? row.ordered_at : null),
        show: (row) => (isAccepted(row) ? orderedAt(row) : '-'),
      },
      {
        name: 'name',
        value: ({ recipient: person }) => person && `${person.first_name} ${person.last_name}`,
        show: ({ recipient: person, reason }) =>
          person === null
            ? reason === null
              ? '-'
              : 'unknown (recovered)'
            : `${person.first_name} ${person.last_name}`,
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

/**
 * Returns how many accepted requests are not finished, and when their statuses were read; undefined if all are
 * finished.
 */
export function listAgeText(requests: readonly PrintedRequest[]): string | undefined {
  const open = requests.filter(({ state, status }) => state === 'accepted' && isUnfinished(status))
  if (open.length === 0) return undefined
  const [first, ...others] = open.flatMap(({ status_read_at: at }) => at ?? []).sort()
  const hasSeveralTimes = others.some((time) => localTime(time) !== localTime(first ?? time))
  const read =
    first === undefined ? [] : [`last read ${localTime(first)}${hasSeveralTimes ? ' or later' : ''}`]
  const isAllRead = open.every(({ status }) => status !== null)
  const count = `${open.length} not finished${isAllRead ? '' : ' or not read yet'}`
  return `${[count, ...read].join(', ')}\nRead again with: refcheck request list --refresh`
}

/** Shows the stored reports, with paths relative to `cwd`, and the reports that could not be stored. */
export function reportsView({ reports, stored, missing }: FilingResult, cwd: string): View {
  return {
    json: reports.map((each) => (isMissing(each) ? missingJson(each) : each)),
    text: (terminal) =>
      reports.length > 1
        ? `${reportLines(stored, missing, cwd, terminal)}\n\n${reportTotals(stored, missing.length)}`
        : reportLines(stored, missing, cwd, terminal) || 'There are no reports to download.',
  }
}

/** Returns `12 reports stored (4.2 MB), 3 already there, 1 unavailable`. */
function reportTotals(stored: readonly StoredReport[], missingCount: number): string {
  const newReports = stored.filter((each) => !each.skipped)
  const skippedCount = stored.length - newReports.length
  const bytes = newReports.reduce((sum, each) => sum + each.bytes, 0)
  return [
    `${formatCount(newReports.length, 'report')} stored${newReports.length === 0 ? '' : ` (${formatBytes(bytes)})`}`,
    ...(skippedCount === 0 ? [] : [`${skippedCount} already there`]),
    ...(missingCount === 0 ? [] : [`${missingCount} unavailable`]),
  ].join(', ')
}

function missingJson({ requestId, checkId, refereeId, error }: MissingReport) {
  return { request_id: requestId, check_id: checkId, referee_id: refereeId, error: failureJson(error) }
}

/** Shows the reports that a sync has added to a folder, and the reports that could not be stored. */
export function syncView(result: FilingResult, folder: string, cwd: string): View {
  const newReports = result.stored.filter((each) => !each.skipped)
  return {
    json: {
      folder,
      stored: newReports,
      missing: result.missing.map((each) => ({ ...missingJson(each), reason: each.error.message })),
      skipped: result.stored.length - newReports.length,
      unfinished: result.unfinishedCount,
      not_ready: result.notReadyCount,
    },
    text: (terminal) => reportLines(newReports, result.missing, cwd, terminal),
  }
}

/** The number of people without a report whom the summary names. */
const maxNamedWithoutReport = 3

/**
 * Returns `In reports: 2 stored, 120 already there, 3 requests not finished, 1 completed without its report yet (Ana
 * Silva)`.
 */
export function syncSummary(
  { stored, unfinishedCount, notReadyCount, notReadyPeople = [] }: FilingResult,
  folder: string,
  cwd: string,
): string {
  const newCount = stored.filter((each) => !each.skipped).length
  const openText = `${formatCount(unfinishedCount - notReadyCount, 'request')} not finished`
  const names = notReadyPeople.slice(0, maxNamedWithoutReport).map((each) => sanitize(personName(each)))
  const namesText = names.length === 0 ? '' : ` (${joinFirst(names, names.length, notReadyCount)})`
  const notReadyText =
    notReadyCount === 0 ? '' : `, ${notReadyCount} completed without its report yet${namesText}`
  const folderPath = shortestPath(folder, cwd) || folder
  return `In ${folderPath}: ${newCount} stored, ${stored.length - newCount} already there, ${openText}${notReadyText}`
}

function reportLines(
  stored: readonly StoredReport[],
  missing: readonly MissingReport[],
  cwd: string,
  terminal: Terminal,
): string {
  return [
    ...stored.map((report) => reportLine(report, cwd, terminal)),
    ...missing.map((each) => `${styled(terminal, 'yellow', 'unavailable')}  ${missingText(each)}`),
  ].join('\n')
}

function reportLine(report: StoredReport, cwd: string, terminal: Terminal): string {
  const word = report.skipped ? styled(terminal, 'dim', 'exists') : styled(terminal, 'green', 'stored')
  return `${word}  ${sanitize(shortestPath(report.path, cwd))}  ${formatBytes(report.bytes)}`
}

function missingText({ requestId, person, error }: MissingReport): string {
  return `${sanitize(person ?? `request ${requestId}`)}: ${sanitize(error.message)}`
}

function shortestPath(path: string, cwd: string): string {
  const relativePath = relative(cwd, path)
  return relativePath.startsWith('..') || relativePath.length >= path.length ? path : relativePath
}
