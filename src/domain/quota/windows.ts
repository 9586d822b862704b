import { isLoopbackUrl } from '../../contract/url.ts'
import { ThrottledError, UsageError } from '../../errors/kinds.ts'

/** A fixed window: the number of calls allowed in a number of seconds ("Limits"). */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** "60 requests per 60-second fixed window" and "1000 requests per 1-hour fixed window", per API key. */
const documentedWindows: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/**
 * Returns the windows of the API document, or those of REFCHECK_QUOTA for a service on this machine. Throws UsageError
 * for REFCHECK_QUOTA with any other service.
 */
export function windowsFor(baseUrl: string, setting: string | undefined): readonly QuotaWindow[] {
  if (setting === undefined) return documentedWindows
  if (isLoopbackUrl(baseUrl)) return parseWindows(setting, 'REFCHECK_QUOTA')
  throw new UsageError('REFCHECK_QUOTA is allowed for a sandbox on this machine only', {
    hint: `Unset it: ${baseUrl} has a fixed quota.`,
  })
}

/** Parses `60/60,1000/3600` (calls/seconds). Throws a UsageError, which names `source`, for any other text. */
export function parseWindows(text: string, source: string): QuotaWindow[] {
  return text.split(',').map((part) => {
    const [, calls, seconds] = /^\s*([1-9]\d{0,8})\/([1-9]\d{0,8})\s*$/.exec(part) ?? []
    if (calls === undefined || seconds === undefined) {
      throw new UsageError(`${source}: "${part.slice(0, 40)}" is not a quota window`, {
        hint: 'Give calls/seconds, separated by commas, such as: 60/60,1000/3600',
      })
    }
    return { calls: Number(calls), seconds: Number(seconds) }
  })
}

/** Returns the error for a command that may not wait until the quota allows a call. */
export function quotaExceededError(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: `Nothing was sent. Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
  })
}

/** The use of the quota of one key, as the governor writes it: JSON that the store does not interpret. */
export type QuotaState = unknown

/**
 * Returns the next state for a state. It is called within a transaction, so it has no side effects. `now` is the wall
 * time of the database, if several machines share the state.
 */
type QuotaDecision = (state: QuotaState, now?: number) => { state: QuotaState; waitMs: number }

/** A claim on the quota that is made in the same transaction as the claim of a row. */
export interface QuotaClaim {
  /** An identifier of the key that does not reveal it: see `Quota.account`. */
  account: string
  /** If `waitMs` is above 0, the quota allows no call yet, and the transaction changes nothing else. */
  decide: QuotaDecision
}
