import { formatRow, type BatchCounts, unnamedFile } from '../../domain/batch/batch.ts'
import type { BatchEvent, BatchProgress, RunEvent } from '../../domain/batch/run-policy.ts'
import { nearMatchText, type Reconciliation } from '../../domain/batch/reconciliation.ts'
import { packageWithName } from '../../domain/submission/confirmation.ts'
import { sharedText } from '../../domain/submission/duplicate.ts'
import { type SecondOrder, unreadText } from '../../domain/submission/submission.ts'
import {
  type BatchStatus,
  type CountedBatch,
  type PrintedRow,
  type StoppedRow,
} from '../../domain/batch/batch-status.ts'
import type { SheetAppearance } from '../../domain/sheet/appearance.ts'
import { formatCount, personName, personWithEmail } from '../../domain/wording/text.ts'
import { listedTime, localClock, localTime } from '../../domain/wording/time.ts'
import { sanitize } from '../../host/text.ts'
import { formatDuration, progressLine, styled, type Terminal, statusStyle, wrapLines } from '../terminal.ts'
import { jsonText, type ListView, type View } from '../view.ts'
import { createEventText } from './events.ts'
import type { RefcheckError } from '../../errors/kinds.ts'
import { type FailedPerson, withoutOrdered } from '../../domain/batch/conflict-counts.ts'
import { type BatchResult, waitingText } from '../../domain/batch/verdict.ts'
import { failedText, orderAgainLines } from './attention.ts'

/** The states of rows, in the order in which counts list them. */
const states = [
  'accepted',
  'pending',
  'sending',
  'unknown',
  'dropped',
  'held',
  'rejected',
  'duplicate',
  'invalid',
  'cancelled',
] as const

/**
 * Shows the result of a run, the counts of the batch, and the next command if no other line contains it. `failed`: the
 * people whose requests ended without a result; each is shown with the command that orders the person again.
 */
export function batchResultView(
  status: View,
  result: string | undefined,
  next: string | undefined,
  failed: readonly FailedPerson[] = [],
): View {
  const again = orderAgainLines(failed)
  return {
    ...status,
    text: (terminal) =>
      [
        ...(result === undefined ? [] : [result, '']),
        status.text(terminal),
        ...(next === undefined ? [] : ['', `Next: ${next}`]),
        ...(again.length === 0 ? [] : ['', ...again]),
      ].join('\n'),
  }
}

/**
 * Returns how many people of a file are ordered, and the states of the others, for a batch without open work:
 * "All 3 people in people.csv are ordered".
 */
export function resultText(
  name: string,
  { counts, earlierOrders, orderedInThisRun, people, namedRows = {} }: BatchResult,
  failure: RefcheckError | undefined,
  failedPeople: readonly FailedPerson[] = [],
): string {
  const { leftOut, samePerson, perhapsOrdered } = namedRows
  const { openElsewhereCount = 0, waitingCount = 0 } = namedRows
  const samePersonText =
    samePerson === undefined ? '' : `; left out as the same person: ${sanitize(samePerson)}`
  const perhapsText =
    perhapsOrdered === undefined ? '' : `; may have been ordered: ${sanitize(perhapsOrdered)}`
  // The names replace the counts of cancelled and dropped rows and of duplicates of dropped rows.
  const otherCounts = {
    ...counts,
    cancelled: earlierOrders.cancelledCount,
    dropped: 0,
    duplicate: counts.duplicate - openElsewhereCount,
  }
  if (failure !== undefined && (!failure.isUserChoice || counts.held + counts.pending > 0)) {
    const unfinished = unfinishedText(name, otherCounts, earlierOrders, failedPeople, waitingCount)
    const leftOutText = leftOut === undefined ? '' : `; left out: ${sanitize(leftOut)}`
    return `${unfinished}${leftOutText}${samePersonText}${perhapsText}`
  }
  const total = counts.total - earlierOrders.repeatCounts.all
  const orderedEarlier = earlierOrders.count - earlierOrders.repeatCounts.ordered
  const orderedCount = otherCounts.accepted + orderedEarlier
  const file = sanitize(name)
  const failed = failedText(earlierOrders.failedByStatus, failedPeople)
  const mark = failed + perhapsText === '' ? '✔ ' : ''
  if (failure !== undefined) {
    const others = [sanitize(leftOut ?? ''), othersText(otherCounts, earlierOrders)].filter(
      (each) => each !== '',
    )
    const leftOutText = others.length === 0 ? '' : `; left out: ${others.join(', ')}`
    return `${mark}${peopleText(orderedCount, total, file)}${failed}${leftOutText}${perhapsText}`
  }
  const head = `${mark}${total === 1 ? `1 person in ${file} is` : `All ${total} people in ${file} are`} ordered`
  if (orderedInThisRun === 0)
    return `${head}${timeText(earlierOrders)}${failed === '' ? '; nothing to do' : failed}`
  if (orderedInThisRun === orderedCount) return `${head}${samePersonText}`
  const when = (orderedEarlier === orderedCount - orderedInThisRun ? timeText(earlierOrders) : '') + failed
  const names = people.map((each) => sanitize(personName(each))).join(', ')
  return [
    `${head}${samePersonText}`,
    `   ${orderedInThisRun} now${names === '' ? '' : `: ${names}`}`,
    `   ${orderedCount - orderedInThisRun} before${when}`,
  ].join('\n')
}

