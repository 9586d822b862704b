import {
  type ForwardResult,
  type SendingResult,
  isAccepted,
  type NextTry,
  type SentDelivery,
} from '../../domain/webhook/delivery.ts'
import {
  errorReasonOf,
  type Imported,
  type StoredEvent,
  type ListedEvent,
  type ReplayReply,
} from '../../domain/webhook/events.ts'
import type { ExplainedVerification, DeliveryResult } from '../../domain/webhook/verify.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { localClock, localTime } from '../../domain/wording/time.ts'
import { InterruptedError, IoError } from '../../errors/kinds.ts'
import { sanitize } from '../../host/text.ts'
import { statusStyle, styled, type Terminal, styledStatus } from '../terminal.ts'
import type { ListView, View } from '../view.ts'

export function verificationView(verification: ExplainedVerification): View {
  const { valid, event, diagnosis } = verification
  return {
    json: { valid, event, ...(diagnosis !== undefined && { diagnosis }) },
    text: (terminal) => (valid ? validText(event, terminal) : ''),
  }
}

function validText(event: unknown, terminal: Terminal): string {
  const valid = styled(terminal, 'green', 'valid')
  if (typeof event !== 'object' || event === null)
    return `${valid}  the signature matches; the body is not JSON`
  const { event: type, request_id, status, error_reason } = event as Record<string, unknown>
  const parts = [type, request_id, status, error_reason].filter((part) => typeof part === 'string')
  return `${valid}  ${parts.map((part) => sanitize(part)).join('  ')}`
}

/**
 * Shows one row per delivery of a log: its position, the result of the verification of its signature, and its
 * event or the problem.
 */
export function loggedVerificationsView(deliveries: readonly DeliveryResult[]): ListView<DeliveryResult> {
  return {
    rows: deliveries,
    json: ({ place, valid, event, failure, diagnosis }) => ({
      place,
      valid,
      ...eventKey(event),
      event,
      ...(failure !== undefined && { problem: failure.message }),
      ...(diagnosis !== undefined && { diagnosis }),
    }),
    columns: [
      { name: 'place' },
      {
        name: 'valid',
        show: ({ valid }) => (valid ? 'valid' : 'invalid'),
        style: ({ valid }) => (valid ? 'green' : 'red'),
      },
      { name: 'request_id', value: ({ event }) => eventKey(event).request_id, avoidsWrapping: true },
      { name: 'status', value: ({ event }) => eventKey(event).status },
      {
        name: 'problem',
        value: ({ failure, diagnosis }) =>
          failure === undefined
            ? null
            : `${failure.message}${diagnosis === undefined ? '' : `. ${diagnosis.message}`}`,
      },
    ],
    empty: 'It contains no deliveries.',
  }
}

function eventKey(event: unknown): { request_id: string | null; status: string | null } {
  const fields = typeof event === 'object' && event !== null ? event : {}
  const { request_id, status } = fields as Record<string, unknown>
  return {
    request_id: typeof request_id === 'string' ? request_id : null,
    status: typeof status === 'string' ? status : null,
  }
}

export function signatureView(signature: string): View {
  return { json: { signature }, text: () => signature }
}

/** Shows one line per delivery: the event, and the answer of the receiver with its duration. */
export function sendingView({ to, deliveries }: SendingResult): View {
  return {
    json: { to, deliveries },
    text: (terminal) => deliveries.map((each) => deliveryLine(each, terminal)).join('\n'),
  }
}

function deliveryLine(delivery: SentDelivery, terminal: Terminal): string {
  const { answered, accepted, signature, milliseconds, request_id, status, said } = delivery
  const isRight = accepted === (signature === 'good')
  const word = answered === null ? 'no answer' : accepted ? 'accepted' : 'refused'
  const verdict = styled(terminal, isRight ? 'green' : 'red', word)
  const signatureText = signature === 'bad' ? '  bad signature' : ''
  const replyText = accepted || said === '' ? '' : `  "${said}"`
  const answer = answered === null ? `${milliseconds} ms` : `${answered} in ${milliseconds} ms`
  return `${verdict}  ${answer}  ${sanitize(`${request_id}  ${status}${signatureText}${replyText}`, { keepsLayout: true })}`
}

/** Shows an event that was just received and stored. */
export function storedEventView({
  id,
  receivedAt,
  requestId,
  status,
  event,
  oddity,
  repeated,
  body,
}: StoredEvent): View {
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
      const remarks = [repeated ? 'duplicate' : undefined, oddity, errorReasonOf(body)].filter(
        (each) => each !== undefined,
      )
      return [
        localClock(receivedAt),
        sanitize(requestId ?? '-'),
        styledStatus(terminal, status ?? '-'),
        ...remarks.map((remark) => `(${sanitize(remark)})`),
      ].join('  ')
    },
  }
}

