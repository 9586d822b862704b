import { type Answer, entries, field } from './answer.ts'
import { NotAccepted, unless } from './case.ts'
import { type Ordered, recipient, richOrder, usualRecipient } from './order.ts'
import type { Visit } from './visit.ts'

/** A read of a request that is followed. */
export interface Sighting {
  data: unknown
  status: string
  /** Number of events of any request that had arrived before the read was made. */
  deliveries: number
  /** Number of events that had arrived when the response to the read came. */
  afterwards: number
}

/** The reads of a request from its creation to its end, or as long as it was watched. */
export interface Journey {
  ordered: Ordered
  sightings: Sighting[]
  /** Responses to report downloads (with headers) before the reports were available. */
  early: Answer[]
  /** Failed reads. */
  failed: Answer[]
  ended: boolean
}

/** The intended end of a request; all but `usual` need a recipient that causes it. */
export type Ending = 'usual' | 'cancelled' | 'error' | 'mixed'
const endings: readonly Ending[] = ['usual', 'cancelled', 'error', 'mixed']

export const terminal = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])
const minute = 60_000
/** Reads with a clock that can be advanced: every minute for two hours, then every hour for a month. */
const minutes = 120
const hours = 24 * 30
/**
 * Milliseconds between two reads with the real clock: first and longest; each is a quarter longer than the one
 * before.
 */
const pollMs = { first: 200, most: 2000, growth: 1.25 }

/** Returns the requests that can be followed, the usual one first. All are ordered at once and then read in turn. */
export async function journeys(visit: Visit): Promise<Journey[]> {
  return [...(await everyJourney(visit)).values()]
}

/** Returns the request with the usual end; not testable if it could not be followed. */
export async function journey(visit: Visit): Promise<Journey> {
  const made = (await everyJourney(visit)).get('usual')
  unless(made !== undefined, 'no request could be followed')
  return made
}

function everyJourney(visit: Visit): Promise<Map<Ending, Journey>> {
  return visit.once('journeys', async () => {
    const started = new Map<Ending, Journey>()
    for (const ending of endings) {
      const email = visit.target.recipients?.[ending]
      if (ending !== 'usual' && email === undefined) continue
      const to = ending === 'usual' ? usualRecipient(visit) : { ...recipient, email: email ?? '' }
      const ordered = await richOrder(visit, to).catch((error: unknown) => {
        if (ending === 'usual' || !(error instanceof NotAccepted)) throw error
      })
      if (ordered === undefined) continue
      started.set(ending, { ordered, sightings: [], early: [], failed: [], ended: false })
    }
    await follow(visit, [...started.values()])
    return started
  })
}

/** Hints how to cause statuses that the usual request may not have. */
const seenWith: Readonly<Record<string, string>> = {
  CANCELLED: 'name a recipient with --recipient-cancelled',
  ERROR: 'name a recipient with --recipient-error',
  PARTIAL: 'name a recipient with --recipient-mixed, or follow it for longer with --watch',
}

/** Returns the reads in which a request had this status; not testable if there are none. */
export async function sightingsOf(visit: Visit, status: string): Promise<Sighting[]> {
  const all = (await journeys(visit)).flatMap(({ sightings }) => sightings)
  const found = all.filter((each) => each.status === status)
  const hint = seenWith[status] ?? 'follow it for longer with --watch'
  unless(found.length > 0, `no request was seen ${status}: ${hint}`)
  return found
}

export const checksOf = (data: unknown): unknown[] => entries(field(data, 'checks'))

/** Returns the usual request if it reached COMPLETED; otherwise the case is not testable. */
export async function completed(visit: Visit): Promise<Journey> {
  const made = await journey(visit)
  const isCompleted = made.sightings.at(-1)?.status === 'COMPLETED'
  unless(isCompleted, 'no request was seen COMPLETED: follow it for longer with --watch')
  return made
}

async function follow(visit: Visit, all: readonly Journey[]): Promise<void> {
  const { pace, probe } = visit
  const asked = new Set<string>()
  const deadline = pace.now() + visit.watchMs
  let wait = pollMs.first
  for (let reads = 0; ; reads += 1) {
    for (const made of all) if (isUnderWay(made)) await readJourney(visit, made, asked)
    // Waits for the quota do not count as time of watching.
    const late = pace.exact ? reads >= minutes + hours : pace.now() >= deadline + probe.waitedMs
    if (late || !all.some(isUnderWay)) return
    await pace.pause(pace.exact ? (reads < minutes ? minute : 60 * minute) : wait)
    wait = Math.min(pollMs.most, wait * pollMs.growth)
  }
}

const isUnderWay = ({ ended, failed }: Journey): boolean => !ended && failed.length === 0

async function readJourney(visit: Visit, made: Journey, asked: Set<string>): Promise<void> {
  const deliveries = visit.receiver?.deliveries.length ?? 0
  const answer = await visit.probe.get(`/v1/requests/${made.ordered.requestId}`)
  const status = field(answer.data, 'status')
  if (answer.status !== 200 || typeof status !== 'string') {
    made.failed.push(answer)
    return
  }
  const afterwards = visit.receiver?.deliveries.length ?? 0
  made.sightings.push({ data: answer.data, status, deliveries, afterwards })
  made.ended = terminal.has(status)
  await askEarly(visit, answer.data, asked, made.early)
}

/**
 * Downloads the report of each check that has an id and no report yet: once, and again after a check was cancelled.
 */
async function askEarly(visit: Visit, data: unknown, asked: Set<string>, early: Answer[]): Promise<void> {
  for (const check of checksOf(data)) {
    const id = field(check, 'id')
    const waiting = field(check, 'type') === 'background' && field(check, 'report_pdf_url') === null
    const once = `${String(id)} ${field(check, 'status') === 'CANCELLED'}`
    if (typeof id !== 'string' || !waiting || asked.has(once)) continue
    asked.add(once)
    const answer = await visit.probe.get(`/v1/reports/${id}`, { note: 'while there is no report' })
    if (answer.status === 404 || (await stillWaiting(visit, data, id))) early.push(answer)
  }
}

/** Whether there is still no report: with the real clock it may have become available since the read. */
async function stillWaiting(visit: Visit, data: unknown, id: string): Promise<boolean> {
  const again = await visit.probe.get(`/v1/requests/${String(field(data, 'request_id'))}`)
  const check = checksOf(again.data).find((each) => field(each, 'id') === id)
  return field(check, 'report_pdf_url') === null
}
