import { entries, field } from '../answer.ts'
import { advise } from '../advice.ts'
import { type Case, unless } from '../case.ts'
import { packages, schemaOf, unusedPackageId } from '../discoveries.ts'
import { expectSame, expectStatus, ordered } from '../expect.ts'
import { arrayOf, boolean, integer, isObject, mapOf, object, oneOf, text } from '../shape.ts'
import type { Visit } from '../visit.ts'

const section = 'Package schema'

/** Schemas of this many packages are read at most. */
const most = 12

const recipientField = object({ type: oneOf('string'), required: boolean })
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

/** The schemas that can be read, with what a finding calls them. */
async function schemas(visit: Visit): Promise<{ id: number; data: unknown }[]> {
  const found: { id: number; data: unknown }[] = []
  for (const { id } of (await packages(visit)).slice(0, most)) {
    const { status, data } = await schemaOf(visit, id)
    if (status === 200) found.push({ id, data })
  }
  unless(found.length > 0, 'no schema could be read')
  return found
}

const informationOf = (data: unknown): unknown[] => entries(field(data, 'fields', 'additional_information'))

/** A schema whose entries stand in one order, whatever order they came in. */
function unordered(data: unknown): unknown {
  const sorted = informationOf(data)
    .map((entry) => ordered(entry) ?? '')
    .sort()
  const { fields, ...rest } = isObject(data) ? data : { fields: undefined }
  return { ...rest, recipient: field(fields, 'recipient'), additional_information: sorted }
}

export const schemaCases: readonly Case[] = [
  {
    id: 'schema.readable',
    section: 'GET /v1/packages/{id}/schema',
    rule: 'Response 200: data = Package schema.',
    kind: 'read',
    async run(visit) {
      const active = (await packages(visit)).filter(({ status }) => status === 'ACTIVE').slice(0, most)
      unless(active.length > 0, 'this user sees no ACTIVE package here')
      const findings: string[] = []
      for (const { id } of active) {
        const answer = await schemaOf(visit, id)
        findings.push(
          ...expectStatus(answer, 200),
          ...expectSame(`id of ${answer.label}`, field(answer.data, 'id'), id),
        )
      }
      return findings
    },
  },
  {
    id: 'schema.shape',
    section,
    rule: 'fields.recipient | object | Keys first_name, last_name, email, phone; each is `{type: string, required: boolean}`. Phone uses E.164.',
    kind: 'read',
    async run(visit) {
      return (await schemas(visit)).flatMap(({ id, data }) => schemaShape(data, `schema ${id}`))
    },
  },
  {
    id: 'schema.codes',
    section: 'Limits',
    rule: 'Additional information codes | Each code at most once per request | POST /v1/requests',
    kind: 'read',
    async run(visit) {
      return (await schemas(visit)).flatMap(({ id, data }) => {
        const codes = informationOf(data).map((entry) => field(entry, 'code'))
        const twice = codes.filter((code, at) => codes.indexOf(code) !== at)
        return twice.map((code) => `schema ${id} has the code ${String(code)} more than once`)
      })
    },
  },
  {
    id: 'schema.needing-none-omitted',
    section,
    rule: 'fields.additional_information | array | One entry per check that needs extra information. Checks needing none are omitted. Empty array when nothing is needed.',
    kind: 'read',
    async run(visit) {
      return (await schemas(visit)).flatMap(({ id, data }) =>
        informationOf(data)
          .filter((entry) => {
            const fields = field(entry, 'fields')
            return isObject(fields) && Object.keys(fields).length === 0
          })
          .map((entry) => `schema ${id} has ${String(field(entry, 'code'))}, which needs nothing`),
      )
    },
  },
  {
    id: 'schema.no-more-than-checks',
    section,
    rule: 'fields.additional_information | array | One entry per check that needs extra information. Checks needing none are omitted. Empty array when nothing is needed.',
    kind: 'read',
    async run(visit) {
      const known = new Map((await packages(visit)).map((each) => [each.id, each]))
      return (await schemas(visit)).flatMap(({ id, data }) => {
        const pack = known.get(id)
        const checks = (pack?.checks.length ?? 0) + (pack?.survey === true ? 1 : 0)
        const count = informationOf(data).length
        return pack === undefined || count <= checks
          ? []
          : [`schema ${id} has ${count} entries, its package has ${checks} checks`]
      })
    },
  },
  {
    id: 'schema.recipient-required',
    section: 'POST /v1/requests',
    rule: 'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
    kind: 'read',
    async run(visit) {
      return (await schemas(visit)).flatMap(({ id, data }) =>
        Object.entries(field(data, 'fields', 'recipient') ?? {})
          .filter(([, definition]) => field(definition, 'required') === false)
          .map(([name]) => advise(`schema ${id} does not require ${name}, though every request needs it`)),
      )
    },
  },
  {
    id: 'schema.stable',
    section: 'Package status',
    rule: 'the schema of an existing package id stays stable.',
    kind: 'read',
    async run(visit) {
      const findings: string[] = []
      for (const { id, data } of (await schemas(visit)).slice(0, 3)) {
        const again = await visit.probe.get(`/v1/packages/${id}/schema`, { note: 'read again' })
        findings.push(...expectSame(again.label, unordered(again.data), unordered(data)))
      }
      return findings
    },
  },
  {
    id: 'schema.unknown-package',
    section: 'GET /v1/packages/{id}/schema',
    rule: 'Errors: 401; 403 (user not an active member, or no access to the package); 404 (package not found or not available to the organisation and user); 429; 5xx.',
    kind: 'read',
    async run(visit) {
      const { probe } = visit
      return [
        ...expectStatus(await probe.get(`/v1/packages/${await unusedPackageId(visit)}/schema`), 404),
        ...expectStatus(await probe.get('/v1/packages/first/schema'), 400, 404),
      ]
    },
  },
]
