import type { Change } from './change.ts'
import { IoError } from '../../errors/kinds.ts'
import type { Tried } from './attempt.ts'
import type { Outcome } from './outcome.ts'

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

/** The store failed at an outcome: this error is the only place left that tells it, and how to hand it back. */
export function notRecorded({ attempt, outcome }: Tried, cause: unknown): IoError {
  const store = cause instanceof Error ? cause.message : 'the store failed'
  const settle = `refcheck batch reconcile ${attempt.batchId} --row ${attempt.row}`
  return new IoError(`${known(outcome)}, but this could not be recorded: ${store}`, {
    hint:
      outcome.kind === 'accepted'
        ? `Do not send it again. When the store can be written, record it: ${settle} --request-id ${outcome.requestId}`
        : `Note it; the order may show as unknown from now on. Do not send it again before that is settled: ${settle}`,
    cause,
  })
}

/** What an outcome says of the order, as a clause. */
export function known(outcome: Outcome): string {
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
