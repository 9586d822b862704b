import type { Answer } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { packages } from '../discoveries.ts'
import { expectStatus } from '../expect.ts'
import { completed } from '../journey.ts'
import type { Visit } from '../visit.ts'
import { everyEndpoint } from './endpoints.ts'
import {
  atStartOfWindow,
  exceedQuota,
  clear,
  counted,
  fill,
  retryAfter,
  tolerance,
  type Windows,
  windowsOf,
} from './meter.ts'
import { reportUrls } from './report-urls.ts'

const section = 'Limits'
const minuteRule =
  'Per-minute quota | 60 requests per 60-second fixed window, per API key | All authenticated endpoints'
const hourRule =
  'Per-hour quota | 1000 requests per 1-hour fixed window, per API key | All authenticated endpoints'
const exemptions =
  'Exemptions | GET /v1/ping is exempt from throttling; report downloads using a valid `t` token are not subject to the key throttle |'

const kind = 'slow'

/** That a wait of one second less is not enough, and the whole wait is. */
async function waitsExactly(visit: Visit, seconds: number): Promise<string[]> {
  const { pace } = visit
  const findings: string[] = []
  const early = seconds - tolerance(visit)
  if (early > 0) {
    await pace.pause(early * 1000)
    findings.push(...expectStatus(await counted(visit, `${early} s into a Retry-After of ${seconds}`), 429))
  }
  await pace.pause(Math.min(seconds, tolerance(visit)) * 1000)
  return [...findings, ...expectStatus(await counted(visit, `after the Retry-After of ${seconds} s`), 200)]
}

