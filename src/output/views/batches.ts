import type { BatchCounts } from '../../domain/batch/batch.ts'
import type { BatchProgress, RunEvent } from '../../domain/batch/run-policy.ts'
import { nearText, type Reconciliation } from '../../domain/batch/reconciliation.ts'
import type { SecondOrder } from '../../domain/batch/second-orders.ts'
import type { BatchStatus, ListedBatch, PrintedRow, StoppedRow } from '../../domain/batch/standing.ts'
import { sanitize } from '../../host/text.ts'
import { progressLine } from '../bar.ts'
import { durationInWords } from '../duration.ts'
import { wrapped } from '../sentences.ts'
import { createEventText } from './notices.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'
import type { ListView, View } from '../view.ts'
import { localDay, localTime } from '../../domain/wording/local-time.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'

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

/** One colour for each state of a row. */
function stateStyle(state: string): Style | undefined {
  switch (state) {
    case 'accepted':
    case 'done':
      return 'green'
    case 'unknown':
    case 'rejected':
    case 'invalid':
    case 'halted':
      return 'red'
    case 'duplicate':
    case 'held':
    case 'dropped':
    case 'stopped':
      return 'yellow'
    case 'sending':
    case 'running':
      return 'blue'
    case 'cancelled':
      return 'magenta'
    default:
      return undefined
  }
}

/** Where a batch stands. */
export function batchStatusView(status: BatchStatus, stopped: readonly StoppedRow[] = []): View {
  return {
    json: stopped.length === 0 ? status.standing : { ...status.standing, stopped },
    text: (terminal) => lines(status, terminal).join('\n'),
  }
}

function lines({ standing, name, queued, halt, holder }: BatchStatus, terminal: Terminal): string[] {
  const { batch_id, package_id, counts, results_file } = standing
  const shown = states.filter((state) => counts[state] > 0)
  const width = String(counts.total).length
  return [
    `${styled(terminal, 'bold', 'batch')}  ${batch_id}`,
    `${sanitize(name)}${package_id === null ? '' : `, package ${package_id}`}`,
    '',
    ...shown.map(
      (state) =>
        `${String(counts[state]).padStart(width)}  ${styled(terminal, stateStyle(state) ?? 'dim', state)}`,
    ),
    `${String(counts.total).padStart(width)}  ${counts.total === 1 ? 'row' : 'rows'}`,
    ...(holder === undefined ? [] : ['', `run by process ${holder.pid} since ${localTime(holder.since)}`]),
    ...(queued === undefined || holder !== undefined
      ? []
      : ['', `queued for a worker since ${localTime(queued)}`]),
    ...(halt === undefined || holder !== undefined
      ? []
      : ['', `${styled(terminal, 'red', 'halted')}  ${localTime(halt.at)}  ${sanitize(halt.message)}`]),
    ...(halt?.hint === undefined || holder !== undefined ? [] : [sanitize(halt.hint)]),
    ...(results_file === null ? [] : ['', `results  ${sanitize(results_file)}`]),
  ]
}

export function batchListView(batches: readonly ListedBatch[]): ListView<ListedBatch> {
  return {
    rows: batches,
    columns: [
      {
        name: 'batch_id',
        value: (row) => row.batch_id,
        short: (row) => row.batch_id.slice(0, 8),
        whole: true,
      },
      { name: 'name', value: (row) => row.name },
      { name: 'package_id', value: (row) => row.package_id, extra: true },
      {
        name: 'added_at',
        value: (row) => row.added_at,
        show: (row) => localDay(row.added_at),
      },
      { name: 'progress', value: (row) => `${row.accepted} of ${row.total}` },
      { name: 'accepted', value: (row) => row.accepted, extra: true },
      { name: 'total', value: (row) => row.total, extra: true },
      { name: 'pending', value: (row) => row.pending, extra: true },
      { name: 'unknown', value: (row) => row.unknown, extra: true },
      { name: 'state', value: (row) => row.state, style: (row) => stateStyle(row.state) },
    ],
    empty: 'No batches in this store. Start one with: refcheck batch run FILE',
  }
}

export function batchRowsView(rows: readonly PrintedRow[]): ListView<PrintedRow> {
  return {
    rows,
    columns: [
      { name: 'row', value: (row) => row.row },
      { name: 'line', value: (row) => row.line, extra: rows.every(({ line }) => line === null) },
      { name: 'state', value: (row) => row.state, style: (row) => stateStyle(row.state) },
      { name: 'email', value: (row) => row.email },
      { name: 'request_id', value: (row) => row.request_id, extra: true },
      { name: 'attempts', value: (row) => row.attempts, extra: true },
      {
        name: 'outcome',
        value: (row) => row.error ?? row.request_id,
        show: (row) =>
          row.error_reason === null
            ? (row.error ?? row.request_id ?? '-')
            : `${row.request_id} ERROR: ${row.error_reason}`,
      },
      { name: 'error', value: (row) => row.error, extra: true },
      { name: 'status', value: (row) => row.status, extra: true },
      { name: 'error_reason', value: (row) => row.error_reason, extra: true },
    ],
    empty: 'No rows match.',
  }
}

