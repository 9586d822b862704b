import { InternalError } from '../../errors/kinds.ts'
import { transitions } from './states.ts'
import type { RowVersion } from './submission.ts'

/** Who took a submission out of `unknown`, and why. */
export interface Decision {
  by: string
  why: string
}

interface Changed {
  /** Wall time. */
  at: number
  /** The HTTP status of the answer that led to it. */
  answerStatus?: number | undefined
  /** Needed for every way out of `unknown`, and for nothing else. */
  decision?: Decision | undefined
}

/** What a submission becomes. `sending` is reached by `begin` alone. */
export type Change =
  | (Changed & { to: 'pending' | 'cancelled'; reason: string })
  | (Changed & { to: 'accepted'; requestId: string; requestStatus: string })
  | (Changed & { to: 'rejected'; reason: string; field?: string | undefined })
  | (Changed & { to: 'unknown'; reason: string; offeredId?: string | undefined })

export function refuseImpossible(from: RowVersion, change: Change): void {
  if (!transitions[from.state].includes(change.to)) {
    throw new InternalError(`a submission cannot go from "${from.state}" to "${change.to}"`)
  }
  if ((from.state === 'unknown') !== (change.decision !== undefined)) {
    throw new InternalError('a submission leaves "unknown" by a decision, and no other state by one')
  }
}
