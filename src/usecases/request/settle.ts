import { changedElsewhere, type Tried } from '../../domain/submission/attempt.ts'
import type { Change } from '../../domain/submission/change.ts'
import type { Outcome } from '../../domain/submission/outcome.ts'
import { changeFor, untold } from '../../domain/submission/settlement.ts'
import type { Attempt, RowVersion } from '../../domain/submission/submission.ts'
import type { Ordering } from './ports.ts'

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
