import { propertyOf } from '../../contract/parse-json.ts'
import type { Envelope } from '../../contract/envelope.ts'
import { type RequestResource, uuid } from '../../contract/request.ts'
import { parseRetryAfter } from '../../contract/headers.ts'
import { type RefcheckError, InternalError, UnavailableError, IoError } from '../../errors/kinds.ts'
import type { Attempt, RowId } from './submission.ts'
import type { Change } from './states.ts'

/** The outcome of one POST for the order (src/docs/ordering.md, section 2). */
export type Outcome =
  | {
      kind: 'accepted'
      requestId: string
      requestStatus: string
      answerStatus: number
      /** Set if the service mixes up its answers, so that no other row may be sent. */
      haltError?: RefcheckError
    }
  /** The service refuses this body; `error` contains the reason and the field that the service named. */
  | { kind: 'rejected'; error: RefcheckError; answerStatus: number }
  /** 401 or 403: nothing was created, and any other order would be refused too. */
  | { kind: 'halted'; error: RefcheckError; answerStatus: number }
  /** 429: nothing was created; the service accepts calls again after `seconds`. */
  | { kind: 'throttled'; error: RefcheckError; seconds: number; isStated: boolean; answerStatus: number }
  /** No byte was sent. */
  | { kind: 'unsent'; error: RefcheckError }
  /**
   * The request may have been created. `offeredId`: the request id that the failed answer named, which has to
   * be proved by a read.
   */
  | {
      kind: 'unknown'
      reason: string
      error: RefcheckError | undefined
      offeredId: string | undefined
      answerStatus: number | undefined
      /** Whether the service mixes up its answers, so that no other row may be sent. */
      mustHalt?: boolean
    }

type Answered = Extract<CreateAnswer, { kind: 'answered' }>
type UnknownOutcome = Extract<Outcome, { kind: 'unknown' }>

/** The status of a created request whose answer does not contain it: "Response 201 returns status RECEIVED". */
const statusAtCreation = 'RECEIVED'

export function outcomeOf(answer: CreateAnswer): Outcome {
  switch (answer.kind) {
    case 'unsent':
      return { kind: 'unsent', error: answer.error }
    case 'lost':
      return unknownOutcome(answer.error, answer.error.message)
    case 'answered':
      return answer.status === 201
        ? createdOutcome(answer)
        : (refusedOutcome(answer) ?? unknownAnswerOutcome(answer))
  }
}

function createdOutcome(answer: Answered): Outcome {
  const requestId = requestIdIn(answer.envelope)
  if (requestId === undefined) return unknownAnswerOutcome(answer)
  const status = propertyOf(answer.envelope?.data, 'status')
  return {
    kind: 'accepted',
    requestId: requestId.toLowerCase(),
    requestStatus: typeof status === 'string' && status !== '' ? status : statusAtCreation,
    answerStatus: answer.status,
  }
}

/**
 * Returns the outcome for a request id that already belongs to another order: "A UUID that is another order's
 * already: `unknown`, and the batch halts" (src/docs/ordering.md, section 2). One request cannot belong to two
 * orders, so the answer was about the other order.
 */
export function takenRequestOutcome(
  { requestId, answerStatus }: Extract<Outcome, { kind: 'accepted' }>,
  otherRow: RowId,
): UnknownOutcome {
  const message = `the service answered with request ${requestId}, which is the order of row ${otherRow.row} of batch ${otherRow.batchId} already`
  const error = mixedAnswersError(message, answerStatus)
  return { ...unknownOutcome(error, message), answerStatus, mustHalt: true }
}

/**
 * Makes the error for two rows that were answered with the same request, after a read has shown that it belongs to
 * one of them.
 */
export function takenRequestError(
  requestId: string,
  { own, other }: Record<'own' | 'other', RowId>,
  answerStatus: number,
): RefcheckError {
  const message = `the service answered with request ${requestId} for row ${other.row} of batch ${other.batchId} as well, and the request is for row ${own.row} of batch ${own.batchId}`
  return mixedAnswersError(
    message,
    answerStatus,
    `Settle that row with: refcheck batch reconcile ${other.batchId}`,
  )
}

