import { type Answer, entries, field } from './answer.ts'
import { NotAccepted, unless } from './case.ts'
import { type Ordered, recipient, richOrder, usualRecipient } from './order.ts'
import type { Visit } from './visit.ts'

/** One read of a request that is followed. */
export interface Sighting {
  data: unknown
  status: string
  /** How many events had arrived at the receiver before the read was made, of any request. */
  deliveries: number
  /** And when it was answered. */
  afterwards: number
}

/** A request from its creation to its end, or as far as it was watched. */
export interface Journey {
  ordered: Ordered
  sightings: Sighting[]
  /** Reads of reports, by headers, that were not available yet. */
  early: Answer[]
  /** Reads that did not succeed. */
  failed: Answer[]
  ended: boolean
}

/** How a request is to end; other endings than its own need a recipient that leads to them. */
export type Ending = 'usual' | 'cancelled' | 'error' | 'mixed'
const endings: readonly Ending[] = ['usual', 'cancelled', 'error', 'mixed']

export const terminal = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])
const minute = 60_000
/** Where time is moved: two hours by the minute, then a month by the hour. */
const minutes = 120
const hours = 24 * 30
/** Where it is not: between two reads, at first and at most; each time a quarter longer. */
const pollMs = { first: 200, most: 2000, growth: 1.25 }

/** The requests that can be followed here, the usual one first; all are ordered at once, then read in turn. */
export async function journeys(visit: Visit): Promise<Journey[]> {
  return [...(await everyJourney(visit)).values()]
}

/** The request that takes its usual way. */
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

/** What leads to statuses that the usual request need not have. */
const seenWith: Readonly<Record<string, string>> = {
  CANCELLED: 'name a recipient with --recipient-cancelled',
  ERROR: 'name a recipient with --recipient-error',
  PARTIAL: 'name a recipient with --recipient-mixed, or follow it for longer with --watch',
}

/** The sightings of all journeys in which the request had this status. */
export async function sightingsOf(visit: Visit, status: string): Promise<Sighting[]> {
  const all = (await journeys(visit)).flatMap(({ sightings }) => sightings)
  const found = all.filter((each) => each.status === status)
  const hint = seenWith[status] ?? 'follow it for longer with --watch'
  unless(found.length > 0, `no request was seen ${status}: ${hint}`)
  return found
}

export const checksOf = (data: unknown): unknown[] => entries(field(data, 'checks'))

/** The usual journey, to its COMPLETED end. */
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
    // Time that the quota took was not spent watching.
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

/** Asks for the report of each check that has an id and no report yet, once; and again when it has none in the end. */
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

/** Whether the report is not there yet: where time goes by itself, it may have come since the read. */
async function stillWaiting(visit: Visit, data: unknown, id: string): Promise<boolean> {
  const again = await visit.probe.get(`/v1/requests/${String(field(data, 'request_id'))}`)
  const check = checksOf(again.data).find((each) => field(each, 'id') === id)
  return field(check, 'report_pdf_url') === null
}
