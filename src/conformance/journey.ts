import { type Answer, entries, field } from './answer.ts'
import { NotJudged } from './case.ts'
import { type Ordered, recipient, richOrder } from './order.ts'
import type { Visit } from './visit.ts'

/** One read of a request that is followed. */
export interface Sighting {
  data: unknown
  status: string
  /** How many events had arrived at the receiver by then, of any request. */
  deliveries: number
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
export type Ending = 'usual' | 'cancelled' | 'error'

const terminal = new Set(['COMPLETED', 'ERROR', 'CANCELLED'])
const minute = 60_000
/** Where time is moved: two hours by the minute, then a month by the hour. */
const minutes = 120
const hours = 24 * 30
/** Where it is not: between two reads. */
const pollMs = 1000

/** Orders from the package with the most checks and reads the request until it is over. Once a run and ending. */
export function journey(visit: Visit, ending: Ending = 'usual'): Promise<Journey> {
  return visit.once(`journey ${ending}`, async () => {
    const email = ending === 'usual' ? recipient.email : visit.target.recipients?.[ending]
    if (email === undefined) {
      throw new NotJudged(`no recipient is known whose request ends ${ending.toUpperCase()}`)
    }
    return follow(visit, await richOrder(visit, { ...recipient, email }))
  })
}

/** The journeys that can be made here, the usual one first. */
export async function journeys(visit: Visit): Promise<Journey[]> {
  const others = (['cancelled', 'error'] as const).filter(
    (ending) => visit.target.recipients?.[ending] !== undefined,
  )
  const made = [await journey(visit)]
  for (const ending of others) made.push(await journey(visit, ending))
  return made
}

/** The sightings of all journeys in which the request had this status. */
export async function sightingsOf(visit: Visit, status: string): Promise<Sighting[]> {
  const all = (await journeys(visit)).flatMap(({ sightings }) => sightings)
  const found = all.filter((each) => each.status === status)
  if (found.length === 0) throw new NotJudged(`no request was seen ${status}`)
  return found
}

export const checksOf = (data: unknown): unknown[] => entries(field(data, 'checks'))

/** The usual journey, to its COMPLETED end. */
export async function completed(visit: Visit): Promise<Journey> {
  const made = await journey(visit)
  if (made.sightings.at(-1)?.status !== 'COMPLETED') {
    throw new NotJudged('no request was seen COMPLETED in the time it was watched')
  }
  return made
}

async function follow(visit: Visit, ordered: Ordered): Promise<Journey> {
  const { pace } = visit
  const made: Journey = { ordered, sightings: [], early: [], failed: [], ended: false }
  const asked = new Set<string>()
  const deadline = pace.now() + visit.watchMs
  for (let reads = 0; ; reads += 1) {
    const answer = await visit.probe.get(`/v1/requests/${ordered.requestId}`)
    const status = field(answer.data, 'status')
    if (answer.status !== 200 || typeof status !== 'string') {
      made.failed.push(answer)
      return made
    }
    const deliveries = visit.receiver?.deliveries.length ?? 0
    made.sightings.push({ data: answer.data, status, deliveries })
    if (terminal.has(status)) return { ...made, ended: true }
    await askEarly(visit, answer.data, asked, made.early)
    if (pace.exact ? reads >= minutes + hours : pace.now() >= deadline) return made
    await pace.pause(pace.exact ? (reads < minutes ? minute : 60 * minute) : pollMs)
  }
}

/** Asks for the report of each check that has an id and no report yet, once. */
async function askEarly(visit: Visit, data: unknown, asked: Set<string>, early: Answer[]): Promise<void> {
  for (const check of checksOf(data)) {
    const id = field(check, 'id')
    const waiting = field(check, 'type') === 'background' && field(check, 'report_pdf_url') === null
    if (typeof id !== 'string' || !waiting || asked.has(id)) continue
    asked.add(id)
    const answer = await visit.probe.get(`/v1/reports/${id}`, { note: 'before the report is available' })
    if (answer.status === 404 || (await stillWaiting(visit, data, id))) early.push(answer)
  }
}

/** Whether the report is not there yet: where time goes by itself, it may have come since the read. */
async function stillWaiting(visit: Visit, data: unknown, id: string): Promise<boolean> {
  const again = await visit.probe.get(`/v1/requests/${String(field(data, 'request_id'))}`)
  const check = checksOf(again.data).find((each) => field(each, 'id') === id)
  return field(check, 'report_pdf_url') === null
}