function mixedAnswersError(message: string, status: number, extraHint?: string): RefcheckError {
  const hint =
    'A cache or proxy between here and the service may mix up answers: check the base URL and the proxy before anything else is sent.'
  return new UnavailableError(message, {
    status,
    hint: extraHint === undefined ? hint : `${hint}\n${extraHint}`,
  })
}

/**
 * Returns the outcome of an answer that proves that nothing was created; undefined for all others. Only the service
 * itself can prove it, and it always does so with an envelope with `client_error` and `data` null: a firewall's page,
 * or a contradictory answer, proves nothing. An answer after which the same row would be sent again (401, 403, 429)
 * must not name an id either.
 */
function refusedOutcome(answer: Answered): Outcome | undefined {
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

function unknownAnswerOutcome(answer: Answered): Outcome {
  const { status, envelope, error } = answer
  const isRefusal = status >= 400 && status < 500
  const reason =
    error === undefined
      ? `the service answered ${status} without the id of a request`
      : isRefusal
        ? `the service answered ${status} (${error.message}); it may have been ordered all the same`
        : error.message
  const offeredId = requestIdIn(envelope) ?? uuidIn(envelope?.message)
  return { ...unknownOutcome(error, reason), offeredId, answerStatus: status }
}

const unknownOutcome = (error: RefcheckError | undefined, reason: string): UnknownOutcome => ({
  kind: 'unknown',
  reason,
  error,
  offeredId: undefined,
  answerStatus: undefined,
})

/** Returns the request id in an answer's data, whatever its status. */
function requestIdIn(envelope: Envelope | undefined): string | undefined {
  const id = uuid.safeParse(propertyOf(envelope?.data, 'request_id'))
  return id.success ? id.data : undefined
}

/** Returns a UUID in a text. It is only a candidate, which a read of the request has to prove. */
function uuidIn(message: string | undefined): string | undefined {
  return message?.match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/i)?.[0]
}

/**
 * The result of one POST /v1/requests, which is sent at most once. `outcomeOf` returns its consequence for the order.
 */
export type CreateAnswer =
  /** No connection was made: no byte was sent. */
  | { kind: 'unsent'; error: RefcheckError }
  /** Some bytes may have been sent, and no complete answer was received. */
  | { kind: 'lost'; error: RefcheckError }
  | {
      kind: 'answered'
      status: number
      /** Undefined if the body is not the documented envelope. */
      envelope: Envelope | undefined
      /** The unparsed value of the header. */
      retryAfter: string | undefined
      /** The typed error for this status (api/answer); undefined for a 2xx. */
      error: RefcheckError | undefined
    }

/** Returns the change of the row that an outcome causes. */
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

/** Returns the change of a row whose request was found by a read. `decision`: the user and the reason. */
export function acceptedByEvidence(
  { request_id: requestId, status: requestStatus }: RequestResource,
  at: number,
  decision: NonNullable<Change['decision']>,
): Extract<Change, { to: 'accepted' }> {
  return { to: 'accepted', at, requestId, requestStatus, decision }
}

/**
 * Makes the error for an outcome that the store could not record. Only this error contains the outcome, and how to
 * record it later.
 */
export function notRecordedError({ attempt, outcome }: AttemptOutcome, cause: unknown): IoError {
  const storeMessage = cause instanceof Error ? cause.message : 'the store failed'
  const reconcileCommand = `refcheck batch reconcile ${attempt.batchId} --row ${attempt.row}`
  return new IoError(`${outcomeText(outcome)}, but this could not be recorded: ${storeMessage}`, {
    hint:
      outcome.kind === 'accepted'
        ? `Do not send it again. When the store can be written, record it: ${reconcileCommand} --request-id ${outcome.requestId}`
        : `Note it; the order may show as unknown from now on. Do not send it again before that is settled: ${reconcileCommand}`,
    cause,
  })
}

/** Returns an outcome as a clause. */
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

/**
 * The maximum time between the commit of an attempt and the sending: "If more than 5 s have gone by since that commit
 * (a suspended laptop), back to `pending`."
 */
export const maxPauseMs = 5_000

export interface AttemptOutcome {
  attempt: Attempt
  outcome: Outcome
}
