import { IoError } from '../../errors/kinds.ts'
import type { Attempt, Change, RowVersion } from '../../store/ledger/types.ts'
import { changedElsewhere, type Tried } from './attempt.ts'
import type { Ordering } from './ordering.ts'
import type { Outcome } from './outcome.ts'

/**
 * Journals what an attempt came to, before anybody is told. Returns the row as it then stands. A store
 * that cannot write it down throws an IoError that says what is known: it is the only place left for it.
 */
export async function settle(ordering: Ordering, { attempt, outcome }: Tried): Promise<RowVersion> {
  const change = changeFor(outcome, ordering.clock.now())
  await writtenDown(outcome, async () => {
    if (!(await ordering.ledger.move(attempt, change))) await settleElsewhere(ordering, attempt, change)
  })
  return { ...attempt, state: change.to }
}

/** Writes an outcome to the store; where that fails, the error thrown is the only place left that tells it. */
export async function writtenDown<T>(outcome: Outcome, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw untold(outcome, error)
  }
}

/** Another process took this one for dead and made the row `unknown`; a request's id in hand still proves it. */
async function settleElsewhere(ordering: Ordering, attempt: Attempt, change: Change): Promise<void> {
  if (change.to === 'unknown') return
  if (change.to !== 'accepted') throw changedElsewhere()
  const decision = { by: 'refcheck', why: 'the answer to this very attempt came in later, with the id' }
  const took = await ordering.ledger.move({ ...attempt, state: 'unknown' }, { ...change, decision })
  if (!took) throw changedElsewhere()
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

function untold(outcome: Outcome, cause: unknown): IoError {
  const store = cause instanceof Error ? cause.message : 'the store failed'
  return new IoError(`${known(outcome)}, but this could not be written down: ${store}`, {
    hint: 'Note it; the order may show as unknown from now on. Do not send it again before that is settled.',
    cause,
  })
}

/** What an outcome says of the order, as a clause. */
export function known(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'accepted':
      return `the order was taken as request ${outcome.requestId}`
    case 'unknown':
      return `the order may or may not have been taken (${outcome.reason})`
    case 'rejected':
    case 'halted':
    case 'throttled':
    case 'unsent':
      return `nothing was ordered (${outcome.error.message})`
  }
}
