import type { Answer } from '../answer.ts'
import { unless } from '../case.ts'
import type { QuotaWindow } from '../target.ts'
import type { Visit } from '../visit.ts'

/** Both windows, the shorter one first. */
export interface Windows {
  minute: QuotaWindow
  hour: QuotaWindow
}

/** The windows to use up; naming them is the leave to do so. */
export function windowsOf({ target }: Visit): Windows {
  const [minute, hour] = target.quota ?? []
  unless(minute !== undefined && hour !== undefined, 'the windows of the quota were not named')
  unless(
    hour.calls >= 4 * minute.calls + 8 && hour.seconds > 3 * minute.seconds,
    'the longer window is too small beside the shorter one to tell them apart',
  )
  return { minute, hour }
}

/** Seconds by which time may be off: what the service rounds up, and where time goes by itself, the calls. */
export const tolerance = ({ pace }: Visit): number => (pace.exact ? 1 : 2)

/** One counted call. */
export function counted({ probe }: Visit, note?: string): Promise<Answer> {
  return probe.get('/v1/users', { throttled: 'tell', note })
}

export interface Filled {
  accepted: number
  /** The 429, unless `most` calls were accepted. */
  refusal: Answer | undefined
}

/** Calls until one is refused, or `most` were accepted. */
export async function fill(visit: Visit, most: number): Promise<Filled> {
  for (let accepted = 0; accepted < most; accepted += 1) {
    const answer = await counted(visit)
    if (answer.status === 429) return { accepted, refusal: answer }
  }
  return { accepted: most, refusal: undefined }
}

/** Calls until one is refused; one more than two windows take is tried at most. */
export async function exceedQuota(visit: Visit, { minute }: Windows): Promise<Filled> {
  return fill(visit, 2 * minute.calls + 1)
}

/** Whole seconds of the Retry-After; NaN where there are none. */
export function retryAfter(answer: Answer | undefined): number {
  const text = answer?.header('retry-after') ?? ''
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** Lets every window run out; where that takes its time, only if a few minutes of calls would not fit any more. */
export async function clear(visit: Visit, { minute, hour }: Windows): Promise<void> {
  const { pace, probe } = visit
  const recent = probe.calledAt.filter((at) => pace.now() - at < hour.seconds * 1000).length
  if (!pace.exact && recent + 4 * minute.calls + 8 < hour.calls) return
  await visit.pace.pause((hour.seconds + 1) * 1000)
}

/** Comes to the very start of a window of the minute: fills one, and waits until it is over. */
export async function atStartOfWindow(visit: Visit, windows: Windows): Promise<void> {
  await clear(visit, windows)
  const { refusal } = await exceedQuota(visit, windows)
  const wait = retryAfter(refusal)
  unless(
    wait >= 1 && wait <= windows.minute.seconds,
    'a full minute was not answered with a 429 that says when it is over',
  )
  await visit.pace.pause(wait * 1000)
}
