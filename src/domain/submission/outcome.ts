import { propertyOf } from '../../contract/parse-json.ts'
import type { Envelope } from '../../contract/envelope.ts'
import { type RequestResource, uuid } from '../../contract/request.ts'
import { parseRetryAfter } from '../../contract/headers.ts'
import { type RefcheckError, InternalError, UnavailableError, IoError } from '../../errors/kinds.ts'
import type { Attempt, RowId } from './submission.ts'
import type { Change } from './states.ts'

/** What one POST came to for the order (src/docs/ordering.md, section 2). */
export type Outcome =
  | {
      kind: 'accepted'
      requestId: string
      requestStatus: string
      answerStatus: number
      /** The service mixes up its answers, so no other row may go out. */
      halts?: RefcheckError
    }
  /** This body will not be taken; `error` says why, with the field the service named. */
  | { kind: 'rejected'; error: RefcheckError; answerStatus: number }
  /** 401, 403: nothing was created, and any other order would fare the same. */
  | { kind: 'halted'; error: RefcheckError; answerStatus: number }
  /** Nothing was created; the service takes calls again in `seconds`. */
  | { kind: 'throttled'; error: RefcheckError; seconds: number; understood: boolean; answerStatus: number }
  /** No byte has left. */
  | { kind: 'unsent'; error: RefcheckError }
  /** It may have been created. `offeredId` may be its id, for a read to prove. */
  | {
      kind: 'unknown'
      reason: string
      error: RefcheckError | undefined
      offeredId: string | undefined
      answerStatus: number | undefined
      /** The service mixes up its answers, so no other row may go out. */
      halts?: boolean
    }

type Answered = Extract<CreateAnswer, { kind: 'answered' }>
type UnknownOutcome = Extract<Outcome, { kind: 'unknown' }>

/** "Response 201 returns status RECEIVED", should an answer leave it out. */
const statusAtCreation = 'RECEIVED'

export function outcomeOf(answer: CreateAnswer): Outcome {
  switch (answer.kind) {
    case 'unsent':
      return { kind: 'unsent', error: answer.error }
    case 'lost':
      return unknownOutcome(answer.error, answer.error.message)
    case 'answered':
      return answer.status === 201 ? created(answer) : (refused(answer) ?? unknown(answer))
  }
}

function created(answer: Answered): Outcome {
  const requestId = idIn(answer.envelope)
  if (requestId === undefined) return unknown(answer)
  const status = propertyOf(answer.envelope?.data, 'status')
  return {
    kind: 'accepted',
    requestId: requestId.toLowerCase(),
    requestStatus: typeof status === 'string' && status !== '' ? status : statusAtCreation,
    answerStatus: answer.status,
  }
}

/**
 * "A UUID that is another order's already: `unknown`, and the batch halts" (src/docs/ordering.md, section 2): one request is no two
 * orders, so the answer was about the other one.
 */
export function requestTakenOutcome(
  { requestId, answerStatus }: Extract<Outcome, { kind: 'accepted' }>,
  holder: RowId,
): UnknownOutcome {
  const message = `the service answered with request ${requestId}, which is the order of row ${holder.row} of batch ${holder.batchId} already`
  const error = mixedUp(message, answerStatus)
  return { ...unknownOutcome(error, message), answerStatus, halts: true }
}

/** Two rows were answered with one request, and a read of it showed that it is the order of one of them. */
export function requestTakenError(
  requestId: string,
  { own, other }: Record<'own' | 'other', RowId>,
  answerStatus: number,
): RefcheckError {
  const message = `the service answered with request ${requestId} for row ${other.row} of batch ${other.batchId} as well, and the request is for row ${own.row} of batch ${own.batchId}`
  return mixedUp(message, answerStatus, `Settle that row with: refcheck batch reconcile ${other.batchId}`)
}

function mixedUp(message: string, status: number, more?: string): RefcheckError {
  const hint =
    'A cache or proxy between here and the service may mix up answers: check the base URL and the proxy before anything else is sent.'
  return new UnavailableError(message, { status, hint: more === undefined ? hint : `${hint}\n${more}` })
}

/**
 * The answers after which nothing was created. Only the service itself can say so, and it always says
 * it in its envelope as a `client_error` with `data` null: a firewall's page, or an answer at odds with itself,
 * proves nothing. One that would send the same row again (401, 403, 429) must name no id either.
 */
function refused(answer: Answered): Outcome | undefined {
  const { envelope, status } = answer
  if (envelope?.status_message !== 'client_error' || envelope.data !== null) return undefined
  if (status !== 400 && status !== 404 && uuidIn(JSON.stringify(envelope)) !== undefined) return undefined
  const error = answer.error ?? new InternalError(`no error was made of the answer ${status}`)
  switch (status) {
    case 400:
    case 404:
      return { kind: 'rejected', error, answerStatus: status }
    case 401:
    case 403:
      return { kind: 'halted', error, answerStatus: status }
    case 429: {
      const wait = parseRetryAfter(answer.retryAfter)
      return { kind: 'throttled', error, ...wait, answerStatus: status }
    }
    default:
      return undefined
  }
}

