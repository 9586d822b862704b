import { type Answer, type Fields, toItems, readValue } from './answer.ts'
import { NotAcceptedError, requireItems, requireTestable } from './case.ts'
import { type AcceptedOrder, orderRichestPackage } from './order.ts'
import type { CaseContext } from './case-context.ts'

/** A read of a request that is followed. */
export interface RequestRead {
  data: unknown
  status: string
  checks: Fields[]
  /** Number of events of any request that had arrived before the read was made. */
  eventCountBefore: number
  /** Number of events that had arrived when the response to the read came. */
  eventCountAfter: number
}

/** The reads of a request from its creation to its end, or for as long as it was watched. */
export interface Journey {
  order: AcceptedOrder
  reads: RequestRead[]
  /** Responses to downloads with headers of reports that were not available yet. */
  earlyReports: Answer[]
  /** Responses to reads that failed. */
  failedReads: Answer[]
  /** The checks whose reports were requested before they were available. */
  requestedReports: Set<string>
  hasEnded: boolean
}

export const terminalStatuses = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])
const minuteMs = 60_000
/**
 * Numbers of reads with a clock that can be advanced: one per minute for two hours, then one per hour for a
 * month.
 */
const minuteReadCount = 120
const hourReadCount = 24 * 30
/**
 * Milliseconds between two reads with the real clock: the first and the maximum. Each wait is a quarter
 * longer than the one before.
 */
const pollMs = { first: 200, max: 2000, growth: 1.25 }

/**
 * Returns the journeys of the requests that can be followed, the usual one first. The others have recipients that cause
 * another end. All requests are ordered at once and then read in turn.
 */
export function followAll(context: CaseContext): Promise<[usual: Journey, ...others: Journey[]]> {
  return context.once('journeys', async () => {
    const createJourney = (order: AcceptedOrder): Journey => ({
      order,
      reads: [],
      earlyReports: [],
      failedReads: [],
      requestedReports: new Set(),
      hasEnded: false,
    })
    const journeys: [Journey, ...Journey[]] = [createJourney(await orderRichestPackage(context))]
    const { cancelled, error, mixed } = context.target.recipients ?? {}
    for (const email of [cancelled, error, mixed]) {
      if (email === undefined) continue
      const order = await orderRichestPackage(context, email).catch((refusal: unknown) => {
        if (!(refusal instanceof NotAcceptedError)) throw refusal
      })
      if (order !== undefined) journeys.push(createJourney(order))
    }
    await follow(context, journeys)
    return journeys
  })
}

/** Returns the journey of the request with the usual end. */
export async function requireFollowedRequest(context: CaseContext): Promise<Journey> {
  return (await followAll(context))[0]
}

/** Hints how to cause a status that the usual request may not have, by status. */
const hintsByStatus: Readonly<Record<string, string>> = {
  CANCELLED: 'name a recipient with --recipient-cancelled',
  ERROR: 'name a recipient with --recipient-error',
  PARTIAL: 'name a recipient with --recipient-mixed, or follow it for longer with --watch',
}

/** Returns the reads in which a request had this status. Throws a NotTestableError if there are none. */
export async function findReads(context: CaseContext, status: string): Promise<RequestRead[]> {
  const allReads = (await followAll(context)).flatMap(({ reads }) => reads)
  const matchingReads = allReads.filter((each) => each.status === status)
  const hint = hintsByStatus[status] ?? 'follow it for longer with --watch'
  return requireItems(matchingReads, `no request was seen ${status}: ${hint}`)
}

export const readChecks = (data: unknown): Fields[] => toItems(readValue(data, 'checks'))

/** Returns the usual journey if it reached COMPLETED; otherwise throws a NotTestableError. */
export async function requireCompletedRequest(context: CaseContext): Promise<Journey> {
  const journey = await requireFollowedRequest(context)
  const isCompleted = journey.reads.at(-1)?.status === 'COMPLETED'
  requireTestable(isCompleted, 'no request was seen COMPLETED: follow it for longer with --watch')
  return journey
}

async function follow(context: CaseContext, journeys: readonly Journey[]): Promise<void> {
  const { deploymentClock, probe } = context
  const deadline = deploymentClock.now() + context.watchMs
  let waitMs = pollMs.first
  for (let reads = 0; ; reads += 1) {
    for (const journey of journeys.filter(isInProgress)) await readJourney(context, journey)
    // Waits for the quota are not part of the watched time.
    const isTimeOver = deploymentClock.isManual
      ? reads >= minuteReadCount + hourReadCount
      : deploymentClock.now() >= deadline + probe.waitedMs
    if (isTimeOver || !journeys.some(isInProgress)) return
    await deploymentClock.pause(
      deploymentClock.isManual ? (reads < minuteReadCount ? minuteMs : 60 * minuteMs) : waitMs,
    )
    waitMs = Math.min(pollMs.max, waitMs * pollMs.growth)
  }
}

const isInProgress = ({ hasEnded, failedReads }: Journey): boolean => !hasEnded && failedReads.length === 0

async function readJourney(context: CaseContext, journey: Journey): Promise<void> {
  const eventCountBefore = context.receiver?.deliveries.length ?? 0
  const answer = await context.probe.get(`/v1/requests/${journey.order.requestId}`)
  const { status } = answer.fields
  if (answer.status !== 200 || typeof status !== 'string') {
    journey.failedReads.push(answer)
    return
  }
  const eventCountAfter = context.receiver?.deliveries.length ?? 0
  const { data } = answer
  const read = { data, status, checks: readChecks(data), eventCountBefore, eventCountAfter }
  journey.reads.push(read)
  journey.hasEnded = terminalStatuses.has(status)
  await downloadEarly(context, journey, read)
}

/**
 * Downloads the report of each check that has an id and no report yet: once, and once more after the check
 * was cancelled.
 */
async function downloadEarly(
  context: CaseContext,
  { requestedReports, earlyReports }: Journey,
  { data, checks }: RequestRead,
): Promise<void> {
  for (const { id, type, status, report_pdf_url: url } of checks) {
    const requestKey = `${String(id)} ${status === 'CANCELLED'}`
    const isWithoutReport = type === 'background' && url === null
    if (typeof id !== 'string' || !isWithoutReport || requestedReports.has(requestKey)) continue
    requestedReports.add(requestKey)
    const answer = await context.probe.get(`/v1/reports/${id}`, { note: 'while there is no report' })
    if (answer.status === 404 || (await isStillWithoutReport(context, data, id))) earlyReports.push(answer)
  }
}

/**
 * Returns true if there is still no report. With the real clock, the report may have become available since
 * the read.
 */
async function isStillWithoutReport(context: CaseContext, data: unknown, id: string): Promise<boolean> {
  const laterAnswer = await context.probe.get(`/v1/requests/${String(readValue(data, 'request_id'))}`)
  return readChecks(laterAnswer.data).some((check) => check.id === id && check.report_pdf_url === null)
}
