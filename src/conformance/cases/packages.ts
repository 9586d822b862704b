import { advise, type Case, requireItems, requireTestable, requireValue } from '../case.ts'
import { type Answer, type Fields, fieldsOf, toEntries, readValue, formatValue } from '../answer.ts'
import {
  buildBody,
  informationIn,
  parsePackages,
  type ListedPackage,
  listPackages,
  readPackages,
  readSchema,
  requirePackages,
  requireSecondUser,
  findUnusedPackageId,
} from '../order.ts'
import {
  type ExpectedCall,
  type Findings,
  expectSame,
  expectStatus,
  expectUniqueIds,
  toSortedJson,
  expectRefusal,
  findDuplicates,
  createOrderCases,
  createReadCases,
  testEach,
  testWith,
} from '../table.ts'
import { arrayOf, boolean, integer, mapOf, nullable, object, oneOf, type Shape, text } from '../shape.ts'
import type { CaseContext } from '../case-context.ts'

const packageShape = object({
  id: integer,
  name: text,
  status: oneOf('ACTIVE', 'INACTIVE', 'DISABLED'),
  details: object({
    reference_survey: nullable(object({ id: integer, name: nullable(text), min_referees: integer })),
    background_checks: arrayOf(object({ check_name: nullable(text), partner_name: nullable(text) })),
  }),
})

const sortedIds = (all: readonly ListedPackage[]): number[] => all.map(({ id }) => id).sort((a, b) => a - b)

/** Returns a function that expects exactly these packages in the response. */
const expectPackages =
  (expected: readonly ListedPackage[]) =>
  (answer: Answer): Findings => {
    const [actualIds, expectedIds] = [parsePackages(answer), expected].map((all) => sortedIds(all).join(', '))
    return answer.status !== 200
      ? expectStatus(answer, 200)
      : [
          actualIds !== expectedIds &&
            `${answer.label}: expected the packages [${expectedIds}], got [${actualIds}]`,
        ]
  }

/** Returns a package that the first user sees and the second user does not, preferably an ACTIVE one. */
async function findHiddenPackage(context: CaseContext) {
  const identity = requireSecondUser(context)
  const secondList = await context.once('packages of the second user', () =>
    context.probe.get('/v1/packages', { identity, note: 'as the second user' }),
  )
  const visibleIds = sortedIds(parsePackages(secondList))
  const hiddenPackages = (await readPackages(context)).filter(({ id }) => !visibleIds.includes(id))
  const hidden = requireValue(
    hiddenPackages.find(({ status }) => status === 'ACTIVE') ?? hiddenPackages[0],
    'both users see the same packages: --second-user takes one with fewer',
  )
  return { hidden, identity, note: 'as a user who does not see the package' }
}

const statusFilterRule =
  'status | string | No | Filter. Allowed: active, inactive, disabled. An unsupported value gives 400.'

