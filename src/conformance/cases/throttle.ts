import type { Answer } from '../answer.ts'
import { type Case, requireTestable, requireValue } from '../case.ts'
import {
  requireForeignUser,
  readPackages,
  orderSimplestPackage,
  readSchema,
  requireSecondUser,
} from '../order.ts'
import {
  type Expectations,
  expectStatus,
  type Findings,
  type Run,
  createQuotaCases,
  testWith,
} from '../table.ts'
import { requireCompletedRequest } from '../journey.ts'
import type { Identity, QuotaWindow } from '../target.ts'
import type { CaseContext } from '../case-context.ts'
import { createEndpointCalls } from './access.ts'
import { findReportUrls } from './reports.ts'

/** The number of calls that have to be left in the hour's window for a test of the minute's window. */
const maxCallsOfTest = (minute: QuotaWindow): number => 4 * minute.calls + 8

/** The result of calls that were made to use up the quota. */
interface FillResult {
  accepted: number
  /** The 429 response; undefined if the maximum number of calls was accepted. */
  refusal: Answer | undefined
  /** Seconds of the refusal's Retry-After; NaN if the header is missing or not a whole number. */
  waitSeconds: number
}

const createFillResult = (accepted: number, refusal?: Answer): FillResult => {
  const text = refusal?.header('retry-after') ?? ''
  return { accepted, refusal, waitSeconds: /^\d+$/.test(text) ? Number(text) : Number.NaN }
}

const isWithin = (seconds: number, window: QuotaWindow): boolean => seconds >= 1 && seconds <= window.seconds

/** Both windows of the quota, and the calls and waits of a test that uses it up. */
class Quota {
  /** The shorter window, named after that of the document; a deployment may have another. */
  readonly minute: QuotaWindow
  /** The longer window, likewise. */
  readonly hour: QuotaWindow
  /** Whether time passes on the deployment only by `pause`. */
  readonly isManual: boolean
  /** Seconds by which times may differ. The service rounds up, and calls take time with the real clock. */
  readonly toleranceSeconds: number
  readonly #context: CaseContext

  /** Throws a NotTestableError unless the windows are given as an option and can be distinguished. */
  constructor(context: CaseContext) {
    const [minute, hour] = context.target.quota ?? []
    requireTestable(
      minute !== undefined && hour !== undefined,
      'the quota may not be used up: add --use-up-quota',
    )
    requireTestable(
      hour.calls >= maxCallsOfTest(minute) && hour.seconds > 3 * minute.seconds,
      'the longer window is too small beside the shorter one to tell them apart',
    )
    this.minute = minute
    this.hour = hour
    this.isManual = context.deploymentClock.isManual
    this.toleranceSeconds = this.isManual ? 1 : 2
    this.#context = context
  }

  /** Returns milliseconds since a fixed time. */
  now(): number {
    return this.#context.deploymentClock.now()
  }

  secondsSince(startedAt: number): number {
    return (this.now() - startedAt) / 1000
  }

  pause(seconds: number): Promise<void> {
    return this.#context.deploymentClock.pause(seconds * 1000)
  }

  /** Makes a call that counts against the quota. */
  call(note?: string): Promise<Answer> {
    return this.#context.probe.get('/v1/users', { on429: 'return', note })
  }

  /** Makes calls until one is refused or `maxCalls` calls were accepted. */
  async fill(maxCalls: number): Promise<FillResult> {
    for (let accepted = 0; accepted < maxCalls; accepted += 1) {
      const answer = await this.call()
      if (answer.status === 429) return createFillResult(accepted, answer)
    }
    return createFillResult(maxCalls)
  }

  /** Makes calls until one is refused, but at most one call more than two windows allow. */
  exceed(): Promise<FillResult> {
    return this.fill(2 * this.minute.calls + 1)
  }

