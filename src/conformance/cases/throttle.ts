import type { Answer } from '../answer.ts'
import { type Case, requireTestable } from '../case.ts'
import {
  requireForeignUser,
  readPackages,
  orderSimplestPackage,
  readSchema,
  requireSecondUser,
} from '../order.ts'
import { type Expectations, expectStatus, type Run, casesThatUseUpQuota, itemsIf } from '../table.ts'
import { requireCompletedRequest } from '../journey.ts'
import type { Identity, QuotaWindow } from '../target.ts'
import type { CaseContext } from '../case-context.ts'
import { callEveryEndpoint } from './access.ts'
import { findReportUrls } from './reports.ts'

/** The shorter and the longer window of the quota, named after those of the document; a deployment may have others. */
interface QuotaWindows {
  minute: QuotaWindow
  hour: QuotaWindow
}

/** The number of calls that have to be left in the hour's window for a test of the minute's window. */
const maxCallsOfTest = (minute: QuotaWindow): number => 4 * minute.calls + 8

/** Returns a test that uses up the quota. It may do so only if the windows are given as an option. */
const testWithQuota =
  (run: (context: CaseContext, windows: QuotaWindows) => Promise<Expectations>): Run =>
  (context) => {
    const [minute, hour] = context.target.quota ?? []
    requireTestable(
      minute !== undefined && hour !== undefined,
      'the quota may not be used up: add --use-up-quota',
    )
    requireTestable(
      hour.calls >= maxCallsOfTest(minute) && hour.seconds > 3 * minute.seconds,
      'the longer window is too small beside the shorter one to tell them apart',
    )
    return run(context, { minute, hour })
  }

/** Returns the seconds by which times may differ. The service rounds up, and calls take time with the real clock. */
const findToleranceSeconds = ({ deploymentClock }: CaseContext): number => (deploymentClock.isManual ? 1 : 2)

const isNearly = (context: CaseContext, seconds: number, expectedSeconds: number): boolean =>
  Math.abs(seconds - expectedSeconds) <= findToleranceSeconds(context)

/** Makes a call that counts against the quota. */
const makeCountedCall = ({ probe }: CaseContext, note?: string): Promise<Answer> =>
  probe.get('/v1/users', { throttled: 'return', note })

interface FillResult {
  accepted: number
  /** The 429 response; undefined if `maxCalls` calls were accepted. */
  refusal: Answer | undefined
}

/** Makes calls until one is refused or `maxCalls` calls were accepted. */
async function fillQuota(context: CaseContext, maxCalls: number): Promise<FillResult> {
  for (let accepted = 0; accepted < maxCalls; accepted += 1) {
    const answer = await makeCountedCall(context)
    if (answer.status === 429) return { accepted, refusal: answer }
  }
  return { accepted: maxCalls, refusal: undefined }
}

/** Makes calls until one is refused, but at most one call more than two windows allow. */
const exceedQuota = (context: CaseContext, { minute }: QuotaWindows): Promise<FillResult> =>
  fillQuota(context, 2 * minute.calls + 1)