/**
 * Returns the note about an attempt to forward an event. `next` is the number of milliseconds until the next
 * attempt, or `dropped`.
 */
export function forwardedText(
  { id, requestId, status }: { id: number; requestId: string | undefined; status: string | undefined },
  result: ForwardResult,
  next: NextTry,
): string {
  const eventName = sanitize(`event ${id} (${requestId ?? '-'} ${status ?? '-'})`)
  const { answer } = result
  if (result.isAccepted) return `Forwarded ${eventName}: ${answer}`
  const reasonText = /^\d+$/.test(answer) ? `it answered ${answer}` : answer
  if (next === 'dropped') {
    return `Dropped ${eventName}: ${reasonText}. Forward it again with: refcheck webhook events replay ${id}`
  }
  return `Could not forward ${eventName}: ${reasonText}; retrying in ${((next ?? 0) / 1000).toFixed(1)} s`
}

const forwardedLaterText = 'Events that were not forwarded yet are forwarded first by the next run.'

/** Returns the error with which `webhook listen` ends on Ctrl-C. `count` is the number of new events. */
export function createInterruptedError(count: number, canForward: boolean): InterruptedError {
  return new InterruptedError(`interrupted; ${formatCount(count, 'new event')} recorded`, {
    hint: canForward ? forwardedLaterText : undefined,
  })
}

/** Returns the note with which `webhook listen` ends on SIGTERM, which is not an error. */
export function stoppedNote(count: number, canForward: boolean): string {
  return `Stopped; ${formatCount(count, 'new event')} recorded.${canForward ? ` ${forwardedLaterText}` : ''}`
}

/**
 * Returns the error with which `webhook listen` ends when the reader of its output has ended, as after `| head -1`.
 */
export function createClosedOutputError(count: number): IoError {
  return new IoError(
    `the program that read the output has ended; ${formatCount(count, 'new event')} recorded`,
    {
      hint: 'Nothing is lost. List them with: refcheck webhook events list',
    },
  )
}

export function eventListView(events: readonly ListedEvent[]): ListView<ListedEvent> {
  return {
    rows: events,
    json: ({ id, received_at, request_id, status, error_reason, forwarded, dropped }) => ({
      id,
      received_at,
      request_id,
      status,
      error_reason,
      forwarded,
      dropped,
    }),
    columns: [
      { name: 'id' },
      { name: 'received_at', show: (row) => localTime(row.received_at) },
      { name: 'request_id', avoidsWrapping: true },
      {
        name: 'status',
        style: ({ status }) => statusStyle(status ?? ''),
      },
      { name: 'forwarded', show: (row) => row.forwarding },
      { name: 'error_reason', extra: true },
      { name: 'repeats', extra: true },
      { name: 'attempts', extra: true },
      { name: 'last_answer', extra: true },
      { name: 'oddity', extra: true },
    ],
    empty: 'No events. Receive them with: refcheck webhook listen',
  }
}

/**
 * Shows an event with its body. The JSON has the exact bytes of the body, as text or, if they are not text,
 * in base64.
 */
export function eventView(
  event: ListedEvent & { signature: string; body: string; body_base64: string | null },
): View {
  const { forwarding, ...json } = event
  return {
    json,
    isVerbatim: true,
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
        sanitize(event.body, { keepsLines: true }),
      ].join('\n'),
  }
}

const queuedText = 'queued for "webhook listen" with --forward-to or --exec'

export function replayView(replies: readonly ReplayReply[]): View {
  return {
    json: replies,
    text: () =>
      replies
        .map(
          ({ id, status, failure }) =>
            `event ${id}: ${sanitize(failure ?? (status === null ? queuedText : `${isAccepted({ status }) ? 'taken' : 'not taken'} (${status})`))}`,
        )
        .join('\n'),
  }
}

export function droppedView(ids: readonly number[]): View {
  return {
    json: ids.map((id) => ({ id, dropped: true })),
    text: () => ids.map((id) => `event ${id}: dropped, and kept`).join('\n'),
  }
}

export function importedView({ read, added, repeated }: Imported): View {
  return {
    json: { read, added, repeated },
    text: () => `${formatCount(read, 'event')} read: ${added} new, ${repeated} already in the inbox`,
  }
}