/**
 * Returns how many people of a file are ordered, for a batch with open work:
 * "1 of 3 people in people.csv is ordered; 2 pending".
 */
export function unfinishedText(
  name: string,
  counts: BatchCounts,
  earlierOrders: BatchResult['earlierOrders'],
  failedPeople: readonly FailedPerson[] = [],
  waitingCount = 0,
): string {
  const others = othersText(counts, earlierOrders, waitingCount)
  const orderedText = peopleText(
    counts.accepted + earlierOrders.count - earlierOrders.repeatCounts.ordered + earlierOrders.orderedAgain,
    counts.total - earlierOrders.repeatCounts.all,
    sanitize(name),
  )
  return (
    [orderedText, others].filter((part) => part !== '').join('; ') +
    failedText(earlierOrders.failedByStatus, failedPeople)
  )
}

/**
 * Returns the counts of the rows that are not ordered, by state. Rows whose person was ordered before are subtracted
 * from the states that they have. `waitingCount`: the duplicates whose people wait in another batch.
 */
function othersText(
  counts: BatchCounts,
  earlierOrders: BatchResult['earlierOrders'],
  waitingCount = 0,
): string {
  const { orderedAgain: reorderedCount, repeatCounts } = earlierOrders
  const notOrdered = withoutOrdered(counts, earlierOrders)
  const duplicateCount = notOrdered.duplicate - (repeatCounts.all - repeatCounts.ordered)
  const waiting = Math.min(waitingCount, duplicateCount)
  const rows = rowsText({
    ...notOrdered,
    duplicate: duplicateCount - waiting,
    held: counts.held - reorderedCount,
  })
  const reordered = reorderedCount === 0 ? [] : [`${reorderedCount} held, to decide whether to order again`]
  return [...reordered, rows, waitingText(waiting)].filter((part) => part !== '').join(', ')
}

/** Returns `, on 2026-11-20 12:00 +00:00`, or '' if no time is known. */
function timeText({ firstSentAt, lastSentAt }: BatchResult['earlierOrders']): string {
  if (firstSentAt === undefined || lastSentAt === undefined) return ''
  const [from, to] = [localTime(firstSentAt), localTime(lastSentAt)]
  return from === to ? `, on ${to}` : `, from ${from} to ${to}`
}

function peopleText(orderedCount: number, total: number, file: string): string {
  return `${orderedCount} of ${formatCount(total, 'person', 'people')} in ${file} ${orderedCount === 1 || total === 1 ? 'is' : 'are'} ordered`
}

/** Shows the status of a batch. `stopped`: the rows that were not sent because they conflict with earlier orders. */
export function batchStatusView(status: BatchStatus, stopped: readonly StoppedRow[] = [], unread = 0): View {
  return {
    json: {
      ...status.summary,
      ...(stopped.length > 0 && { stopped }),
      ...(unread > 0 && { unread }),
    },
    text: (terminal) => statusLines(status, terminal).join('\n'),
  }
}