  /**
   * Makes calls until one is refused or `maxCalls` were exceeded, with the calls of one minute's window at a time.
   */
  async fillHour(maxCalls: number): Promise<FillResult> {
    let accepted = 0
    for (;;) {
      const { refusal, ...fill } = await this.fill(Math.min(this.minute.calls, maxCalls + 1 - accepted))
      accepted += fill.accepted
      if (refusal !== undefined || accepted > maxCalls) return createFillResult(accepted, refusal)
      await this.pause(this.minute.seconds)
    }
  }

  /**
   * Waits until both windows have ended. With the real clock, it waits only if too few calls of the hour are
   * left for a test.
   */
  async clearWindows(): Promise<void> {
    const { callTimes } = this.#context.probe
    const recentCalls = callTimes.filter((at) => this.secondsSince(at) < this.hour.seconds).length
    if (!this.isManual && recentCalls + maxCallsOfTest(this.minute) < this.hour.calls) return
    await this.pause(this.hour.seconds + 1)
  }

  /** Waits for the exact start of a minute's window. To find it, a window is filled and its end is awaited. */
  async waitForWindowStart(): Promise<void> {
    await this.clearWindows()
    const { waitSeconds } = await this.exceed()
    const reason = 'a full minute was not answered with a 429 that says when it is over'
    requireTestable(isWithin(waitSeconds, this.minute), reason)
    await this.pause(waitSeconds)
  }

  /** Uses up the window of the minute. */
  async useUpMinute(): Promise<void> {
    await this.waitForWindowStart()
    await this.exceed()
  }

  /**
   * Returns findings unless the Retry-After is about the rest of the window, and the wait is necessary and
   * sufficient. A second less must not be enough. `label` names the refusal in findings.
   */
  async expectExactWait(
    { refusal, waitSeconds }: FillResult,
    remainingSeconds: number,
    label: string,
  ): Promise<Findings> {
    const tolerance = this.toleranceSeconds
    if (!(Math.abs(waitSeconds - remainingSeconds) <= tolerance)) {
      const retryAfter = refusal?.header('retry-after') ?? 'none'
      return [`${label}: expected a Retry-After of about ${remainingSeconds}, got ${retryAfter}`]
    }
    const earlySeconds = waitSeconds - tolerance
    const findings: string[] = []
    if (earlySeconds > 0) {
      await this.pause(earlySeconds)
      const early = await this.call(`${earlySeconds} s into a Retry-After of ${waitSeconds}`)
      findings.push(...expectStatus(early, 429))
    }
    await this.pause(Math.min(waitSeconds, tolerance))
    const later = await this.call(`after the Retry-After of ${waitSeconds} s`)
    return [...findings, ...expectStatus(later, 200)]
  }
}

/** Returns a test that uses up the quota. It may do so only if the windows are given as an option. */
const testWithQuota = testWith((context) => new Quota(context))

function describeUnusable({ refusal }: FillResult, { seconds }: QuotaWindow): string {
  const retryAfter = refusal === undefined ? 'no 429' : (refusal.header('retry-after') ?? 'none')
  return `a full window: expected a 429 with a Retry-After of 1 to ${seconds}, got ${retryAfter}`
}

const describeTooShort = (seconds: number): string =>
  `the stated ${seconds} s were not enough: the next call was refused again`

async function testMinuteQuota(quota: Quota): Promise<Findings> {
  const { minute } = quota
  await quota.clearWindows()
  const callsStartedAt = quota.now()
  const firstFill = await quota.exceed()
  if (firstFill.refusal === undefined) {
    // Slow calls extend over several windows, each of which allows its own number.
    const windowCount = Math.floor(quota.secondsSince(callsStartedAt) / minute.seconds) + 2
    const isExceeded = firstFill.accepted > windowCount * minute.calls
    requireTestable(isExceeded, 'calls take too long to use up the quota')
    return [`${firstFill.accepted} calls were accepted within ${minute.seconds} s`]
  }
  await quota.waitForWindowStart()
  const startedAt = quota.now()
  const { accepted } = await quota.exceed()
  const isInTime = quota.secondsSince(startedAt) < minute.seconds - quota.toleranceSeconds
  requireTestable(isInTime, 'calls take too long to count those of one window')
  return [
    accepted !== minute.calls && `expected ${minute.calls} calls in a window, ${accepted} were accepted`,
  ]
}

