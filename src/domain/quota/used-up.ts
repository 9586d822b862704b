import { ThrottledError } from '../../errors/kinds.ts'

/** For a wait that was not allowed. */
export function quotaUsedUp(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: `Nothing was sent. Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
  })
}