function statusLines(
  { summary, name, packageName, orderedElsewhere, earlierPackages, queued, halt, holder }: BatchStatus,
  terminal: Terminal,
): string[] {
  const { batch_id, package_id: id, counts, results_file } = summary
  const statesWithRows = states.filter((state) => counts[state] > 0)
  const width = String(counts.total).length
  const partText = (state: keyof BatchCounts, count: number, text: string): string =>
    count === counts[state] ? `, ${text}` : `, ${count} of them ${text}`
  const detailsOf = (state: keyof BatchCounts): string => {
    if (state === 'accepted')
      return earlierPackages
        .map((each) => partText(state, each.count, `under package ${each.packageId}`))
        .join('')
    const count = orderedElsewhere[state as keyof typeof orderedElsewhere] ?? 0
    return count === 0 ? '' : partText(state, count, 'ordered by another row or command')
  }
  return [
    `${styled(terminal, 'bold', 'batch')}  ${batch_id}`,
    sanitize(`${name}${id === null ? '' : `, ${packageWithName({ id, name: packageName })}`}`),
    '',
    ...statesWithRows.map(
      (state) =>
        `${String(counts[state]).padStart(width)}  ${styled(terminal, statusStyle(state) ?? 'dim', state)}${detailsOf(state)}`,
    ),
    `${String(counts.total).padStart(width)}  ${counts.total === 1 ? 'row' : 'rows'}`,
    ...(holder === undefined ? [] : ['', `run by process ${holder.pid} since ${localTime(holder.since)}`]),
    ...(queued === undefined || holder !== undefined
      ? []
      : ['', `queued for a worker since ${localTime(queued)}`]),
    ...(halt === undefined || holder !== undefined
      ? []
      : ['', `${styled(terminal, 'red', 'halted')}  ${localTime(halt.at)}  ${sanitize(halt.message)}`]),
    ...(halt?.hint === undefined || holder !== undefined
      ? []
      : halt.hint.split('\n').map((line) => sanitize(line))),
    ...(results_file === null ? [] : ['', `results  ${sanitize(results_file)}`]),
  ]
}

export function batchListView(batches: readonly CountedBatch[]): ListView<CountedBatch> {
  const addedAt = listedTime(batches, (batch) => batch.added_at)
  return {
    rows: batches,
    columns: [
      {
        name: 'batch_id',
        short: (row) => row.batch_id.slice(0, 8),
        avoidsWrapping: true,
      },
      // The folders of a path would break every line; `batch status` shows the whole path.
      { name: 'name', show: ({ name }) => name.split(/[/\\]/).at(-1) ?? name },
      { name: 'package_id', extra: true },
      { name: 'added_at', show: addedAt },
      { name: 'progress', value: (row) => `${row.accepted} of ${row.total}`, extra: true },
      { name: 'ordered', show: (row) => `${row.ordered} of ${row.people}` },
      { name: 'people', extra: true },
      { name: 'finished' },
      { name: 'accepted', extra: true },
      { name: 'total', extra: true },
      { name: 'pending', extra: true },
      { name: 'unknown', extra: true },
      { name: 'held', extra: true },
      { name: 'rejected', extra: true },
      { name: 'invalid', extra: true },
      {
        name: 'state',
        // The state of a batch with pending or unknown rows does not say that others are held, and no state that rows
        // were rejected or are invalid.
        show: ({ state, held, rejected, invalid }) =>
          [
            state,
            ...(held > 0 && ['stopped', 'halted', 'unknown'].includes(state) ? [`${held} held`] : []),
            ...(rejected > 0 ? [`${rejected} rejected`] : []),
            ...(invalid > 0 ? [`${invalid} invalid`] : []),
          ].join(', '),
        style: (row) => statusStyle(row.state),
      },
    ],
    empty: 'No batches in this store. Start one with: refcheck batch run FILE',
  }
}

/**
 * Shows the rows of a batch. The keys of both maps are row numbers. `names`: the names of the people, for a list on a
 * terminal. `emptyText`: what is shown instead of an empty list.
 */
