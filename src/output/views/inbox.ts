import type { Imported, ListedEvent, ReplayReply } from '../../domain/webhook/event-list.ts'
import { errorReasonOf } from '../../domain/webhook/error-reason.ts'
import type { KeptEvent } from '../../domain/webhook/received.ts'
import type { Delivered } from '../../domain/webhook/retry.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import { sanitize } from '../../host/text.ts'
import { statusStyle } from './status.ts'
import { styled } from '../terminal.ts'
import type { ListView, View } from '../view.ts'
import { localClock, localTime } from '../../domain/wording/local-time.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'

/** One event as it comes in. */
export function keptEventView({
  id,
  receivedAt,
  requestId,
  status,
  event,
  oddity,
  repeated,
  body,
}: KeptEvent): View {
  return {
    json: {
      id,
      received_at: new Date(receivedAt).toISOString(),
      request_id: requestId ?? null,
      status: status ?? null,
      event: event ?? null,
      error_reason: errorReasonOf(body) ?? null,
      repeated,
      oddity: oddity ?? null,
    },
    text: (terminal) => {
      const shown = sanitize(status ?? '-')
      const style = status === undefined ? undefined : statusStyle(status)
      const remarks = [repeated ? 'duplicate' : undefined, oddity, errorReasonOf(body)].filter(
        (each) => each !== undefined,
      )
      return [
        localClock(receivedAt),
        sanitize(requestId ?? '-'),
        style === undefined ? shown : styled(terminal, style, shown),
        ...remarks.map((remark) => `(${sanitize(remark)})`),
      ].join('  ')
    },
  }
}

export function deliveredText(
  { id, requestId, status }: { id: number; requestId: string | undefined; status: string | undefined },
  { taken, answer }: Delivered,
  retryInMs: number | undefined,
): string {
  const which = `event ${id} (${requestId ?? '-'} ${status ?? '-'})`
  if (taken) return `Forwarded ${which}: ${answer}`
  const why = /^\d+$/.test(answer) ? `it answered ${answer}` : answer
  return `Could not forward ${which}: ${why}; retrying in ${((retryInMs ?? 0) / 1000).toFixed(1)} s`
}

/** How a receiver ends on Ctrl-C. */
export function listeningEnd(kept: number, forwards: boolean): InterruptedError {
  return new InterruptedError(`interrupted; ${countInWords(kept, 'new event')} recorded`, {
    hint: forwards ? 'Events that were not forwarded yet are forwarded first by the next run.' : undefined,
  })
}

export function eventListView(events: readonly ListedEvent[]): ListView<ListedEvent> {
  return {
    rows: events,
    json: ({ id, received_at, request_id, status, error_reason, forwarded }) => ({
      id,
      received_at,
      request_id,
      status,
      error_reason,
      forwarded,
    }),
    columns: [
      { name: 'id', value: (row) => row.id },
      { name: 'received_at', value: (row) => row.received_at, show: (row) => localTime(row.received_at) },
      { name: 'request_id', value: (row) => row.request_id, whole: true },
      {
        name: 'status',
        value: (row) => row.status,
        style: (row) => (row.status === null ? undefined : statusStyle(row.status)),
      },
      { name: 'forwarded', value: (row) => row.forwarded, show: (row) => row.forwarding },
      { name: 'error_reason', value: (row) => row.error_reason, extra: true },
      { name: 'repeats', value: (row) => row.repeats, extra: true },
      { name: 'attempts', value: (row) => row.attempts, extra: true },
      { name: 'last_answer', value: (row) => row.last_answer, extra: true },
      { name: 'oddity', value: (row) => row.oddity, extra: true },
    ],
    empty: 'No events. Receive them with: refcheck webhook listen',
  }
}

/** One event with its body, exact where it is text. */
export function eventView(
  event: ListedEvent & { signature: string; body: string; body_base64: string | null },
): View {
  const { forwarding, ...json } = event
  return {
    json,
    text: () =>
      [
        `event ${event.id}  ${localTime(event.received_at)}`,
        `${sanitize(event.request_id ?? '-')}  ${sanitize(event.status ?? '-')}`,
        `forwarded: ${forwarding}${event.last_answer === null ? '' : ` (${sanitize(event.last_answer)})`}`,
        ...(event.repeats === 0
          ? []
          : [`redelivered ${event.repeats} ${event.repeats === 1 ? 'time' : 'times'}`]),
        ...(event.error_reason === null ? [] : [`reason: ${sanitize(event.error_reason)}`]),
        ...(event.oddity === null ? [] : [`unexpected: ${sanitize(event.oddity)}`]),
        `signature ${event.signature}`,
        '',
        sanitize(event.body, { lines: true }),
      ].join('\n'),
  }
}

export function replayView(replies: readonly ReplayReply[]): View {
  return {
    json: replies,
    text: () =>
      replies
        .map(
          ({ id, status, failure }) =>
            `event ${id}  ${sanitize(failure ?? (status === null ? 'queued' : String(status)))}`,
        )
        .join('\n'),
  }
}

export function importedView({ read, added, repeated }: Imported): View {
  return {
    json: { read, added, repeated },
    text: () => `${countInWords(read, 'event')} read: ${added} new, ${repeated} already in the inbox`,
  }
}