/** Returns the seconds of Retry-After; NaN if the header is missing or not a whole number. */
function readRetryAfter(answer: Answer | undefined): number {
  const text = answer?.header('retry-after') ?? ''
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

const isWithin = (seconds: number, window: QuotaWindow): boolean => seconds >= 1 && seconds <= window.seconds

/**
 * Waits until both windows have ended. With the real clock, it waits only if too few calls of the hour are
 * left for a test.
 */
async function clearWindows(
  { deploymentClock, probe }: CaseContext,
  { minute, hour }: QuotaWindows,
): Promise<void> {
  const recentCalls = probe.callTimes.filter((at) => deploymentClock.now() - at < hour.seconds * 1000).length
  if (!deploymentClock.isManual && recentCalls + maxCallsOfTest(minute) < hour.calls) return
  await deploymentClock.pause((hour.seconds + 1) * 1000)
}

/** Waits for the exact start of a minute's window. To find it, a window is filled and its end is awaited. */
async function waitForWindowStart(context: CaseContext, windows: QuotaWindows): Promise<void> {
  await clearWindows(context, windows)
  const { refusal } = await exceedQuota(context, windows)
  const waitSeconds = readRetryAfter(refusal)
  const reason = 'a full minute was not answered with a 429 that says when it is over'
  requireTestable(isWithin(waitSeconds, windows.minute), reason)
  await context.deploymentClock.pause(waitSeconds * 1000)
}

/** Uses up the window of the minute. */
async function useUpMinute(context: CaseContext, windows: QuotaWindows): Promise<FillResult> {
  await waitForWindowStart(context, windows)
  return exceedQuota(context, windows)
}

/** Returns findings unless the wait is necessary and sufficient. A second less must not be enough. */
async function expectExactWait(context: CaseContext, seconds: number): Promise<string[]> {
  const { deploymentClock } = context
  const findings: string[] = []
  const earlySeconds = seconds - findToleranceSeconds(context)
  if (earlySeconds > 0) {
    await deploymentClock.pause(earlySeconds * 1000)
    findings.push(
      ...expectStatus(
        await makeCountedCall(context, `${earlySeconds} s into a Retry-After of ${seconds}`),
        429,
      ),
    )
  }
  await deploymentClock.pause(Math.min(seconds, findToleranceSeconds(context)) * 1000)
  return [
    ...findings,
    ...expectStatus(await makeCountedCall(context, `after the Retry-After of ${seconds} s`), 200),
  ]
}

function describeUnusable(answer: Answer | undefined, seconds: number): string {
  const retryAfter = answer?.header('retry-after') ?? (answer === undefined ? 'no 429' : 'none')
  return `a full window: expected a 429 with a Retry-After of 1 to ${seconds}, got ${retryAfter}`
}

const describeTooShort = (seconds: number): string =>
  `${seconds} s, as told, were not enough: the next call was refused again`

async function testMinuteQuota(context: CaseContext, windows: QuotaWindows): Promise<string[]> {
  const { minute } = windows
  await clearWindows(context, windows)
  const callsStartedAt = context.deploymentClock.now()
  const firstFill = await exceedQuota(context, windows)
  if (firstFill.refusal === undefined) {
    // Slow calls extend over several windows, each of which allows its own number.
    const windowCount =
      Math.floor((context.deploymentClock.now() - callsStartedAt) / 1000 / minute.seconds) + 2
    requireTestable(
      firstFill.accepted > windowCount * minute.calls,
      'calls take too long to use up the quota',
    )
    return [`${firstFill.accepted} calls were accepted within ${minute.seconds} s`]
  }
  await waitForWindowStart(context, windows)
  const startedAt = context.deploymentClock.now()
  const { accepted } = await exceedQuota(context, windows)
  const durationSeconds = (context.deploymentClock.now() - startedAt) / 1000
  const isInTime = durationSeconds < minute.seconds - findToleranceSeconds(context)
  requireTestable(isInTime, 'calls take too long to count those of one window')
  const finding = `expected ${minute.calls} calls in a window, ${accepted} were accepted`
  return itemsIf(accepted !== minute.calls, finding)
}

async function testMinuteRetryAfter(context: CaseContext, windows: QuotaWindows): Promise<string[]> {
  const { minute } = windows
  await clearWindows(context, windows)
  const filledBefore = await exceedQuota(context, windows)
  const waitSeconds = readRetryAfter(filledBefore.refusal)
  if (!isWithin(waitSeconds, minute)) return [describeUnusable(filledBefore.refusal, minute.seconds)]
  await context.deploymentClock.pause(waitSeconds * 1000)
  const fill = await fillQuota(context, minute.calls - 1)
  if (fill.refusal !== undefined) return [describeTooShort(waitSeconds)]
  // With a manual clock, 0.35 s more than a whole number of seconds are then left in the window. A service
  // that rounds Retry-After down would state too short a wait.
  const passedSeconds = Math.floor(minute.seconds / 3)
  await context.deploymentClock.pause(passedSeconds * 1000 - (context.deploymentClock.isManual ? 350 : 0))
  const { refusal } = await fillQuota(context, 2)
  requireTestable(refusal !== undefined, 'the window is larger than stated')
  const seconds = readRetryAfter(refusal)
  const remainingSeconds = minute.seconds - passedSeconds
  if (isNearly(context, seconds, remainingSeconds)) return expectExactWait(context, seconds)
  const retryAfter = refusal.header('retry-after') ?? 'none'
  return [`${refusal.label}: expected a Retry-After of about ${remainingSeconds}, got ${retryAfter}`]
}

/**
 * Makes the calls of a window in its last third, and expects the next window to allow all its calls: in a sliding
 * window the earlier calls would still count.
 */
async function testFixedWindow(context: CaseContext, windows: QuotaWindows): Promise<string[]> {
  const { minute } = windows
  await waitForWindowStart(context, windows)
  await fillQuota(context, 1)
  await context.deploymentClock.pause(Math.floor((minute.seconds * 2) / 3) * 1000)
  const { refusal } = await fillQuota(context, minute.calls)
  requireTestable(refusal !== undefined, 'the window is larger than stated')
  await context.deploymentClock.pause(readRetryAfter(refusal) * 1000)
  const nextFill = await fillQuota(context, minute.calls)
  const finding = `a new window accepted only ${nextFill.accepted} calls: the last calls of the previous one still count`
  return itemsIf(nextFill.refusal !== undefined, finding)
}

/**
 * Fills an hour's window from its start, with the calls of one minute's window at a time. The previous hour's
 * window is filled first, because its Retry-After states when the next window starts.
 */
async function testHourQuota(context: CaseContext, windows: QuotaWindows): Promise<string[]> {
  const { hour } = windows
  await clearWindows(context, windows)
  const filledBefore = await fillHour(context, windows, 2 * hour.calls)
  const waitSeconds = readRetryAfter(filledBefore.refusal)
  if (!isWithin(waitSeconds, hour)) return [describeUnusable(filledBefore.refusal, hour.seconds)]
  await context.deploymentClock.pause(waitSeconds * 1000)
  const startedAt = context.deploymentClock.now()
  const { accepted, refusal } = await fillHour(context, windows, hour.calls)
  const remainingSeconds = hour.seconds - Math.round((context.deploymentClock.now() - startedAt) / 1000)
  const finding = `expected ${hour.calls} calls in a window of ${hour.seconds} s, ${accepted} were accepted`
  const findings = itemsIf(accepted !== hour.calls, finding)
  const seconds = readRetryAfter(refusal)
  if (isNearly(context, seconds, remainingSeconds))
    return [...findings, ...(await expectExactWait(context, seconds))]
  const retryAfter = refusal?.header('retry-after') ?? 'none'
  return [
    ...findings,
    `the hour is full: expected a Retry-After of about ${remainingSeconds}, got ${retryAfter}`,
  ]
}

/** Makes calls until one is refused or `maxCalls` were exceeded, with the calls of one minute's window at a time. */
async function fillHour(
  context: CaseContext,
  { minute }: QuotaWindows,
  maxCalls: number,
): Promise<FillResult> {
  let accepted = 0
  for (;;) {
    const minuteFill = await fillQuota(context, Math.min(minute.calls, maxCalls + 1 - accepted))
    accepted += minuteFill.accepted
    if (minuteFill.refusal !== undefined || accepted > maxCalls)
      return { accepted, refusal: minuteFill.refusal }
    await context.deploymentClock.pause(minute.seconds * 1000)
  }
}

async function testPingExempt(context: CaseContext, windows: QuotaWindows): Promise<Expectations> {
  await waitForWindowStart(context, windows)
  const { apiKey, userEmail } = context.target
  for (let pings = 0; pings < 3; pings += 1)
    await context.probe.get('/v1/ping', { identity: { apiKey, userEmail } })
  const { accepted } = await exceedQuota(context, windows)
  const finding = `after 3 pings ${accepted} calls were accepted: pings count`
  return [
    ...itemsIf(accepted !== windows.minute.calls, finding),
    { get: '/v1/ping', throttled: 'return', note: 'when the quota is used up', expect: 200 },
  ]
}

async function testTokenExempt(context: CaseContext, windows: QuotaWindows): Promise<Expectations> {
  const { order } = await requireCompletedRequest(context)
  await waitForWindowStart(context, windows)
  const answer = await context.probe.get(`/v1/requests/${order.requestId}`, { throttled: 'return' })
  const get = context.probe.relativePath(findReportUrls(answer.data)[0]?.url ?? '')
  requireTestable(get !== undefined, 'no report URL of this deployment was seen')
  const options = { identity: {}, throttled: 'return' } as const
  for (let round = 0; round < 2; round += 1) await context.probe.get(get, { ...options, note: 'by token' })
  const { accepted } = await fillQuota(context, windows.minute.calls)
  const isExempt = accepted === windows.minute.calls - 1
  return [
    ...itemsIf(!isExempt, 'downloads by token count against the quota of the key'),
    { get, ...options, note: 'by token, when the quota is used up', expect: 200 },
  ]
}

async function testAllEndpoints(context: CaseContext, windows: QuotaWindows): Promise<string[]> {
  const { minute } = windows
  const paths = ['/v1/packages', ...(await findReadableSchema(context))]
  if (context.canCreate) paths.push(`/v1/requests/${(await orderSimplestPackage(context)).requestId}`)
  await waitForWindowStart(context, windows)
  let acceptedOtherCalls = 0
  for (const path of paths.slice(0, minute.calls - 1)) {
    if ((await context.probe.get(path, { throttled: 'return' })).status === 200) acceptedOtherCalls += 1
  }
  requireTestable(acceptedOtherCalls > 0, 'no other endpoint answered')
  const { accepted } = await fillQuota(context, minute.calls)
  const remainingCalls = minute.calls - acceptedOtherCalls
  const finding = `after ${acceptedOtherCalls} calls of other endpoints ${accepted} were accepted, expected ${remainingCalls}`
  return itemsIf(accepted > remainingCalls, finding)
}

/** Returns the path of the first readable schema in an array; an empty array if no schema can be read. */
async function findReadableSchema(context: CaseContext): Promise<string[]> {
  for (const { id } of await readPackages(context)) {
    if ((await readSchema(context, id)).status === 200) return [`/v1/packages/${id}/schema`]
  }
  return []
}

/** Returns findings unless Retry-After is sufficient at any fraction of a second. */
async function testWholeSeconds(context: CaseContext, windows: QuotaWindows): Promise<string[]> {
  const findings: string[] = []
  for (const offsetMs of [150, 550, 850]) {
    await waitForWindowStart(context, windows)
    await context.deploymentClock.pause(offsetMs)
    const { refusal } = await exceedQuota(context, windows)
    const seconds = readRetryAfter(refusal)
    requireTestable(seconds <= windows.minute.seconds, 'no 429 says when the window is over')
    await context.deploymentClock.pause(seconds * 1000)
    const { accepted } = await fillQuota(context, 1)
    findings.push(...itemsIf(accepted === 0, describeTooShort(seconds)))
  }
  return findings
}

/** Returns a test that calls as another user when the calls of the minute are used up. */
const testOtherCaller = (findCaller: (context: CaseContext) => Identity, note: string, expect: number): Run =>
  testWithQuota(async (context, windows) => {
    const identity = findCaller(context)
    await useUpMinute(context, windows)
    return [{ get: '/v1/users', identity, throttled: 'return', note, expect }]
  })

const minuteRule =
  'Per-minute quota | 60 requests per 60-second fixed window, per API key | All authenticated endpoints'
const hourRule =
  'Per-hour quota | 1000 requests per 1-hour fixed window, per API key | All authenticated endpoints'
const exemptionsRule =
  'Exemptions | GET /v1/ping is exempt from throttling; report downloads using a valid `t` token are not subject to the key throttle |'
const retryAfterRule =
  'The 429 Retry-After value is the number of seconds left in the window that was breached (per-minute or per-hour, whichever was hit first).'

export const throttleCases: readonly Case[] = [
  ...casesThatUseUpQuota('Limits', { 'throttle.minute': [minuteRule, testWithQuota(testMinuteQuota)] }),
  ...casesThatUseUpQuota('Errors', {
    'throttle.minute-retry-after': [retryAfterRule, testWithQuota(testMinuteRetryAfter)],
  }),
  ...casesThatUseUpQuota('Limits', {
    'throttle.fixed-window': [minuteRule, testWithQuota(testFixedWindow)],
    'throttle.hour': [hourRule, testWithQuota(testHourQuota)],
    'throttle.every-endpoint': [
      'Breach behaviour | 429 client_error with Retry-After (seconds) |',
      testWithQuota(async (context, windows) => {
        await readPackages(context)
        await useUpMinute(context, windows)
        return callEveryEndpoint(context, { throttled: 'return', note: 'when the quota is used up' }, 429)
      }),
    ],
    'throttle.ping-exempt': [exemptionsRule, testWithQuota(testPingExempt)],
    'throttle.token-exempt': [exemptionsRule, testWithQuota(testTokenExempt)],
    'throttle.per-key': [
      minuteRule,
      testOtherCaller(requireForeignUser, 'with another key, when the quota of the first is used up', 200),
    ],
  }),
]

/** Cases about the calls that share a window. */
export const quotaScopeCases: readonly Case[] = [
  ...casesThatUseUpQuota('Limits', {
    'throttle.all-endpoints-together': [minuteRule, testWithQuota(testAllEndpoints)],
    'throttle.all-users-together': [
      minuteRule,
      testOtherCaller(requireSecondUser, 'as the second user, when the quota of the key is used up', 429),
    ],
  }),
  ...casesThatUseUpQuota('Errors', {
    'throttle.whole-seconds': [retryAfterRule, testWithQuota(testWholeSeconds)],
  }),
]
