import { type Answer, field } from '../answer.ts'
import { advise } from '../advice.ts'
import { type Case, unless } from '../case.ts'
import { unknownId } from '../discoveries.ts'
import { expectSame, expectStatus } from '../expect.ts'
import { checksOf, completed, journey, journeys } from '../journey.ts'
import { arrayOf, integer, nullable, object, oneOf, type Shape, text, timestamp, uuid } from '../shape.ts'
import { shown } from '../shown.ts'
import type { Visit } from '../visit.ts'
import { reportUrls } from './report-urls.ts'

const section = 'GET /v1/requests/{request_id}'

const referee = object({
  referee_id: text,
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

/** Every read of a request that was made on the way. */
async function reads(visit: Visit): Promise<unknown[]> {
  return (await journeys(visit)).flatMap(({ sightings }) => sightings.map(({ data }) => data))
}

export const requestCases: readonly Case[] = [
  {
    id: 'requests.shape',
    section,
    rule: 'Response 200: data = Request (with checks and referees).',
    kind: 'create',
    async run(visit) {
      const failed = (await journeys(visit)).flatMap((each) => each.failed)
      const shapes = (await reads(visit)).flatMap((data) => requestShape(data, 'data'))
      return [...failed.flatMap((answer) => expectStatus(answer, 200)), ...shapes]
    },
  },
  {
    id: 'requests.unknown',
    section,
    rule: 'Errors: 401; 403 (user not an active member); 404 (request not found or not available to the organisation); 429; 5xx.',
    kind: 'read',
    async run({ probe }) {
      return expectStatus(await probe.get(`/v1/requests/${unknownId}`), 404)
    },
  },
  {
    id: 'requests.created-at',
    section: 'Request',
    rule: 'created_at | string (ISO 8601 timestamp) | When the request was accepted.',
    kind: 'create',
    async run(visit) {
      unless(!visit.pace.exact, 'time is moved here, and no other clock tells when it was accepted')
      const { ordered, sightings } = await journey(visit)
      const accepted = Date.parse(ordered.answer.header('date') ?? '')
      const told = String(field(sightings[0]?.data, 'created_at'))
      unless(Number.isFinite(accepted) && /(Z|[+-]\d\d:?\d\d)$/.test(told), 'no Date, or no zone is told')
      const off = Math.round(Math.abs(Date.parse(told) - accepted) / 1000)
      return off > 120
        ? [advise(`created_at is ${off} s away from the Date of the answer that accepted it`)]
        : []
    },
  },
  {
    id: 'requests.malformed-id',
    section,
    rule: 'request_id | string (UUID) | From request creation.',
    kind: 'read',
    async run({ probe }) {
      return expectStatus(await probe.get('/v1/requests/not-a-uuid'), 400, 404)
    },
  },
  {
    id: 'requests.unchanging',
    section,
    rule: 'Read-only and idempotent.',
    kind: 'create',
    async run(visit) {
      const [before, ...after] = (await journey(visit)).sightings.map(({ data }) => data)
      const lasting = (data: unknown): unknown =>
        ['request_id', 'package_id', 'created_at', 'requester', 'recipient'].map((name) => field(data, name))
      return after.flatMap((data) =>
        expectSame('what a request keeps for good', lasting(data), lasting(before)),
      )
    },
  },
  {
    id: 'requests.checks-of-package',
    section: 'What the service does',
    rule: 'A package defines which reference and/or background checks a request includes.',
    kind: 'create',
    async run(visit) {
      const { ordered, sightings } = await completed(visit)
      const checks = checksOf(sightings.at(-1)?.data)
      const backgrounds = checks.filter((each) => field(each, 'type') === 'background')
      const names = backgrounds.map((each) => [field(each, 'check_name'), field(each, 'partner_name')])
      const sorted = (all: unknown[]): string[] => all.map((each) => JSON.stringify(each)).sort()
      const references = checks.length - backgrounds.length
      const findings = expectSame(
        `number of background checks of package ${ordered.pack.id}`,
        names.length,
        ordered.pack.checks.length,
      )
      if (sorted(names).join() !== sorted(ordered.pack.checks).join()) {
        const told = `checks of the request are named ${sorted(names).join(', ')}, those of its package ${sorted(ordered.pack.checks).join(', ')}`
        findings.push(advise(told))
      }
      if (references > 0 === ordered.pack.survey) return findings
      return [...findings, `package ${ordered.pack.id} and its request do not agree about a reference check`]
    },
  },
  {
    id: 'requests.check-ids',
    section: 'Check (element of checks)',
    rule: 'id | string (UUID) or null | null until the check has been created.',
    kind: 'create',
    run: checkIds,
  },
  {
    id: 'requests.references-of-reference-checks',
    section: 'Check (element of checks)',
    rule: 'references | array | Reference checks only. Empty array when no referees are nominated.',
    kind: 'create',
    async run(visit) {
      return (await reads(visit)).flatMap(checksOf).flatMap((each) => {
        const [type, references] = [field(each, 'type'), field(each, 'references')]
        if ((type === 'reference') === Array.isArray(references)) return []
        return [`a ${String(type)} check has ${shown(references)} as references`]
      })
    },
  },
  {
    id: 'requests.background-fields',
    section: 'Check (element of checks)',
    rule: 'check_name | string or null | Background checks only. Display name.',
    kind: 'create',
    async run(visit) {
      const names = ['partner_name', 'check_name', 'report_pdf_url']
      return (await reads(visit)).flatMap(checksOf).flatMap((each) => {
        const wanted = field(each, 'type') === 'background'
        return names
          .filter((name) => (field(each, name) !== undefined) !== wanted)
          .map((name) => `a ${String(field(each, 'type'))} check ${wanted ? 'lacks' : 'has'} ${name}`)
      })
    },
  },
  {
    id: 'requests.fresh-urls',
    section,
    rule: 'Each read produces fresh signed report URLs.',
    kind: 'create',
    async run(visit) {
      const path = `/v1/requests/${(await completed(visit)).ordered.requestId}`
      const tokens = (answer: Answer): string[] => reportUrls(answer.data).map(({ url }) => url)
      const first = tokens(await visit.probe.get(path))
      // The time may be all that differs in a token, and be counted in seconds.
      await visit.pace.pause(1100)
      const second = tokens(await visit.probe.get(path))
      unless(first.length > 0, 'no report URL was seen')
      const same = first.filter((url) => second.includes(url))
      return same.length > 0
        ? [`${same.length} of ${first.length} report URLs are the same in two reads`]
        : []
    },
  },
]

/** There once the check runs, and then for good. */
async function checkIds(visit: Visit): Promise<string[]> {
  const findings: string[] = []
  for (const { sightings } of await journeys(visit)) {
    const known = new Set<unknown>()
    // Of a request that ends in ERROR "no checks were created", though it may have been IN_PROGRESS.
    const creates = sightings.at(-1)?.status !== 'ERROR'
    for (const { data, status } of sightings) {
      const ids = new Set(checksOf(data).map((each) => field(each, 'id')))
      for (const each of checksOf(data)) {
        const [id, at] = [field(each, 'id'), field(each, 'status')]
        if (creates && (at === 'IN_PROGRESS' || at === 'COMPLETED') && id === null) {
          findings.push(`a check ${at} of a request ${status}: expected an id, got null`)
        }
        if (typeof id === 'string') known.add(id)
      }
      const count = checksOf(data).filter((each) => typeof field(each, 'id') === 'string').length
      const own = [...ids].filter((id) => typeof id === 'string').length
      if (own < count) findings.push(`two checks of a request ${status} have one id`)
      if (creates && [...known].some((id) => !ids.has(id))) {
        findings.push(`a check of a request ${status}: its id changed`)
      }
    }
  }
  return findings
}