export const throttleCases: readonly Case[] = [
  {
    id: 'throttle.minute',
    section,
    rule: minuteRule,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      await clear(visit, windows)
      const from = visit.pace.now()
      const first = await exceedQuota(visit, windows)
      if (first.refusal === undefined) {
        // Calls that take long spread over several windows, each of which takes its own.
        const touched = Math.floor((visit.pace.now() - from) / 1000 / windows.minute.seconds) + 2
        unless(first.accepted > touched * windows.minute.calls, 'calls take too long to use up the quota')
        return [`${first.accepted} calls were accepted within ${windows.minute.seconds} s`]
      }
      await atStartOfWindow(visit, windows)
      const begun = visit.pace.now()
      const { accepted } = await exceedQuota(visit, windows)
      const took = (visit.pace.now() - begun) / 1000
      unless(
        took < windows.minute.seconds - tolerance(visit),
        'calls take too long to count those of one window',
      )
      return accepted === windows.minute.calls
        ? []
        : [`expected ${windows.minute.calls} calls in a window, ${accepted} were accepted`]
    },
  },
  {
    id: 'throttle.minute-retry-after',
    section: 'Errors',
    rule: 'The 429 Retry-After value is the number of seconds left in the window that was breached (per-minute or per-hour, whichever was hit first).',
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const { minute } = windows
      await clear(visit, windows)
      const before = await exceedQuota(visit, windows)
      const wait = retryAfter(before.refusal)
      if (!(wait >= 1 && wait <= minute.seconds)) return [unusable(before.refusal, minute.seconds)]
      await visit.pace.pause(wait * 1000)
      const begun = await fill(visit, minute.calls - 1)
      if (begun.refusal !== undefined)
        return [`${wait} s, as told, were not enough: the next call was refused again`]
      // A part of a second is left in the window then, which a value that is rounded down leaves out.
      const passed = Math.floor(minute.seconds / 3)
      await visit.pace.pause(passed * 1000 - (visit.pace.exact ? 350 : 0))
      const { refusal } = await fill(visit, 2)
      unless(refusal !== undefined, 'the window is larger than stated')
      const told = retryAfter(refusal)
      const left = minute.seconds - passed
      if (!(Math.abs(told - left) <= tolerance(visit))) {
        const got = refusal.header('retry-after') ?? 'none'
        return [`${refusal.label}: expected a Retry-After of about ${left}, got ${got}`]
      }
      return waitsExactly(visit, told)
    },
  },
  {
    id: 'throttle.fixed-window',
    section,
    rule: minuteRule,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const { minute } = windows
      await atStartOfWindow(visit, windows)
      await fill(visit, 1)
      await visit.pace.pause(Math.floor((minute.seconds * 2) / 3) * 1000)
      const { refusal } = await fill(visit, minute.calls)
      unless(refusal !== undefined, 'the window is larger than stated')
      await visit.pace.pause(retryAfter(refusal) * 1000)
      const next = await fill(visit, minute.calls)
      return next.refusal === undefined
        ? []
        : [
            `a new window accepted only ${next.accepted} calls: the last calls of the previous one still count`,
          ]
    },
  },
  {
    id: 'throttle.hour',
    section,
    rule: hourRule,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const { first, accepted, passed, refusal } = await hourOf(visit, windows)
      if (first !== undefined) return [first]
      const { hour } = windows
      const findings =
        accepted === hour.calls
          ? []
          : [`expected ${hour.calls} calls in a window of ${hour.seconds} s, ${accepted} were accepted`]
      const told = retryAfter(refusal)
      const left = hour.seconds - passed
      if (!(Math.abs(told - left) <= tolerance(visit))) {
        const got = refusal?.header('retry-after') ?? 'none'
        return [...findings, `the hour is full: expected a Retry-After of about ${left}, got ${got}`]
      }
      return [...findings, ...(await waitsExactly(visit, told))]
    },
  },
  {
    id: 'throttle.every-endpoint',
    section,
    rule: 'Breach behaviour | 429 client_error with Retry-After (seconds) |',
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      await packages(visit)
      await atStartOfWindow(visit, windows)
      await exceedQuota(visit, windows)
      const answers = await everyEndpoint(visit, { throttled: 'tell', note: 'when the quota is used up' })
      return answers.flatMap((answer) => expectStatus(answer, 429))
    },
  },
  {
    id: 'throttle.ping-exempt',
    section,
    rule: exemptions,
    kind,
    async run(visit) {
      const { probe } = visit
      const windows = windowsOf(visit)
      await atStartOfWindow(visit, windows)
      const { apiKey, userEmail } = visit.target
      for (let pings = 0; pings < 3; pings += 1) await probe.get('/v1/ping', { as: { apiKey, userEmail } })
      const { accepted } = await exceedQuota(visit, windows)
      const findings =
        accepted === windows.minute.calls
          ? []
          : [`after 3 pings ${accepted} calls were accepted: pings count`]
      const note = 'when the quota is used up'
      const ping = await probe.get('/v1/ping', { throttled: 'tell', note })
      return [...findings, ...expectStatus(ping, 200)]
    },
  },
  {
    id: 'throttle.token-exempt',
    section,
    rule: exemptions,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const { ordered } = await completed(visit)
      await atStartOfWindow(visit, windows)
      const read = await visit.probe.get(`/v1/requests/${ordered.requestId}`, { throttled: 'tell' })
      const path = visit.probe.path(reportUrls(read.data)[0]?.url ?? '')
      unless(path !== undefined, 'no report URL of this deployment was seen')
      const download = (note: string) => visit.probe.get(path, { as: {}, throttled: 'tell', note })
      for (let downloads = 0; downloads < 2; downloads += 1) await download('by token')
      const { accepted } = await fill(visit, windows.minute.calls)
      const findings =
        accepted === windows.minute.calls - 1 ? [] : ['downloads by token count against the quota of the key']
      return [...findings, ...expectStatus(await download('by token, when the quota is used up'), 200)]
    },
  },
  {
    id: 'throttle.per-key',
    section,
    rule: minuteRule,
    kind,
    async run(visit) {
      const windows = windowsOf(visit)
      const { stranger } = visit.target
      unless(stranger !== undefined, 'a key of another organisation is needed')
      await atStartOfWindow(visit, windows)
      await exceedQuota(visit, windows)
      const note = 'with another key, when the quota of the first is used up'
      const answer = await visit.probe.get('/v1/users', { as: stranger, throttled: 'tell', note })
      return expectStatus(answer, 200)
    },
  },
]

function unusable(answer: Answer | undefined, seconds: number): string {
  const got = answer?.header('retry-after') ?? (answer === undefined ? 'no 429' : 'none')
  return `a full window: expected a 429 with a Retry-After of 1 to ${seconds}, got ${got}`
}

/**
 * Fills an hour from its very start, a minute's worth at a time, so that the minute is never
 * breached. The hour before it is filled first, for its end is the start.
 */
async function hourOf(visit: Visit, windows: Windows) {
  const { hour } = windows
  await clear(visit, windows)
  const before = await fillHour(visit, windows, 2 * hour.calls)
  const wait = retryAfter(before.refusal)
  if (!(wait >= 1 && wait <= hour.seconds)) {
    return { ...before, first: unusable(before.refusal, hour.seconds), passed: 0 }
  }
  await visit.pace.pause(wait * 1000)
  const startedAt = visit.pace.now()
  const filled = await fillHour(visit, windows, hour.calls)
  const passed = Math.round((visit.pace.now() - startedAt) / 1000)
  return { ...filled, first: undefined, passed }
}

async function fillHour(visit: Visit, { minute }: Windows, most: number) {
  let accepted = 0
  for (;;) {
    const batch = await fill(visit, Math.min(minute.calls, most + 1 - accepted))
    accepted += batch.accepted
    if (batch.refusal !== undefined || accepted > most) return { accepted, refusal: batch.refusal }
    await visit.pace.pause(minute.seconds * 1000)
  }
}
