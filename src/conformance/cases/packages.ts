import { advise, type Case, unless } from '../case.ts'
import { type Answer, entries, field, shown } from '../answer.ts'
import {
  bodyFor,
  listed,
  type ListedPackage,
  packageList,
  packages,
  recipient,
  schemaOf,
  secondUser,
  unusedPackageId,
} from '../order.ts'
import {
  type Ask,
  expectSame,
  expectStatus,
  ordered,
  refused,
  repeated,
  type Run,
  under,
  when,
} from '../table.ts'
import {
  arrayOf,
  boolean,
  integer,
  isObject,
  mapOf,
  nullable,
  object,
  oneOf,
  type Shape,
  text,
} from '../shape.ts'
import type { Visit } from '../visit.ts'

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

/** Expects exactly these packages in the response. */
const exactly =
  (expected: readonly ListedPackage[]) =>
  (answer: Answer): string[] => {
    const wrong = expectStatus(answer, 200)
    if (wrong.length > 0) return wrong
    const [got, wanted] = [ids(listed(answer)).join(', '), ids(expected).join(', ')]
    return when(got !== wanted, `${answer.label}: expected the packages [${wanted}], got [${got}]`)
  }

/** Returns a package that the first user sees and the second does not, an ACTIVE one if possible. */
async function hiddenFromSecond(visit: Visit) {
  const as = secondUser(visit)
  const theirs = await visit.once('packages of the second user', () =>
    visit.probe.get('/v1/packages', { as, note: 'as the second user' }),
  )
  const seen = ids(listed(theirs))
  const missing = (await packages(visit)).filter(({ id }) => !seen.includes(id))
  const hidden = missing.find(({ status }) => status === 'ACTIVE') ?? missing[0]
  unless(hidden !== undefined, 'both users see the same packages: --second-user takes one with fewer')
  return { hidden, as, note: 'as a user who does not see the package' }
}

const filter =
  'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.'

export const packageCases: readonly Case[] = [
  ...under('GET /v1/packages', 'read', {
    'packages.list': [
      'Response 200: data = `{packages: [Package]}`. No pagination; the full list is returned. INACTIVE and DISABLED packages are returned for inventory only.',
      async (visit) => {
        const answer = await packageList(visit)
        return [...expectStatus(answer, 200), ...object({ packages: arrayOf(packageShape) })(answer.data, '')]
      },
    ],
  }),
  ...under('Package', 'read', {
    'packages.unique-ids': [
      'id | integer | Unique package ID. Used as `package_id` when creating a request and as `{id}` in the schema path.',
      async (visit) =>
        repeated(ids(await packages(visit))).map((id) => `the id ${String(id)} is listed more than once`),
    ],
  }),
  ...under('GET /v1/packages', 'read', {
    'packages.filter-status': [
      filter,
      async (visit) => {
        const all = await packages(visit)
        return ['active', 'inactive', 'disabled'].map((status) => ({
          get: `/v1/packages?status=${status}`,
          expect: exactly(all.filter((each) => each.status.toLowerCase() === status)),
        }))
      },
    ],
    'packages.filter-status-unsupported': [
      filter,
      ['paused', 'ACTIVE', 'active,inactive'].map((status) => ({
        get: `/v1/packages?status=${status}`,
        expect: refused('status'),
      })),
    ],
    'packages.filter-id': [
      'id | integer | No | Filter by package ID.',
      async (visit) => {
        const [first] = await packages(visit)
        const asks: Ask[] = [
          { get: `/v1/packages?id=${await unusedPackageId(visit)}`, expect: exactly([]) },
          // 400 is documented for an unsupported status alone: for an id that is not a number, 200 with no
          // package or with all is allowed too.
          { get: '/v1/packages?id=first', expect: [200, 400] },
        ]
        if (first === undefined) return asks
        const [matching, other] = first.status === 'ACTIVE' ? ['active', 'inactive'] : ['inactive', 'active']
        const ownStatus = first.status === 'DISABLED' ? 'disabled' : matching
        return [
          ...asks,
          { get: `/v1/packages?id=${first.id}`, expect: exactly([first]) },
          { get: `/v1/packages?id=${first.id}&status=${ownStatus}`, expect: exactly([first]) },
          { get: `/v1/packages?id=${first.id}&status=${other}`, expect: exactly([]) },
        ]
      },
    ],
  }),
  ...under('Limits', 'read', {
    'packages.no-pagination': [
      'Pagination | None; packages and users are returned in full | GET /v1/packages, GET /v1/users',
      async (visit) => {
        const answer = await visit.probe.get('/v1/packages?page=2&limit=1&per_page=1&offset=1')
        return answer.status === 400 ? [] : exactly(await packages(visit))(answer)
      },
    ],
  }),
  ...under('GET /v1/packages', 'read', {
    'packages.by-role': [
      "Returns packages available to the organisation and the user (availability depends on the user's role).",
      async (visit) => {
        const { hidden, ...options } = await hiddenFromSecond(visit)
        return [
          { get: `/v1/packages/${hidden.id}/schema`, ...options, expect: [403, 404] },
          { get: `/v1/packages?id=${hidden.id}`, ...options, expect: exactly([]) },
        ]
      },
    ],
  }),
  ...under('POST /v1/requests', 'create', {
    'packages.order-by-role': [
      '404 | Package not found, disabled, or not available to the organisation and user.',
      async (visit) => {
        const { hidden, ...options } = await hiddenFromSecond(visit)
        unless(
          hidden.status === 'ACTIVE',
          'both users see the same ACTIVE packages: --second-user takes one with fewer',
        )
        return [{ order: await bodyFor(visit, hidden, recipient), ...options, expect: 404 }]
      },
    ],
  }),
]