export function batchRowsView(
  rows: readonly PrintedRow[],
  reasons: ReadonlyMap<number, string>,
  names: ReadonlyMap<number, string> | undefined,
  emptyText: string,
): ListView<PrintedRow> {
  return {
    rows,
    columns: [
      { name: 'row' },
      { name: 'line', extra: rows.every(({ line }) => line === null) },
      ...(names === undefined ? [] : [{ name: 'name', value: ({ row }: PrintedRow) => names.get(row) }]),
      { name: 'state', style: (row) => statusStyle(row.state) },
      { name: 'email' },
      { name: 'request_id', extra: true },
      { name: 'attempts', extra: true },
      {
        name: 'outcome',
        value: (row) => row.error ?? row.request_id,
        show: (row) =>
          row.error_reason === null
            ? (reasons.get(row.row) ?? row.error ?? row.request_id ?? '-')
            : `${row.request_id} ERROR: ${row.error_reason}`,
      },
      { name: 'error', extra: true },
      { name: 'status', extra: true },
      { name: 'error_reason', extra: true },
    ],
    empty: emptyText,
  }
}

/** Shows the path of a file that was written from a batch. */
export function exportedView(written: {
  batch_id: string
  path: string
  format: string
  rows: number
}): View {
  return {
    json: written,
    text: () => `${formatCount(written.rows, 'row')} written to ${sanitize(written.path)}`,
  }
}

/** Returns the counts of the states that have rows: `12 accepted, 3 pending`. */
export function rowsText(counts: BatchCounts): string {
  return states
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}

/** Returns the progress of a batch as one line. */
export function batchProgressText({ counts, settled, toSend, secondsLeft }: BatchProgress): string {
  const failedStates = (['rejected', 'unknown'] as const).filter((state) => counts[state] > 0)
  const summary = [
    `${settled} of ${toSend}`,
    ...failedStates.map((state) => `${counts[state]} ${state}`),
  ].join(', ')
  return progressLine(settled / Math.max(1, toSend), summary, settled >= toSend ? undefined : secondsLeft)
}

/**
 * Returns the permanent line for an event of a running batch; undefined for events that only the progress line shows.
 */
export function runEventText(event: RunEvent): string | undefined {
  switch (event.name) {
    case 'row':
      return ['rejected', 'unknown', 'duplicate', 'held'].includes(event.state)
        ? `${sanitize(formatRow(event))} ${event.state}: ${sanitize(event.reason ?? '')}`
        : undefined
    case 'outage':
      return `${sanitize(event.reason)}; paused; checking again in ${event.seconds} s`
    case 'well':
      return 'A test call to the service succeeded; continuing.'
    case 'paced':
      return event.seconds < 90
        ? undefined
        : `The quota is used up; continuing in ${formatDuration(event.seconds)}.`
    case 'retrying':
      return undefined
    case 'recovered':
    case 'waiting':
    case 'reconciling':
      return createEventText(event)
  }
}

/** Returns the rows that were reconciled by evidence, and the rows for which a person has to decide. */
function reconciliationText({ settled, ambiguous, askedRowCount = 0 }: Reconciliation): string {
  return [
    ...settled.map(
      ({ submission, requestId }) => `${sanitize(formatRow(submission))} was accepted: request ${requestId}`,
    ),
    ...ambiguous.flatMap(({ submission, nearMatches }) =>
      askedRowCount > 0 && submission.state === 'unknown'
        ? []
        : [
            `${sanitize(formatRow(submission))}: no request matches for certain; a person has to decide`,
            ...nearMatches.map((each) => `  ${sanitize(nearMatchText(each))}`),
          ],
    ),
  ].join('\n')
}

/** Returns the note for a file that is stored as a batch already, which the run continues. `file`: its present name. */
export function continuedBatchText(
  { name, summary: { batch_id: id, counts } }: BatchStatus,
  file: string,
): string {
  const isSameName = file === name || name === unnamedFile
  const who = isSameName ? `${file} is batch ${id}` : `${file} is the same file as ${name}, batch ${id}`
  // A later line of the output states how many people are ordered, including by other batches.
  if (counts.pending === 0)
    return `${who}: ${counts.held === 0 ? 'nothing left to send' : formatCount(counts.held, 'row is held', 'rows are held')}.`
  const pending = formatCount(counts.pending, 'row is', 'rows are')
  return `${who}: ${counts.accepted} of ${counts.total} accepted, ${pending} left to send.`
}

