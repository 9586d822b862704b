import type { Answer } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { foreignUser, packages, plainOrder, schemaOf, secondUser } from '../order.ts'
import { type Expectations, expectStatus, type Run, under, when } from '../table.ts'
import { completed } from '../journey.ts'
import type { Identity, QuotaWindow } from '../target.ts'
import type { Visit } from '../visit.ts'
import { everyEndpoint } from './access.ts'
import { reportUrls } from './reports.ts'

/** Both windows of the quota. */
interface Windows {
  minute: QuotaWindow
  hour: QuotaWindow
}

/** Makes a test that uses up the quota. It may do so only if the windows are given as an option. */
const metered =
  (run: (visit: Visit, windows: Windows) => Promise<Expectations>): Run =>
  (visit) => {
    const [minute, hour] = visit.target.quota ?? []
    unless(minute !== undefined && hour !== undefined, 'the quota may not be used up: add --use-up-quota')
    unless(
      hour.calls >= 4 * minute.calls + 8 && hour.seconds > 3 * minute.seconds,
      'the longer window is too small beside the shorter one to tell them apart',
    )
    return run(visit, { minute, hour })
  }

/** Returns the seconds by which times may differ: the service rounds up, and with the real clock calls take time. */
const tolerance = ({ pace }: Visit): number => (pace.exact ? 1 : 2)

const isAbout = (visit: Visit, seconds: number, wanted: number): boolean =>
  Math.abs(seconds - wanted) <= tolerance(visit)

/** Makes a call that counts against the quota. */
const counted = ({ probe }: Visit, note?: string): Promise<Answer> =>
  probe.get('/v1/users', { throttled: 'return', note })

interface Filled {
  accepted: number
  /** The response 429; undefined if `maxCalls` calls were accepted. */
  refusal: Answer | undefined
}

/** Calls until a call is refused or `maxCalls` were accepted. */
async function fill(visit: Visit, maxCalls: number): Promise<Filled> {
  for (let accepted = 0; accepted < maxCalls; accepted += 1) {
    const answer = await counted(visit)
    if (answer.status === 429) return { accepted, refusal: answer }
  }
  return { accepted: maxCalls, refusal: undefined }
}

/** Calls until a call is refused, at most one call more than two windows allow. */
const exceedQuota = (visit: Visit, { minute }: Windows): Promise<Filled> => fill(visit, 2 * minute.calls + 1)