async function testMinuteRetryAfter(quota: Quota): Promise<Findings> {
  const { minute } = quota
  await quota.clearWindows()
  const filledBefore = await quota.exceed()
  const { waitSeconds } = filledBefore
  if (!isWithin(waitSeconds, minute)) return [describeUnusable(filledBefore, minute)]
  await quota.pause(waitSeconds)
  if ((await quota.fill(minute.calls - 1)).refusal !== undefined) return [describeTooShort(waitSeconds)]
  // With a manual clock, 0.35 s more than a whole number of seconds are then left in the window. A service
  // that rounds Retry-After down would state too short a wait.
  const passedSeconds = Math.floor(minute.seconds / 3)
  await quota.pause(passedSeconds - (quota.isManual ? 0.35 : 0))
  const fill = await quota.fill(2)
  const { label } = requireValue(fill.refusal, 'the window is larger than stated')
  return quota.expectExactWait(fill, minute.seconds - passedSeconds, label)
}

/**
 * Makes the calls of a window in its last third, and expects the next window to allow all its calls: in a sliding
 * window the earlier calls would still count.
 */
async function testFixedWindow(quota: Quota): Promise<Findings> {
  const { minute } = quota
  await quota.waitForWindowStart()
  await quota.fill(1)
  await quota.pause(Math.floor((minute.seconds * 2) / 3))
  const { refusal, waitSeconds } = await quota.fill(minute.calls)
  requireTestable(refusal !== undefined, 'the window is larger than stated')
  await quota.pause(waitSeconds)
  const next = await quota.fill(minute.calls)
  return [
    next.refusal &&
      `a new window accepted only ${next.accepted} calls: the last calls of the previous one still count`,
  ]
}

/**
 * Fills an hour's window from its start, with the calls of one minute's window at a time. The previous hour's
 * window is filled first, because its Retry-After states when the next window starts.
 */
async function testHourQuota(quota: Quota): Promise<Findings> {
  const { hour } = quota
  await quota.clearWindows()
  const filledBefore = await quota.fillHour(2 * hour.calls)
  if (!isWithin(filledBefore.waitSeconds, hour)) return [describeUnusable(filledBefore, hour)]
  await quota.pause(filledBefore.waitSeconds)
  const startedAt = quota.now()
  const fill = await quota.fillHour(hour.calls)
  const remainingSeconds = hour.seconds - Math.round(quota.secondsSince(startedAt))
  return [
    fill.accepted !== hour.calls &&
      `expected ${hour.calls} calls in a window of ${hour.seconds} s, ${fill.accepted} were accepted`,
    ...(await quota.expectExactWait(fill, remainingSeconds, 'the hour is full')),
  ]
}

async function testPingExempt(quota: Quota, { probe, target }: CaseContext): Promise<Expectations> {
  await quota.waitForWindowStart()
  const { apiKey, userEmail } = target
  for (let pings = 0; pings < 3; pings += 1) await probe.get('/v1/ping', { identity: { apiKey, userEmail } })
  const { accepted } = await quota.exceed()
  return [
    accepted !== quota.minute.calls && `after 3 pings ${accepted} calls were accepted: pings count`,
    { get: '/v1/ping', on429: 'return', note: 'when the quota is used up', expect: 200 },
  ]
}

async function testTokenExempt(quota: Quota, context: CaseContext): Promise<Expectations> {
  const { probe } = context
  const { order } = await requireCompletedRequest(context)
  await quota.waitForWindowStart()
  const answer = await probe.get(`/v1/requests/${order.requestId}`, { on429: 'return' })
  const url = findReportUrls(answer.data)[0]?.url ?? ''
  const get = requireValue(probe.relativePath(url), 'no report URL of this deployment was seen')
  const options = { identity: {}, on429: 'return' } as const
  for (let round = 0; round < 2; round += 1) await probe.get(get, { ...options, note: 'by token' })
  const { accepted } = await quota.fill(quota.minute.calls)
  return [
    accepted !== quota.minute.calls - 1 && 'downloads by token count against the quota of the key',
    { get, ...options, note: 'by token, when the quota is used up', expect: 200 },
  ]
}