/** Most packages whose schemas are read. */
const maxSchemas = 12

/**
 * Shape of a recipient field. "each is `{type: string, required: boolean}`" may mean the text "string" or any string,
 * so other texts are only advice.
 */
const recipientType: Shape = (type, where) =>
  typeof type === 'string' && type !== 'string' ? [advise(`${where} is ${shown(type)}`)] : text(type, where)
const recipientField = object({ type: recipientType, required: boolean })
const schemaShape = object({
  id: integer,
  fields: object({
    recipient: object({
      first_name: recipientField,
      last_name: recipientField,
      email: recipientField,
      phone: recipientField,
    }),
    additional_information: arrayOf(
      object({
        display_name: text,
        code: text,
        fields: mapOf(
          object({
            type: oneOf('string', 'integer', 'number', 'boolean', 'array', 'object'),
            required: boolean,
            description: text,
          }),
        ),
      }),
    ),
  }),
})

/** Reads the schemas of the packages; those that cannot be read are left out. */
async function schemas(visit: Visit): Promise<[pack: ListedPackage, data: unknown][]> {
  const found: [ListedPackage, unknown][] = []
  for (const pack of (await packages(visit)).slice(0, maxSchemas)) {
    const { status, data } = await schemaOf(visit, pack.id)
    if (status === 200) found.push([pack, data])
  }
  unless(found.length > 0, 'no schema could be read')
  return found
}

const informationOf = (data: unknown): unknown[] => entries(field(data, 'fields', 'additional_information'))

/** Makes a test that returns findings about each schema. */
const findingsPerSchema =
  (wrong: (data: unknown, pack: ListedPackage) => string[]): Run =>
  async (visit) =>
    (await schemas(visit)).flatMap(([pack, data]) =>
      wrong(data, pack).map((finding) => `schema ${pack.id} ${finding}`),
    )

/** Returns a schema with its entries sorted, for comparison. */
function withSortedEntries(data: unknown): unknown {
  const sorted = informationOf(data)
    .map((entry) => ordered(entry) ?? '')
    .sort()
  const { fields, ...rest } = isObject(data) ? data : { fields: undefined }
  return { ...rest, recipient: field(fields, 'recipient'), additional_information: sorted }
}

const entryPerCheck =
  'fields.additional_information | array | One entry per check that needs extra information. Checks needing none are omitted. Empty array when nothing is needed.'

export const schemaCases: readonly Case[] = [
  ...under('GET /v1/packages/{id}/schema', 'read', {
    'schema.readable': [
      'Response 200: data = Package schema.',
      async (visit) => {
        const active = (await packages(visit))
          .filter(({ status }) => status === 'ACTIVE')
          .slice(0, maxSchemas)
        unless(active.length > 0, 'this user sees no ACTIVE package here')
        const findings: string[] = []
        for (const { id } of active) {
          const answer = await schemaOf(visit, id)
          const same = expectSame(`id of ${answer.label}`, field(answer.data, 'id'), id)
          findings.push(...expectStatus(answer, 200), ...same)
        }
        return findings
      },
    ],
  }),
  ...under('Package schema', 'read', {
    'schema.shape': [
      'fields.recipient | object | Keys first_name, last_name, email, phone; each is `{type: string, required: boolean}`. Phone uses E.164.',
      async (visit) => (await schemas(visit)).flatMap(([{ id }, data]) => schemaShape(data, `schema ${id}`)),
    ],
  }),
  ...under('Limits', 'read', {
    'schema.codes': [
      'Additional information codes | Each code at most once per request | POST /v1/requests',
      findingsPerSchema((data) =>
        repeated(informationOf(data).map((entry) => field(entry, 'code'))).map(
          (code) => `has the code ${String(code)} more than once`,
        ),
      ),
    ],
  }),
  ...under('Package schema', 'read', {
    'schema.needing-none-omitted': [
      entryPerCheck,
      findingsPerSchema((data) =>
        informationOf(data)
          .filter((entry) => ordered(field(entry, 'fields')) === '{}')
          .map((entry) => `has ${String(field(entry, 'code'))}, which needs nothing`),
      ),
    ],
    'schema.no-more-than-checks': [
      entryPerCheck,
      findingsPerSchema((data, pack) => {
        const checks = pack.checks.length + (pack.survey ? 1 : 0)
        const count = informationOf(data).length
        return when(count > checks, `has ${count} entries, its package has ${checks} checks`)
      }),
    ],
  }),
  ...under('POST /v1/requests', 'read', {
    'schema.recipient-required': [
      'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
      async (visit) =>
        (await schemas(visit)).flatMap(([{ id }, data]) =>
          Object.entries(field(data, 'fields', 'recipient') ?? {})
            .filter(([, definition]) => field(definition, 'required') === false)
            .map(([name]) => advise(`schema ${id} does not require ${name}, though every request needs it`)),
        ),
    ],
  }),
  ...under('Package status', 'read', {
    'schema.stable': [
      'the schema of an existing package id stays stable.',
      async (visit) =>
        (await schemas(visit)).slice(0, 3).map(([{ id }, data]) => ({
          get: `/v1/packages/${id}/schema`,
          note: 'read again',
          expect: (again) => expectSame(again.label, withSortedEntries(again.data), withSortedEntries(data)),
        })),
    ],
  }),
  ...under('GET /v1/packages/{id}/schema', 'read', {
    'schema.unknown-package': [
      'Errors: 401; 403 (user not an active member, or no access to the package); 404 (package not found or not available to the organisation and user); 429; 5xx.',
      async (visit) => [
        { get: `/v1/packages/${await unusedPackageId(visit)}/schema`, expect: 404 },
        { get: '/v1/packages/first/schema', expect: [400, 404] },
      ],
    ],
  }),
]