/** Returns the seconds of Retry-After; NaN if the header is missing or not a whole number. */
function retryAfter(answer: Answer | undefined): number {
  const text = answer?.header('retry-after') ?? ''
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

const isWithin = (seconds: number, window: QuotaWindow): boolean => seconds >= 1 && seconds <= window.seconds

/**
 * Waits until both windows have ended. With the real clock, it waits only if the hour has too few calls left for a
 * test.
 */
async function clear({ pace, probe }: Visit, { minute, hour }: Windows): Promise<void> {
  const recent = probe.calledAt.filter((at) => pace.now() - at < hour.seconds * 1000).length
  if (!pace.exact && recent + 4 * minute.calls + 8 < hour.calls) return
  await pace.pause((hour.seconds + 1) * 1000)
}

/** Waits for the exact start of a minute's window: fills a window and waits until it has ended. */
async function atStartOfWindow(visit: Visit, windows: Windows): Promise<void> {
  await clear(visit, windows)
  const { refusal } = await exceedQuota(visit, windows)
  const wait = retryAfter(refusal)
  const reason = 'a full minute was not answered with a 429 that says when it is over'
  unless(isWithin(wait, windows.minute), reason)
  await visit.pace.pause(wait * 1000)
}

/** Uses up the window of the minute. */
async function usedUp(visit: Visit, windows: Windows): Promise<Filled> {
  await atStartOfWindow(visit, windows)
  return exceedQuota(visit, windows)
}

/** Expects that the wait is necessary and sufficient: a second less is not enough. */
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

function unusable(answer: Answer | undefined, seconds: number): string {
  const got = answer?.header('retry-after') ?? (answer === undefined ? 'no 429' : 'none')
  return `a full window: expected a 429 with a Retry-After of 1 to ${seconds}, got ${got}`
}

const notEnough = (seconds: number): string =>
  `${seconds} s, as told, were not enough: the next call was refused again`

async function minuteQuota(visit: Visit, windows: Windows): Promise<string[]> {
  const { minute } = windows
  await clear(visit, windows)
  const from = visit.pace.now()
  const first = await exceedQuota(visit, windows)
  if (first.refusal === undefined) {
    // Slow calls extend over several windows, each of which allows its own number.
    const touched = Math.floor((visit.pace.now() - from) / 1000 / minute.seconds) + 2
    unless(first.accepted > touched * minute.calls, 'calls take too long to use up the quota')
    return [`${first.accepted} calls were accepted within ${minute.seconds} s`]
  }
  await atStartOfWindow(visit, windows)
  const startedAt = visit.pace.now()
  const { accepted } = await exceedQuota(visit, windows)
  const took = (visit.pace.now() - startedAt) / 1000
  const isInTime = took < minute.seconds - tolerance(visit)
  unless(isInTime, 'calls take too long to count those of one window')
  const wrong = `expected ${minute.calls} calls in a window, ${accepted} were accepted`
  return when(accepted !== minute.calls, wrong)
}

async function minuteRetryAfter(visit: Visit, windows: Windows): Promise<string[]> {
  const { minute } = windows
  await clear(visit, windows)
  const before = await exceedQuota(visit, windows)
  const wait = retryAfter(before.refusal)
  if (!isWithin(wait, minute)) return [unusable(before.refusal, minute.seconds)]
  await visit.pace.pause(wait * 1000)
  const filled = await fill(visit, minute.calls - 1)
  if (filled.refusal !== undefined) return [notEnough(wait)]
  // Less than a second of the window's last second remains then; a service that rounds Retry-After down would omit
  // it.
  const passed = Math.floor(minute.seconds / 3)
  await visit.pace.pause(passed * 1000 - (visit.pace.exact ? 350 : 0))
  const { refusal } = await fill(visit, 2)
  unless(refusal !== undefined, 'the window is larger than stated')
  const seconds = retryAfter(refusal)
  const left = minute.seconds - passed
  if (isAbout(visit, seconds, left)) return waitsExactly(visit, seconds)
  const got = refusal.header('retry-after') ?? 'none'
  return [`${refusal.label}: expected a Retry-After of about ${left}, got ${got}`]
}

async function fixedWindow(visit: Visit, windows: Windows): Promise<string[]> {
  const { minute } = windows
  await atStartOfWindow(visit, windows)
  await fill(visit, 1)
  await visit.pace.pause(Math.floor((minute.seconds * 2) / 3) * 1000)
  const { refusal } = await fill(visit, minute.calls)
  unless(refusal !== undefined, 'the window is larger than stated')
  await visit.pace.pause(retryAfter(refusal) * 1000)
  const next = await fill(visit, minute.calls)
  const wrong = `a new window accepted only ${next.accepted} calls: the last calls of the previous one still count`
  return when(next.refusal !== undefined, wrong)
}

/**
 * Fills an hour's window from its start, a minute's calls at a time, so that no minute's window is exceeded. The
 * window before is filled first, since its end is that start.
 */
async function hourQuota(visit: Visit, windows: Windows): Promise<string[]> {
  const { hour } = windows
  await clear(visit, windows)
  const before = await fillHour(visit, windows, 2 * hour.calls)
  const wait = retryAfter(before.refusal)
  if (!isWithin(wait, hour)) return [unusable(before.refusal, hour.seconds)]
  await visit.pace.pause(wait * 1000)
  const startedAt = visit.pace.now()
  const { accepted, refusal } = await fillHour(visit, windows, hour.calls)
  const left = hour.seconds - Math.round((visit.pace.now() - startedAt) / 1000)
  const wrong = `expected ${hour.calls} calls in a window of ${hour.seconds} s, ${accepted} were accepted`
  const findings = when(accepted !== hour.calls, wrong)
  const seconds = retryAfter(refusal)
  if (isAbout(visit, seconds, left)) return [...findings, ...(await waitsExactly(visit, seconds))]
  const got = refusal?.header('retry-after') ?? 'none'
  return [...findings, `the hour is full: expected a Retry-After of about ${left}, got ${got}`]
}

async function fillHour(visit: Visit, { minute }: Windows, maxCalls: number): Promise<Filled> {
  let accepted = 0
  for (;;) {
    const batch = await fill(visit, Math.min(minute.calls, maxCalls + 1 - accepted))
    accepted += batch.accepted
    if (batch.refusal !== undefined || accepted > maxCalls) return { accepted, refusal: batch.refusal }
    await visit.pace.pause(minute.seconds * 1000)
  }
}

async function pingExempt(visit: Visit, windows: Windows): Promise<Expectations> {
  await atStartOfWindow(visit, windows)
  const { apiKey, userEmail } = visit.target
  for (let pings = 0; pings < 3; pings += 1) await visit.probe.get('/v1/ping', { as: { apiKey, userEmail } })
  const { accepted } = await exceedQuota(visit, windows)
  const wrong = `after 3 pings ${accepted} calls were accepted: pings count`
  return [
    ...when(accepted !== windows.minute.calls, wrong),
    { get: '/v1/ping', throttled: 'return', note: 'when the quota is used up', expect: 200 },
  ]
}

async function tokenExempt(visit: Visit, windows: Windows): Promise<Expectations> {
  const { ordered } = await completed(visit)
  await atStartOfWindow(visit, windows)
  const read = await visit.probe.get(`/v1/requests/${ordered.requestId}`, { throttled: 'return' })
  const get = visit.probe.path(reportUrls(read.data)[0]?.url ?? '')
  unless(get !== undefined, 'no report URL of this deployment was seen')
  const options = { as: {}, throttled: 'return' } as const
  for (let time = 0; time < 2; time += 1) await visit.probe.get(get, { ...options, note: 'by token' })
  const { accepted } = await fill(visit, windows.minute.calls)
  const isExempt = accepted === windows.minute.calls - 1
  return [
    ...when(!isExempt, 'downloads by token count against the quota of the key'),
    { get, ...options, note: 'by token, when the quota is used up', expect: 200 },
  ]
}

async function allEndpoints(visit: Visit, windows: Windows): Promise<string[]> {
  const { minute } = windows
  const paths = ['/v1/packages', ...(await readableSchema(visit))]
  if (visit.mayCreate) paths.push(`/v1/requests/${(await plainOrder(visit)).requestId}`)
  await atStartOfWindow(visit, windows)
  let taken = 0
  for (const path of paths.slice(0, minute.calls - 1)) {
    if ((await visit.probe.get(path, { throttled: 'return' })).status === 200) taken += 1
  }
  unless(taken > 0, 'no other endpoint answered')
  const { accepted } = await fill(visit, minute.calls)
  const left = minute.calls - taken
  const wrong = `after ${taken} calls of other endpoints ${accepted} were accepted, expected ${left}`
  return when(accepted > left, wrong)
}

/** Returns the path of the first readable schema. */
async function readableSchema(visit: Visit): Promise<string[]> {
  for (const { id } of await packages(visit)) {
    if ((await schemaOf(visit, id)).status === 200) return [`/v1/packages/${id}/schema`]
  }
  return []
}

/** Expects Retry-After to be sufficient at any fraction of a second. */
async function wholeSeconds(visit: Visit, windows: Windows): Promise<string[]> {
  const findings: string[] = []
  for (const part of [150, 550, 850]) {
    await atStartOfWindow(visit, windows)
    await visit.pace.pause(part)
    const { refusal } = await exceedQuota(visit, windows)
    const seconds = retryAfter(refusal)
    unless(seconds <= windows.minute.seconds, 'no 429 says when the window is over')
    await visit.pace.pause(seconds * 1000)
    const { accepted } = await fill(visit, 1)
    findings.push(...when(accepted === 0, notEnough(seconds)))
  }
  return findings
}

/** Makes a test that calls as another user when the minute is used up. */
const calledBy = (caller: (visit: Visit) => Identity, note: string, expect: number): Run =>
  metered(async (visit, windows) => {
    const as = caller(visit)
    await usedUp(visit, windows)
    return [{ get: '/v1/users', as, throttled: 'return', note, expect }]
  })

const perMinute =
  'Per-minute quota | 60 requests per 60-second fixed window, per API key | All authenticated endpoints'
const perHour =
  'Per-hour quota | 1000 requests per 1-hour fixed window, per API key | All authenticated endpoints'
const exemptions =
  'Exemptions | GET /v1/ping is exempt from throttling; report downloads using a valid `t` token are not subject to the key throttle |'
const retryAfterRule =
  'The 429 Retry-After value is the number of seconds left in the window that was breached (per-minute or per-hour, whichever was hit first).'

export const throttleCases: readonly Case[] = [
  ...under('Limits', 'slow', { 'throttle.minute': [perMinute, metered(minuteQuota)] }),
  ...under('Errors', 'slow', { 'throttle.minute-retry-after': [retryAfterRule, metered(minuteRetryAfter)] }),
  ...under('Limits', 'slow', {
    'throttle.fixed-window': [perMinute, metered(fixedWindow)],
    'throttle.hour': [perHour, metered(hourQuota)],
    'throttle.every-endpoint': [
      'Breach behaviour | 429 client_error with Retry-After (seconds) |',
      metered(async (visit, windows) => {
        await packages(visit)
        await usedUp(visit, windows)
        return everyEndpoint(visit, { throttled: 'return', note: 'when the quota is used up' }, 429)
      }),
    ],
    'throttle.ping-exempt': [exemptions, metered(pingExempt)],
    'throttle.token-exempt': [exemptions, metered(tokenExempt)],
    'throttle.per-key': [
      perMinute,
      calledBy(foreignUser, 'with another key, when the quota of the first is used up', 200),
    ],
  }),
]

/** Cases about which calls share a window. */
export const quotaScopeCases: readonly Case[] = [
  ...under('Limits', 'slow', {
    'throttle.all-endpoints-together': [perMinute, metered(allEndpoints)],
    'throttle.all-users-together': [
      perMinute,
      calledBy(secondUser, 'as the second user, when the quota of the key is used up', 429),
    ],
  }),
  ...under('Errors', 'slow', { 'throttle.whole-seconds': [retryAfterRule, metered(wholeSeconds)] }),
]
