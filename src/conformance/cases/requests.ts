import { advise, type Case, unless } from '../case.ts'
import { entries, field, shown } from '../answer.ts'
import { unknownId } from '../order.ts'
import { about, statusOf } from '../events.ts'
import { expectSame, expectStatus, type Run, under, when } from '../table.ts'
import { checksOf, completed, journey, journeys, type Sighting, sightingsOf, terminal } from '../journey.ts'
import { arrayOf, integer, nullable, object, oneOf, type Shape, text, timestamp, uuid } from '../shape.ts'
import type { Visit } from '../visit.ts'
import { urlsOfTwoReads } from './reports.ts'

/** A referee's id is a string by its table, but "integer or string" by the path, so an integer is only advice. */
const refereeId: Shape = (id, where) =>
  Number.isInteger(id) ? [advise(`${where} is an integer`)] : text(id, where)

const referee = object({
  referee_id: refereeId,
  referee_name: nullable(text),
  referee_email: nullable(text),
  status: oneOf('IN_PROGRESS', 'COMPLETED', 'CANCELLED'),
  report_pdf_url: nullable(text),
})

const ofEveryCheck = {
  id: nullable(uuid),
  type: oneOf('reference', 'background'),
  status: oneOf('RECEIVED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'ERROR'),
}
const reference = object({ ...ofEveryCheck, references: arrayOf(referee) })
const background = object({
  ...ofEveryCheck,
  partner_name: nullable(text),
  check_name: nullable(text),
  report_pdf_url: nullable(text),
})
const check: Shape = (value, where) =>
  (field(value, 'type') === 'reference' ? reference : background)(value, where)

const requestShape = object({
  request_id: uuid,
  package_id: integer,
  status: oneOf('RECEIVED', 'IN_PROGRESS', 'PARTIAL', 'COMPLETED', 'ERROR', 'CANCELLED'),
  created_at: timestamp,
  requester: object({ email: text }),
  recipient: object({ first_name: text, last_name: text, email: text, phone: text }),
  checks: arrayOf(check),
})

/** Returns the data of all reads of the requests that were followed. */
async function reads(visit: Visit): Promise<unknown[]> {
  return (await journeys(visit)).flatMap(({ sightings }) => sightings.map(({ data }) => data))
}

/** Makes a test that returns findings about each check in all reads. */
const ofChecks =
  (wrong: (check: unknown, type: string) => string[]): Run =>
  async (visit) =>
    (await reads(visit)).flatMap(checksOf).flatMap((each) => wrong(each, String(field(each, 'type'))))

/** Compares the checks of a completed request with those of its package. */
async function checksOfPackage(visit: Visit): Promise<string[]> {
  const { ordered, sightings } = await completed(visit)
  const { pack } = ordered
  const checks = checksOf(sightings.at(-1)?.data)
  const backgrounds = checks.filter((each) => field(each, 'type') === 'background')
  const sorted = (all: unknown[]): string =>
    all
      .map((each) => JSON.stringify(each))
      .sort()
      .join(', ')
  const got = sorted(backgrounds.map((each) => [field(each, 'check_name'), field(each, 'partner_name')]))
  const wanted = sorted(pack.checks)
  const label = `number of background checks of package ${pack.id}`
  const hasReference = checks.length > backgrounds.length
  return [
    ...expectSame(label, backgrounds.length, pack.checks.length),
    ...when(got !== wanted, advise(`checks of the request are named ${got}, those of its package ${wanted}`)),
    ...when(
      hasReference !== pack.survey,
      `package ${pack.id} and its request do not agree about a reference check`,
    ),
  ]
}

/** Expects an id once a check has started, and that the id does not change. */
async function checkIds(visit: Visit): Promise<string[]> {
  const findings: string[] = []
  for (const { sightings } of await journeys(visit)) {
    const known = new Set<unknown>()
    // A request that ends in ERROR creates no checks ("no checks were created"), even if it was IN_PROGRESS.
    const creates = sightings.at(-1)?.status !== 'ERROR'
    for (const { data, status } of sightings) {
      const checks = checksOf(data)
      const ids = checks.map((each) => field(each, 'id'))
      for (const [at, id] of ids.entries()) {
        const its = String(field(checks[at], 'status'))
        if (creates && (its === 'IN_PROGRESS' || its === 'COMPLETED') && id === null) {
          findings.push(`a check ${its} of a request ${status}: expected an id, got null`)
        }
        if (typeof id === 'string') known.add(id)
      }
      const given = ids.filter((id) => typeof id === 'string')
      if (new Set(given).size < given.length) findings.push(`two checks of a request ${status} have one id`)
      if (creates && [...known].some((id) => !ids.includes(id))) {
        findings.push(`a check of a request ${status}: its id changed`)
      }
    }
  }
  return findings
}

export const requestCases: readonly Case[] = [
  ...under('GET /v1/requests/{request_id}', 'create', {
    'requests.shape': [
      'Response 200: data = Request (with checks and referees).',
      async (visit) => {
        const failed = (await journeys(visit)).flatMap((each) => each.failed)
        const shapes = (await reads(visit)).flatMap((data) => requestShape(data, 'data'))
        return [...failed.flatMap((answer) => expectStatus(answer, 200)), ...shapes]
      },
    ],
  }),
  ...under('GET /v1/requests/{request_id}', 'read', {
    'requests.unknown': [
      'Errors: 401; 403 (user not an active member); 404 (request not found or not available to the organisation); 429; 5xx.',
      [{ get: `/v1/requests/${unknownId}`, expect: 404 }],
    ],
  }),
  ...under('Request', 'create', {
    'requests.created-at': [
      'created_at | string (ISO 8601 timestamp) | When the request was accepted.',
      async (visit) => {
        unless(
          !visit.pace.exact,
          'its time can only be compared where the clock is not moved: leave out --control',
        )
        const { ordered, sightings } = await journey(visit)
        const accepted = Date.parse(ordered.answer.header('date') ?? '')
        const created = String(field(sightings[0]?.data, 'created_at'))
        const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(created)
        unless(Number.isFinite(accepted) && hasZone, 'no Date, or no zone is told')
        const off = Math.round(Math.abs(Date.parse(created) - accepted) / 1000)
        const advice = `created_at is ${off} s away from the Date of the answer that accepted it`
        return when(off > 120, advise(advice))
      },
    ],
  }),
  ...under('GET /v1/requests/{request_id}', 'read', {
    'requests.malformed-id': [
      'request_id | string (UUID) | From request creation.',
      [{ get: '/v1/requests/not-a-uuid', expect: [400, 404] }],
    ],
  }),
  ...under('GET /v1/requests/{request_id}', 'create', {
    'requests.unchanging': [
      'Read-only and idempotent.',
      async (visit) => {
        const [before, ...after] = (await journey(visit)).sightings.map(({ data }) =>
          ['request_id', 'package_id', 'created_at', 'requester', 'recipient'].map((name) =>
            field(data, name),
          ),
        )
        return after.flatMap((data) => expectSame('what a request keeps for good', data, before))
      },
    ],
  }),
  ...under('What the service does', 'create', {
    'requests.checks-of-package': [
      'A package defines which reference and/or background checks a request includes.',
      checksOfPackage,
    ],
  }),
  ...under('Check (element of checks)', 'create', {
    'requests.check-ids': ['id | string (UUID) or null | null until the check has been created.', checkIds],
    'requests.references-of-reference-checks': [
      'references | array | Reference checks only. Empty array when no referees are nominated.',
      ofChecks((each, type) => {
        const references = field(each, 'references')
        // For other checks, null is accepted like an absent field; whether the field may be present is advice of the
        // shape test.
        const isRight = type === 'reference' ? Array.isArray(references) : (references ?? null) === null
        return when(!isRight, `a ${type} check has ${shown(references)} as references`)
      }),
    ],
    'requests.background-fields': [
      'check_name | string or null | Background checks only. Display name.',
      ofChecks((each, type) => {
        const wanted = type === 'background'
        return ['partner_name', 'check_name', 'report_pdf_url']
          .filter((name) => (wanted ? field(each, name) === undefined : (field(each, name) ?? null) !== null))
          .map((name) => `a ${type} check ${wanted ? 'lacks' : 'has'} ${name}`)
      }),
    ],
  }),
  ...under('GET /v1/requests/{request_id}', 'create', {
    'requests.fresh-urls': [
      'Each read produces fresh signed report URLs.',
      async (visit) => {
        const [first, second] = await urlsOfTwoReads(visit)
        unless(first.length > 0, 'no report URL was seen')
        const same = first.filter(({ url }) => second.some((each) => each.url === url))
        return when(
          same.length > 0,
          `${same.length} of ${first.length} report URLs are the same in two reads`,
        )
      },
    ],
  }),
]

const statusesOf = (data: unknown): string[] => checksOf(data).map((each) => String(field(each, 'status')))

/** Makes a test that returns findings for reads with this status whose checks contradict it. */
const means =
  (status: string, isMet: (checks: string[], sighting: Sighting) => boolean): Run =>
  async (visit) =>
    (await sightingsOf(visit, status))
      .filter((sighting) => !isMet(statusesOf(sighting.data), sighting))
      .map(({ data }) => `a request is ${status} while its checks are [${statusesOf(data).join(', ')}]`)

const isOver = (checks: string[]): boolean => checks.every((status) => terminal.has(status))
const hasCompleted = (checks: string[]): boolean => checks.includes('COMPLETED')

export const statusCases: readonly Case[] = [
  ...under('Request status', 'create', {
    'statuses.received': [
      'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
      means('RECEIVED', (checks) => checks.every((status) => status === 'RECEIVED')),
    ],
    'statuses.in-progress': [
      'IN_PROGRESS | At least one check is in progress and none has completed.',
      means('IN_PROGRESS', (checks) => checks.includes('IN_PROGRESS') && !hasCompleted(checks)),
    ],
    'statuses.partial': [
      'PARTIAL | At least one check has completed while others are still in progress.',
      means('PARTIAL', (checks) => hasCompleted(checks) && !isOver(checks)),
    ],
    'statuses.completed': [
      'COMPLETED | Terminal. All checks finished and at least one completed successfully.',
      means('COMPLETED', (checks) => hasCompleted(checks) && isOver(checks)),
    ],
    'statuses.cancelled': [
      'CANCELLED | Terminal. All checks finished and none reached COMPLETED (for example expired, declined, deleted or stopped).',
      means('CANCELLED', (checks) => !hasCompleted(checks) && isOver(checks)),
    ],
    'statuses.error': [
      'ERROR | Terminal. The request could not be processed and no checks were created.',
      means('ERROR', (_, { data }) => checksOf(data).every((each) => field(each, 'id') === null)),
    ],
    'statuses.transitions': [
      'RECEIVED | Initial status on creation. Accepted; checks not yet started.',
      async (visit) =>
        (await journeys(visit)).flatMap(({ sightings }) =>
          sightings.flatMap(({ status }, at) => {
            const before = sightings[at - 1]?.status
            const back = status === 'RECEIVED' && before !== undefined && before !== 'RECEIVED'
            const undone = before === 'PARTIAL' && status === 'IN_PROGRESS'
            const went = `a request went from ${before} back to ${status}`
            return [...when(back, went), ...when(undone, advise(went))]
          }),
        ),
    ],
  }),
  ...under('Check (element of checks)', 'create', {
    'statuses.reports-of-the-finished': [
      'report_pdf_url | string or null | Background checks only. Signed URL; null until the report is available. Token valid 1 hour.',
      async (visit) => {
        const checks = (await reads(visit)).flatMap(checksOf)
        const referees = checks.flatMap((each) => entries(field(each, 'references')))
        return [...checks, ...referees]
          .filter((each) => typeof field(each, 'report_pdf_url') === 'string')
          .map((each) => String(field(each, 'status')))
          .filter((status) => ['RECEIVED', 'IN_PROGRESS'].includes(status))
          .map((status) => `there is a report_pdf_url while its status is ${status}`)
      },
    ],
  }),
]

/**
 * Milliseconds in which an ended request might change: with a clock that can be advanced, and with the real clock.
 */
const [aDay, aMoment] = [24 * 3_600_000, 3000]

/** These cases run after most others, so that an ended request has had time to change. */
export const lastingCases: readonly Case[] = under('Request status', 'create', {
  'statuses.terminal': [
    'Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further.',
    async (visit) => {
      const ended = (await journeys(visit)).filter((each) => each.ended)
      unless(ended.length > 0, 'no request finished: follow it for longer with --watch')
      const findings: string[] = []
      for (let time = 0; time < 2; time += 1) {
        await visit.pace.pause(visit.pace.exact ? aDay : aMoment)
        for (const { ordered, sightings } of ended) {
          const before = sightings.at(-1)?.status
          const answer = await visit.probe.get(`/v1/requests/${ordered.requestId}`)
          const status = field(answer.data, 'status')
          if (status !== before) findings.push(`a request went from ${before} to ${String(status)}`)
        }
      }
      for (const { ordered } of await journeys(visit)) {
        const events = (visit.receiver?.deliveries ?? []).filter((each) => about(each, ordered.requestId))
        const ends = [...new Set(events.map(statusOf).filter((status) => terminal.has(status)))]
        if (ends.length > 1) findings.push(`events of one request say ${ends.join(' and ')}`)
      }
      return findings
    },
  ],
})
