import type { Change } from './change.ts'
import type { SubmissionState } from './states.ts'

/**
 * What becomes of a row whose runner is gone (ordering protocol: "found in `sending` at start-up, its lease gone: `unknown`,
 * never `pending`"). A `single` that is still `pending` is `cancelled`: nothing of it left, and nobody will go on with
 * it. Undefined for a row that stays as it is.
 */
export function orphaned(
  { state, kind }: { state: SubmissionState; kind: 'single' | 'file' },
  at: number,
): Change | undefined {
  if (state === 'sending') {
    return { to: 'unknown', at, reason: 'the program was stopped while the order was in flight' }
  }
  if (state === 'pending' && kind === 'single') {
    return { to: 'cancelled', at, reason: 'the program was stopped before the order was sent' }
  }
  return undefined
}