/** Cases about the list of packages. */
export const packageCases: readonly Case[] = [
  ...createReadCases('GET /v1/packages', {
    'packages.list': [
      'Response 200: data = `{packages: [Package]}`. No pagination; the full list is returned. INACTIVE and DISABLED packages are returned for inventory only.',
      async (context) => {
        const answer = await listPackages(context)
        return [...expectStatus(answer, 200), ...object({ packages: arrayOf(packageShape) })(answer.data, '')]
      },
    ],
  }),
  ...createReadCases('Package', {
    'packages.unique-ids': [
      'id | integer | Unique package ID. Used as `package_id` when creating a request and as `{id}` in the schema path.',
      testWith(readPackages)((packages) => expectUniqueIds(sortedIds(packages))),
    ],
  }),
  ...createReadCases('GET /v1/packages', {
    'packages.filter-status': [
      statusFilterRule,
      testWith(readPackages)((packages) =>
        ['active', 'inactive', 'disabled'].map((status) => ({
          get: `/v1/packages?status=${status}`,
          expect: expectPackages(packages.filter((each) => each.status.toLowerCase() === status)),
        })),
      ),
    ],
    'packages.filter-status-unsupported': [
      statusFilterRule,
      ['paused', 'ACTIVE', 'active,inactive'].map((status) => ({
        get: `/v1/packages?status=${status}`,
        expect: expectRefusal('status'),
      })),
    ],
    'packages.filter-id': [
      'id | integer | No | Filter by package ID.',
      async (context) => {
        const [pack] = await readPackages(context)
        // The values of the filter that select the package, and that do not.
        const [activeOrInactive, otherStatus] =
          pack?.status === 'ACTIVE' ? ['active', 'inactive'] : ['inactive', 'active']
        const status = pack?.status === 'DISABLED' ? 'disabled' : activeOrInactive
        const listOf = (query: string, ...packages: ListedPackage[]): ExpectedCall => ({
          get: `/v1/packages?id=${query}`,
          expect: expectPackages(packages),
        })
        return [
          listOf(String(await findUnusedPackageId(context))),
          // 400 is documented for an unsupported status alone: for an id that is not a number, 200 with no
          // package or with all is allowed too.
          { get: '/v1/packages?id=first', expect: [200, 400] },
          pack && listOf(`${pack.id}`, pack),
          pack && listOf(`${pack.id}&status=${status}`, pack),
          pack && listOf(`${pack.id}&status=${otherStatus}`),
        ]
      },
    ],
  }),
  ...createReadCases('Limits', {
    'packages.no-pagination': [
      'Pagination | None; packages and users are returned in full | GET /v1/packages, GET /v1/users',
      async (context) => {
        const answer = await context.probe.get('/v1/packages?page=2&limit=1&per_page=1&offset=1')
        return answer.status === 400 ? [] : expectPackages(await readPackages(context))(answer)
      },
    ],
  }),
  ...createReadCases('GET /v1/packages', {
    'packages.by-role': [
      "Returns packages available to the organisation and the user (availability depends on the user's role).",
      async (context) => {
        const { hidden, ...options } = await findHiddenPackage(context)
        return [
          { get: `/v1/packages/${hidden.id}/schema`, ...options, expect: [403, 404] },
          { get: `/v1/packages?id=${hidden.id}`, ...options, expect: expectPackages([]) },
        ]
      },
    ],
  }),
  ...createOrderCases('POST /v1/requests', {
    'packages.order-by-role': [
      '404 | Package not found, disabled, or not available to the organisation and user.',
      async (context) => {
        const { hidden, ...options } = await findHiddenPackage(context)
        requireTestable(
          hidden.status === 'ACTIVE',
          'both users see the same ACTIVE packages: --second-user takes one with fewer',
        )
        return [{ order: await buildBody(context, hidden), ...options, expect: 404 }]
      },
    ],
  }),
]

/** Maximum number of packages whose schemas are read. */
const maxSchemas = 12

/**
 * Shape of a recipient field. "each is `{type: string, required: boolean}`" may mean the text "string" or any string,
 * so any other text is reported only as advice.
 */
const recipientType: Shape = (type, where) =>
  typeof type === 'string' && type !== 'string'
    ? [advise(`${where} is ${formatValue(type)}`)]
    : text(type, where)
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

interface PackageSchema {
  pack: ListedPackage
  data: unknown
  /** The entries of additional_information. */
  information: Fields[]
}

/** Returns the schemas that can be read. */
async function readSchemas(context: CaseContext): Promise<PackageSchema[]> {
  const schemas: PackageSchema[] = []
  for (const pack of (await readPackages(context)).slice(0, maxSchemas)) {
    const { status, data } = await readSchema(context, pack.id)
    if (status === 200) schemas.push({ pack, data, information: informationIn(data) })
  }
  return requireItems(schemas, 'no schema could be read')
}

const testEachSchema = testEach(readSchemas, ({ pack }) => `schema ${pack.id} `)

