import { isLoopbackUrl } from '../../contract/loopback.ts'
import { UsageError } from '../../errors/kinds.ts'

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
export function windowsFor(baseUrl: string, said: string | undefined): readonly QuotaWindow[] {
  if (said === undefined) return documentedWindows
  if (isLoopbackUrl(baseUrl)) return parseWindows(said, 'REFCHECK_QUOTA')
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