function secondOrderText({ requestId, createdAt, packageId, shares, order }: SecondOrder): string {
  const isSamePackage = packageId === order.packageId
  const who =
    shares.length > 0
      ? `somebody with the same ${sharedText(shares)}`
      : isSamePackage
        ? 'the same person and package'
        : 'the same person'
  const packageText = (id: number): string => (isSamePackage ? '' : `, package ${id}`)
  const request = `request ${requestId}, created ${sanitize(localTime(createdAt))}${packageText(packageId)}`
  const position = `row ${order.row} of batch ${order.batchId}${packageText(order.packageId)}`
  return `possible second order: ${request}, is for ${who} as request ${order.requestId} (${position}), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge ${requestId}`
}

/** The greatest number of dropped rows that are listed. */
const maxDropped = 5

/** Returns the dropped rows, each with the command that asks about it: without its number, it is not asked about. */
function droppedLines({ dropped = [] }: Reconciliation): string[] {
  const more = dropped.length - maxDropped
  return [
    ...dropped.slice(0, maxDropped).map(({ batchId, row, recipient }) => {
      const who = recipient === undefined ? `row ${row} of batch ${batchId}` : personWithEmail(recipient)
      return `${sanitize(who)} may have been ordered, and was dropped. To decide again: refcheck batch reconcile ${batchId} --row ${row}`
    }),
    ...(more > 0 ? [`… and ${more} more: refcheck request list --status dropped`] : []),
  ]
}

/** Shows the findings of `batch reconcile`. */
export function reconciledView(found: Reconciliation): View {
  const {
    settled,
    ambiguous,
    open,
    readCount: reads,
    secondOrders = [],
    unreadCount = 0,
    askedRowCount = 0,
  } = found
  const position = ({ batchId, row, recipient }: Reconciliation['open'][number]) => ({
    batch_id: batchId,
    row,
    email: recipient?.email ?? null,
  })
  return {
    json: {
      settled: settled.map(({ submission, requestId, status }) => ({
        ...position(submission),
        request_id: requestId,
        status,
      })),
      ambiguous: ambiguous.map(({ submission, requestIds, nearMatches }) => ({
        ...position(submission),
        request_ids: requestIds,
        requests: nearMatches.map(({ requestId, createdAt, differs }) => ({
          request_id: requestId,
          created_at: createdAt,
          differs,
        })),
      })),
      open: open.map(position),
      reads,
      /** The number of requests that events name and that could not be read yet. */
      unread: unreadCount,
      second_orders: secondOrders.map(({ requestId, createdAt, packageId, shares, order }) => ({
        request_id: requestId,
        created_at: createdAt,
        package_id: packageId,
        ...(shares.length > 0 && { shares }),
        order: {
          request_id: order.requestId,
          batch_id: order.batchId,
          row: order.row,
          package_id: order.packageId,
        },
      })),
    },
    text: () =>
      [
        reconciliationText(found),
        ...(askedRowCount > 0 ? [] : open).map(
          ({ batchId, row, recipient }) =>
            `${recipient === undefined ? `row ${row} of batch ${batchId}` : sanitize(personWithEmail(recipient))}: no request for this person was found (a missing event proves nothing)`,
        ),
        ...secondOrders.map(secondOrderText),
        unreadCount === 0 ? '' : unreadText(unreadCount),
        settled.length + ambiguous.length + open.length + secondOrders.length + unreadCount === 0
          ? askedRowCount > 0
            ? 'Nothing is left to settle.'
            : 'Nothing to settle.'
          : '',
        ...droppedLines(found),
      ]
        .filter((line) => line !== '')
        .join('\n'),
  }
}