async function testAllEndpoints(quota: Quota, context: CaseContext): Promise<Findings> {
  const { minute } = quota
  const paths = ['/v1/packages', ...(await findReadableSchema(context))]
  if (context.canCreate) paths.push(`/v1/requests/${(await orderSimplestPackage(context)).requestId}`)
  await quota.waitForWindowStart()
  let otherCalls = 0
  for (const path of paths.slice(0, minute.calls - 1)) {
    if ((await context.probe.get(path, { on429: 'return' })).status === 200) otherCalls += 1
  }
  requireTestable(otherCalls > 0, 'no other endpoint answered')
  const { accepted } = await quota.fill(minute.calls)
  const remainingCalls = minute.calls - otherCalls
  return [
    accepted > remainingCalls &&
      `after ${otherCalls} calls of other endpoints ${accepted} were accepted, expected ${remainingCalls}`,
  ]
}

/** Returns the path of the first readable schema in an array; an empty array if no schema can be read. */
async function findReadableSchema(context: CaseContext): Promise<string[]> {
  for (const { id } of await readPackages(context)) {
    if ((await readSchema(context, id)).status === 200) return [`/v1/packages/${id}/schema`]
  }
  return []
}

/** Returns findings unless Retry-After is sufficient at any fraction of a second. */
async function testWholeSeconds(quota: Quota): Promise<Findings> {
  const findings: Findings[number][] = []
  for (const offsetSeconds of [0.15, 0.55, 0.85]) {
    await quota.waitForWindowStart()
    await quota.pause(offsetSeconds)
    const { waitSeconds } = await quota.exceed()
    requireTestable(waitSeconds <= quota.minute.seconds, 'no 429 says when the window is over')
    await quota.pause(waitSeconds)
    const { accepted } = await quota.fill(1)
    findings.push(accepted === 0 && describeTooShort(waitSeconds))
  }
  return findings
}

/** Returns a test that calls as another user when the calls of the minute are used up. */
const testOtherCaller = (findCaller: (context: CaseContext) => Identity, note: string, expect: number): Run =>
  testWithQuota(async (quota, context) => {
    const identity = findCaller(context)
    await quota.useUpMinute()
    return [{ get: '/v1/users', identity, on429: 'return', note, expect }]
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
  ...createQuotaCases('Limits', { 'throttle.minute': [minuteRule, testWithQuota(testMinuteQuota)] }),
  ...createQuotaCases('Errors', {
    'throttle.minute-retry-after': [retryAfterRule, testWithQuota(testMinuteRetryAfter)],
  }),
  ...createQuotaCases('Limits', {
    'throttle.fixed-window': [minuteRule, testWithQuota(testFixedWindow)],
    'throttle.hour': [hourRule, testWithQuota(testHourQuota)],
    'throttle.every-endpoint': [
      'Breach behaviour | 429 client_error with Retry-After (seconds) |',
      testWithQuota(async (quota, context) => {
        await readPackages(context)
        await quota.useUpMinute()
        return createEndpointCalls(context, { on429: 'return', note: 'when the quota is used up' }, 429)
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
  ...createQuotaCases('Limits', {
    'throttle.all-endpoints-together': [minuteRule, testWithQuota(testAllEndpoints)],
    'throttle.all-users-together': [
      minuteRule,
      testOtherCaller(requireSecondUser, 'as the second user, when the quota of the key is used up', 429),
    ],
  }),
  ...createQuotaCases('Errors', {
    'throttle.whole-seconds': [retryAfterRule, testWithQuota(testWholeSeconds)],
  }),
]
