import { isLoopbackUrl } from '../../contract/url.ts'
import { ThrottledError, UsageError } from '../../errors/kinds.ts'

/** A fixed window: so many calls in so many seconds ("Limits"). */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** "60 requests per 60-second fixed window" and "1000 requests per 1-hour fixed window", per API key. */
const documentedWindows: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/** The document's windows, or those that REFCHECK_QUOTA says, for a service on this machine only. */
export function windowsFor(baseUrl: string, setting: string | undefined): readonly QuotaWindow[] {
  if (setting === undefined) return documentedWindows
  if (isLoopbackUrl(baseUrl)) return parseWindows(setting, 'REFCHECK_QUOTA')
  throw new UsageError('REFCHECK_QUOTA is allowed for a sandbox on this machine only', {
    hint: `Unset it: ${baseUrl} has a fixed quota.`,
  })
}

/** Reads `60/60,1000/3600` (calls/seconds). `what` names where it was written. */
export function parseWindows(text: string, what: string): QuotaWindow[] {
  return text.split(',').map((part) => {
    const [, calls, seconds] = /^\s*([1-9]\d{0,8})\/([1-9]\d{0,8})\s*$/.exec(part) ?? []
    if (calls === undefined || seconds === undefined) {
      throw new UsageError(`${what}: "${part.slice(0, 40)}" is not a quota window`, {
        hint: 'Give calls/seconds, separated by commas, such as: 60/60,1000/3600',
      })
    }
    return { calls: Number(calls), seconds: Number(seconds) }
  })
}

/** For a wait that was not allowed. */
export function quotaUsedUp(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: `Nothing was sent. Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
  })
}

/** What one key's use of its quota has come to, as the governor writes it: JSON, opaque to the store. */
export type QuotaState = unknown

/**
 * Reads a state and says what it becomes. Called within a transaction, so it decides and does nothing else. `now`: the
 * wall time of all who share the state, where that is not this machine's.
 */
type QuotaDecision = (state: QuotaState, now?: number) => { state: QuotaState; waitMs: number }

/** A place in the quota that is taken together with what needs it. */
export interface QuotaPriority {
  /** Names a key without telling it: see `Quota.account`. */
  account: string
  /** `waitMs` above 0: there is no place yet, and nothing else is done. */
  decide: QuotaDecision
}
