import { InternalError } from '../../errors/kinds.ts'
import type { Outcome } from './outcome.ts'
import type { Attempt } from './submission.ts'

/** "If more than 5 s have gone by since that commit (a suspended laptop), back to `pending`." */
export const longestPauseMs = 5_000

export interface Tried {
  attempt: Attempt
  outcome: Outcome
}

export function changedElsewhere(): InternalError {
  return new InternalError('another process changed this order', {
    hint: 'Send nothing again before you have looked at: refcheck request list',
  })
}