function unknown(answer: Answered): Outcome {
  const { status, envelope, error } = answer
  const reason = error?.message ?? `the service answered ${status} without the id of a request`
  const offeredId = idIn(envelope) ?? uuidIn(envelope?.message)
  return { ...unknownOutcome(error, reason), offeredId, answerStatus: status }
}

const unknownOutcome = (error: RefcheckError | undefined, reason: string): UnknownOutcome => ({
  kind: 'unknown',
  reason,
  error,
  offeredId: undefined,
  answerStatus: undefined,
})

/** The request's id in an answer's data, whatever its status. */
function idIn(envelope: Envelope | undefined): string | undefined {
  const id = uuid.safeParse(propertyOf(envelope?.data, 'request_id'))
  return id.success ? id.data : undefined
}

/** Good enough to ask for: what a read then shows decides. */
function uuidIn(message: string | undefined): string | undefined {
  return message?.match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i)?.[0]
}

/**
 * The result of one POST /v1/requests, which is sent at most once. `outcomeOf` decides what it means for the
 * order.
 */
export type CreateAnswer =
  /** It was never connected: no byte has left. */
  | { kind: 'unsent'; error: RefcheckError }
  /** A byte may have left and no whole answer came back. */
  | { kind: 'lost'; error: RefcheckError }
  | {
      kind: 'answered'
      status: number
      /** Undefined where the body is not the documented envelope. */
      envelope: Envelope | undefined
      /** The header as it came. */
      retryAfter: string | undefined
      /** The typed error for this status (api/answer); undefined for a 2xx. */
      error: RefcheckError | undefined
    }

/** What an outcome makes of its row. */
export function changeFor(outcome: Outcome, at: number): Change {
  switch (outcome.kind) {
    case 'accepted': {
      const { requestId, requestStatus, answerStatus } = outcome
      return { to: 'accepted', at, requestId, requestStatus, answerStatus }
    }
    case 'rejected': {
      const { error, answerStatus } = outcome
      return { to: 'rejected', at, reason: error.message, field: error.field, answerStatus }
    }
    case 'unknown': {
      const { reason, offeredId, answerStatus } = outcome
      return { to: 'unknown', at, reason, offeredId, answerStatus }
    }
    case 'unsent':
      return { to: 'pending', at, reason: outcome.error.message }
    case 'halted':
    case 'throttled':
      return { to: 'pending', at, reason: outcome.error.message, answerStatus: outcome.answerStatus }
  }
}

/** The change of a row whose request a read has shown. `decision`: whose, and why. */
export function acceptedByEvidence(
  { request_id: requestId, status: requestStatus }: RequestResource,
  at: number,
  decision: NonNullable<Change['decision']>,
): Change {
  return { to: 'accepted', at, requestId, requestStatus, decision }
}

/** The store failed at an outcome: this error alone has it, and how to record it later. */
export function notRecordedError({ attempt, outcome }: AttemptOutcome, cause: unknown): IoError {
  const store = cause instanceof Error ? cause.message : 'the store failed'
  const reconcile = `refcheck batch reconcile ${attempt.batchId} --row ${attempt.row}`
  return new IoError(`${outcomeText(outcome)}, but this could not be recorded: ${store}`, {
    hint:
      outcome.kind === 'accepted'
        ? `Do not send it again. When the store can be written, record it: ${reconcile} --request-id ${outcome.requestId}`
        : `Note it; the order may show as unknown from now on. Do not send it again before that is settled: ${reconcile}`,
    cause,
  })
}

/** What an outcome says of the order, as a clause. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'accepted':
      return `the order was accepted as request ${outcome.requestId}`
    case 'unknown':
      return `the order may or may not have been accepted (${outcome.reason})`
    case 'rejected':
    case 'halted':
    case 'throttled':
    case 'unsent':
      return `nothing was ordered (${outcome.error.message})`
  }
}

/** "If more than 5 s have gone by since that commit (a suspended laptop), back to `pending`." */
export const longestPauseMs = 5_000

export interface AttemptOutcome {
  attempt: Attempt
  outcome: Outcome
}

export function changedElsewhereError(): InternalError {
  return new InternalError('another process changed this order', {
    hint: 'Send nothing again before you have looked at: refcheck request list',
  })
}

const firstBackoffMs = 500
const longestBackoffMs = 30_000

/**
 * Milliseconds before an order that never left goes again. `attempt` counts from 1, `fraction` is in [0, 1):
 * half fixed, half random, so that several processes do not come back together.
 */
export function backoffMs(attempt: number, fraction: number): number {
  const ceiling = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
  return Math.round(ceiling / 2 + (ceiling / 2) * fraction)
}
