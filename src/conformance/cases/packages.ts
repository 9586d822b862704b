import type { Answer } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import {
  type ListedPackage,
  listed,
  packageList,
  packages,
  secondEmail,
  unusedPackageId,
} from '../discoveries.ts'
import { expectRefusedField, expectStatus } from '../expect.ts'
import { bodyFor, recipient, tryOrder } from '../order.ts'
import { arrayOf, integer, nullable, object, oneOf, text } from '../shape.ts'
import type { Visit } from '../visit.ts'

const section = 'GET /v1/packages'

const packageShape = object({
  id: integer,
  name: text,
  status: oneOf('ACTIVE', 'INACTIVE', 'DISABLED'),
  details: object({
    reference_survey: nullable(object({ id: integer, name: nullable(text), min_referees: integer })),
    background_checks: arrayOf(object({ check_name: nullable(text), partner_name: nullable(text) })),
  }),
})

const ids = (all: readonly ListedPackage[]): number[] => all.map(({ id }) => id).sort((a, b) => a - b)

/** That the answer holds exactly these packages. */
function expectPackages(answer: Answer, expected: readonly ListedPackage[]): string[] {
  const wrong = expectStatus(answer, 200)
  if (wrong.length > 0) return wrong
  const [got, wanted] = [ids(listed(answer)).join(', '), ids(expected).join(', ')]
  return got === wanted ? [] : [`${answer.label}: expected the packages [${wanted}], got [${got}]`]
}

export const packageCases: readonly Case[] = [
  {
    id: 'packages.list',
    section,
    rule: 'Response 200: data = `{packages: [Package]}`. No pagination; the full list is returned. INACTIVE and DISABLED packages are returned for inventory only.',
    kind: 'read',
    async run(visit) {
      const answer = await packageList(visit)
      return [...expectStatus(answer, 200), ...object({ packages: arrayOf(packageShape) })(answer.data, '')]
    },
  },
  {
    id: 'packages.unique-ids',
    section: 'Package',
    rule: 'id | integer | Unique package ID. Used as `package_id` when creating a request and as `{id}` in the schema path.',
    kind: 'read',
    async run(visit) {
      const all = ids(await packages(visit))
      const twice = all.filter((id, at) => all.indexOf(id) !== at)
      return twice.map((id) => `the id ${id} is listed more than once`)
    },
  },
  {
    id: 'packages.filter-status',
    section,
    rule: 'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.',
    kind: 'read',
    async run(visit) {
      const all = await packages(visit)
      const findings: string[] = []
      for (const status of ['active', 'inactive', 'disabled']) {
        const wanted = all.filter((each) => each.status.toLowerCase() === status)
        findings.push(...expectPackages(await visit.probe.get(`/v1/packages?status=${status}`), wanted))
      }
      return findings
    },
  },
  {
    id: 'packages.filter-status-unsupported',
    section,
    rule: 'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.',
    kind: 'read',
    async run({ probe }) {
      const answers = [
        await probe.get('/v1/packages?status=paused'),
        await probe.get('/v1/packages?status=ACTIVE'),
        await probe.get('/v1/packages?status=active,inactive'),
      ]
      return answers.flatMap((answer) => expectRefusedField(answer, 'status'))
    },
  },
  {
    id: 'packages.filter-id',
    section,
    rule: 'id | integer | No | Filter by package ID.',
    kind: 'read',
    async run(visit) {
      const { probe } = visit
      const all = await packages(visit)
      const [first] = all
      const other = await unusedPackageId(visit)
      const findings = expectPackages(await probe.get(`/v1/packages?id=${other}`), [])
      // Of an unsupported value 400 is said for the status alone: an id that is none may also filter nothing, or all.
      findings.push(...expectStatus(await probe.get('/v1/packages?id=first'), 200, 400))
      if (first === undefined) return findings
      const [same, not] = first.status === 'ACTIVE' ? ['active', 'inactive'] : ['inactive', 'active']
      const both = first.status === 'DISABLED' ? 'disabled' : same
      return [
        ...findings,
        ...expectPackages(await probe.get(`/v1/packages?id=${first.id}`), [first]),
        ...expectPackages(await probe.get(`/v1/packages?id=${first.id}&status=${both}`), [first]),
        ...expectPackages(await probe.get(`/v1/packages?id=${first.id}&status=${not}`), []),
      ]
    },
  },
  {
    id: 'packages.no-pagination',
    section: 'Limits',
    rule: 'Pagination | None; packages and users are returned in full | GET /v1/packages, GET /v1/users',
    kind: 'read',
    async run(visit) {
      const answer = await visit.probe.get('/v1/packages?page=2&limit=1&per_page=1&offset=1')
      return answer.status === 400 ? [] : expectPackages(answer, await packages(visit))
    },
  },
  {
    id: 'packages.by-role',
    section,
    rule: "Returns packages available to the organisation and the user (availability depends on the user's role).",
    kind: 'read',
    async run(visit) {
      const { hidden, as } = await hiddenFromSecond(visit)
      const note = 'as a user who does not see the package'
      const answer = await visit.probe.get(`/v1/packages/${hidden.id}/schema`, { as, note })
      const filtered = await visit.probe.get(`/v1/packages?id=${hidden.id}`, { as, note })
      return [...expectStatus(answer, 403, 404), ...expectPackages(filtered, [])]
    },
  },
  {
    id: 'packages.order-by-role',
    section: 'POST /v1/requests',
    rule: '404 | Package not found, disabled, or not available to the organisation and user.',
    kind: 'create',
    async run(visit) {
      const { hidden, as } = await hiddenFromSecond(visit)
      unless(hidden.status === 'ACTIVE', 'both users see the same ACTIVE packages here')
      const body = await bodyFor(visit, hidden, recipient)
      const note = 'as a user who does not see the package'
      return expectStatus(await tryOrder(visit, body, { as, note }), 404)
    },
  },
]

/** A package of the first user's list that the second one's does not have; an ACTIVE one if there is any. */
async function hiddenFromSecond(visit: Visit) {
  const as = { apiKey: visit.target.apiKey, userEmail: secondEmail(visit) }
  const theirs = await visit.once('packages of the second user', () =>
    visit.probe.get('/v1/packages', { as, note: 'as the second user' }),
  )
  const seen = ids(listed(theirs))
  const missing = (await packages(visit)).filter(({ id }) => !seen.includes(id))
  const hidden = missing.find(({ status }) => status === 'ACTIVE') ?? missing[0]
  unless(hidden !== undefined, 'both users see the same packages here')
  return { hidden, as }
}