/** Returns the message for an event; undefined if there is none. A warning is printed with --quiet too. */
export function batchEventText(batchEvent: BatchEvent): { text: string; isWarning: boolean } | undefined {
  switch (batchEvent.name) {
    case 'mapping-kept':
      return note(`Kept how the file was read: use it with --mapping ${batchEvent.mapping}`)
    case 'columns-saved':
      return note('Saved: files with these columns are read so without a question')
    case 'columns-agreed-before':
      return note(batchEvent.text)
    case 'no-results-folder':
      return warning(
        `nothing can be written to ${batchEvent.folder}, so there will be no results file: name one with --results.`,
      )
    case 'duplicates-too-late':
      return warning(
        `--allow-duplicate has no effect on rows that this batch already holds as duplicates. To order all of these people again, also those whose request is COMPLETED, write them to a file and run that: refcheck batch export ${batchEvent.batchId} --state duplicate --output again.csv`,
      )
    case 'similar-too-late':
      return warning(
        `--allow-similar and --shared apply to new files only, and this file is a batch already${batchEvent.held === 0 ? ', with no held rows.' : `. Release its held rows with: refcheck batch release ${batchEvent.batchId}`}`,
      )
    case 'other-user':
      return warning(
        `this batch was begun as ${batchEvent.startedAs}, and its other rows are ordered as ${batchEvent.now}.`,
      )
    case 'reconciled': {
      const text = reconciliationText(batchEvent.found)
      return text === '' ? undefined : note(text)
    }
    case 'file-changed':
      return warning(
        `${batchEvent.file} has changed since, so no results file was written. Write all rows to a file with: refcheck batch export ${batchEvent.batchId} --output results.csv`,
      )
    case 'results-unwritten': {
      const instead =
        batchEvent.batchId === undefined
          ? ''
          : `. Write all rows to a file with: refcheck batch export ${batchEvent.batchId} --output results.csv`
      return warning(`the results file was not written: ${batchEvent.why}${instead}`)
    }
    case 'results-unread':
      return warning(
        `${batchEvent.file} could not be read, so orders it may name were not looked at: ${batchEvent.why}`,
      )
    case 'results-of-others': {
      const rows = formatCount(batchEvent.rows, 'row names', 'rows name')
      return note(
        `${batchEvent.file}: ${rows} another person than this file, and ${batchEvent.rows === 1 ? 'was' : 'were'} ignored.`,
      )
    }
    case 'formatting-lost': {
      const { file, appearance } = batchEvent
      return note(
        `${file} keeps the values, number formats and column widths, but not: ${lostText(appearance)}. Your own file is not changed.`,
      )
    }
    case 'rows-left-out': {
      const { file, rows } = batchEvent
      const them = formatCount(rows, 'row that is', 'rows that are')
      return note(`${file} leaves out ${them} hidden or struck through and not ordered.`)
    }
    case 'unread-requests':
      return warning(unreadText(batchEvent.count))
    case 'second-orders':
      return warning(batchEvent.found.map(secondOrderText).join('\n'))
    case 'may-order-again':
      return warning(
        `${batchEvent.who} may have been ordered already. Sending again may order, and charge for, a second check on the same person.`,
      )
  }
}

const note = (text: string) => ({ text, isWarning: false })
const warning = (text: string) => ({ text, isWarning: true })

const maxSheetNames = 5

function lostText({ lost, otherSheets }: Pick<SheetAppearance, 'lost' | 'otherSheets'>): string {
  const parts = [...lost].sort().map((part) => (part === 'formulas' ? 'formulas (only their values)' : part))
  if (otherSheets.length === 0) return parts.join(', ')
  const names = otherSheets.slice(0, maxSheetNames).map((name) => `"${sanitize(name)}"`)
  const more = otherSheets.length > maxSheetNames ? ', …' : ''
  return [...parts, `the sheet${otherSheets.length === 1 ? '' : 's'} ${names.join(', ')}${more}`].join(', ')
}

/** Shows an entry of the log of a worker: as JSON, or on a terminal as readable text. */
export function logView(entry: Record<string, unknown>): View {
  return {
    json: entry,
    text: (terminal) => (terminal.columns === undefined ? jsonText(entry) : logLine(entry, terminal)),
    isVerbatim: true,
  }
}

/** Returns `12:00:03  batch-started  profile acme, batch 3f2b8c1e, pending 3`. */
function logLine({ time, level, event, ...fields }: Record<string, unknown>, terminal: Terminal): string {
  const shown = Object.entries(fields).map(([name, value]) => {
    if (name === 'batch_id') return `batch ${String(value).slice(0, 8)}`
    return name === 'counts' ? rowsText(value as BatchCounts) : `${name} ${sanitize(String(value))}`
  })
  const word = styled(terminal, level === 'warn' ? 'yellow' : 'bold', sanitize(String(event)))
  const line = `${localClock(String(time))}  ${word}  ${shown.join(', ')}`
  return wrapLines(line.trimEnd(), terminal.columns)
}