/** A file that was written from a batch. */
export function exportedView(written: {
  batch_id: string
  path: string
  format: string
  rows: number
}): View {
  return {
    json: written,
    text: () => `${countInWords(written.rows, 'row')} written to ${sanitize(written.path)}`,
  }
}

/** `12 accepted, 3 pending`: rows by state, as far as there are any. */
export function rowsText(counts: BatchCounts): string {
  return states
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}

/** One line for how far a batch has come. */
export function batchProgressText({ counts, settled, toSend, secondsLeft }: BatchProgress): string {
  const apart = (['rejected', 'unknown'] as const).filter((state) => counts[state] > 0)
  const told = [`${settled} of ${toSend}`, ...apart.map((state) => `${counts[state]} ${state}`)].join(', ')
  return progressLine(settled / Math.max(1, toSend), told, settled >= toSend ? undefined : secondsLeft)
}

/** What is worth a line of its own while a batch runs. */
export function runEventText(event: RunEvent): string | undefined {
  switch (event.name) {
    case 'row':
      return ['rejected', 'unknown', 'duplicate', 'held'].includes(event.state)
        ? `row ${event.row} ${event.state}: ${sanitize(event.reason ?? '')}`
        : undefined
    case 'outage':
      return `${sanitize(event.reason)}; paused; checking again in ${event.seconds} s`
    case 'well':
      return 'The service answers; continuing.'
    case 'paced':
      return event.seconds < 90
        ? undefined
        : `The quota is used up; continuing in ${durationInWords(event.seconds)}.`
    case 'retrying':
      return undefined
    case 'recovered':
    case 'waiting':
    case 'proving':
      return createEventText(event)
  }
}

/** What looking for proof has come to. */
export function reconciliationText({ settled, ambiguous }: Reconciliation): string {
  return [
    ...settled.map(({ submission, requestId }) => `row ${submission.row} was accepted: request ${requestId}`),
    ...ambiguous.flatMap(({ submission, near }) => [
      `row ${submission.row}: no request matches it for certain; a person has to decide`,
      ...near.map((each) => `  ${sanitize(nearText(each))}`),
    ]),
  ].join('\n')
}

/** The same file again. */
export function batchGoesOnText({ name, standing: { batch_id: id, counts } }: BatchStatus): string {
  const left = countInWords(counts.pending, 'row is', 'rows are')
  const rest = counts.pending === 0 ? 'nothing left to send' : `${left} left to send`
  return `${name} is batch ${id}: ${counts.accepted} of ${counts.total} accepted, ${rest}.`
}

export function secondOrderText({ requestId, createdAt, order }: SecondOrder): string {
  return `possible second order: request ${requestId}, created ${sanitize(localTime(createdAt))}, is for the same person and package as request ${order.requestId} (row ${order.row} of batch ${order.batchId}), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge ${requestId}`
}

/** What `batch reconcile` found. */
export function reconciledView(found: Reconciliation): View {
  const { settled, ambiguous, open, reads, secondOrders = [] } = found
  const place = ({ batchId, row, recipient }: Reconciliation['open'][number]) => ({
    batch_id: batchId,
    row,
    email: recipient?.email ?? null,
  })
  return {
    json: {
      settled: settled.map(({ submission, requestId, status }) => ({
        ...place(submission),
        request_id: requestId,
        status,
      })),
      ambiguous: ambiguous.map(({ submission, requestIds, near }) => ({
        ...place(submission),
        request_ids: requestIds,
        requests: near.map(({ requestId, createdAt, differs }) => ({
          request_id: requestId,
          created_at: createdAt,
          differs,
        })),
      })),
      open: open.map(place),
      reads,
      second_orders: secondOrders.map(({ requestId, createdAt, order }) => ({
        request_id: requestId,
        created_at: createdAt,
        order: { request_id: order.requestId, batch_id: order.batchId, row: order.row },
      })),
    },
    text: ({ columns }) =>
      wrapped(
        [
          reconciliationText(found),
          ...open.map(
            ({ batchId, row, recipient }) =>
              `row ${row} of batch ${batchId}${recipient === undefined ? '' : ` (${sanitize(recipient.email)})`}: no request for this person was found (a missing event proves nothing)`,
          ),
          ...secondOrders.map(secondOrderText),
          settled.length + ambiguous.length + open.length + secondOrders.length === 0
            ? 'Nothing to settle.'
            : '',
        ]
          .filter((line) => line !== '')
          .join('\n'),
        columns,
      ),
  }
}