/** Returns a schema with its entries sorted, so that two schemas can be compared. */
function withSortedEntries(data: unknown): unknown {
  const { fields, ...otherFields } = fieldsOf(data)
  const { recipient: recipientFields, additional_information: entries } = fieldsOf(fields)
  return {
    ...otherFields,
    recipient: recipientFields,
    additional_information: toEntries(entries)
      .map((entry) => toSortedJson(entry) ?? '')
      .sort(),
  }
}

const entryPerCheckRule =
  'fields.additional_information | array | One entry per check that needs extra information. Checks needing none are omitted. Empty array when nothing is needed.'

/** Cases about the schemas of packages. */
export const schemaCases: readonly Case[] = [
  ...createReadCases('GET /v1/packages/{id}/schema', {
    'schema.readable': [
      'Response 200: data = Package schema.',
      async (context) => {
        const activePackages = (await requirePackages(context, 'ACTIVE')).slice(0, maxSchemas)
        const findings: string[] = []
        for (const { id } of activePackages) {
          const answer = await readSchema(context, id)
          const idFindings = expectSame(`id of ${answer.label}`, readValue(answer.data, 'id'), id)
          findings.push(...expectStatus(answer, 200), ...idFindings)
        }
        return findings
      },
    ],
  }),
  ...createReadCases('Package schema', {
    'schema.shape': [
      'fields.recipient | object | Keys first_name, last_name, email, phone; each is `{type: string, required: boolean}`. Phone uses E.164.',
      testWith(readSchemas)((schemas) =>
        schemas.flatMap(({ pack, data }) => schemaShape(data, `schema ${pack.id}`)),
      ),
    ],
  }),
  ...createReadCases('Limits', {
    'schema.codes': [
      'Additional information codes | Each code at most once per request | POST /v1/requests',
      testEachSchema(({ information }) =>
        findDuplicates(information.map(({ code }) => code)).map(
          (code) => `has the code ${String(code)} more than once`,
        ),
      ),
    ],
  }),
  ...createReadCases('Package schema', {
    'schema.needing-none-omitted': [
      entryPerCheckRule,
      testEachSchema(({ information }) =>
        information
          .filter(({ fields }) => toSortedJson(fields) === '{}')
          .map(({ code }) => `has ${String(code)}, which needs nothing`),
      ),
    ],
    'schema.no-more-than-checks': [
      entryPerCheckRule,
      testEachSchema(({ pack: { checks, hasSurvey }, information: { length } }) => {
        const checkCount = checks.length + (hasSurvey ? 1 : 0)
        return [length > checkCount && `has ${length} entries, its package has ${checkCount} checks`]
      }),
    ],
  }),
  ...createReadCases('POST /v1/requests', {
    'schema.recipient-required': [
      'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
      async (context) =>
        (await readSchemas(context)).flatMap(({ pack, data }) =>
          Object.entries(readValue(data, 'fields', 'recipient') ?? {})
            .filter(([, definition]) => readValue(definition, 'required') === false)
            .map(([name]) =>
              advise(`schema ${pack.id} does not require ${name}, though every request needs it`),
            ),
        ),
    ],
  }),
  ...createReadCases('Package status', {
    'schema.stable': [
      'the schema of an existing package id stays stable.',
      async (context) =>
        (await readSchemas(context)).slice(0, 3).map(({ pack, data }) => ({
          get: `/v1/packages/${pack.id}/schema`,
          note: 'read again',
          expect: (answer) =>
            expectSame(answer.label, withSortedEntries(answer.data), withSortedEntries(data)),
        })),
    ],
  }),
  ...createReadCases('GET /v1/packages/{id}/schema', {
    'schema.unknown-package': [
      'Errors: 401; 403 (user not an active member, or no access to the package); 404 (package not found or not available to the organisation and user); 429; 5xx.',
      async (context) => [
        { get: `/v1/packages/${await findUnusedPackageId(context)}/schema`, expect: 404 },
        { get: '/v1/packages/first/schema', expect: [400, 404] },
      ],
    ],
  }),
]
