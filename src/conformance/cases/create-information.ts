import { entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { schemaOf } from '../discoveries.ts'
import { expectRefusedField } from '../expect.ts'
import { journey } from '../journey.ts'
import { type Body, type Information, tryOrder } from '../order.ts'
import type { Visit } from '../visit.ts'

const section = 'POST /v1/requests'

/** Where the entry under examination stands; it is always the first. */
const first = 'additional_information[0]'

/** A body that was accepted, with an entry of it whose schema requires something. */
interface Informed {
  body: Body
  entry: Information
  others: Information[]
}

async function informed(visit: Visit): Promise<Informed> {
  const { body } = (await journey(visit)).ordered
  const [entry, ...others] = body.additional_information ?? []
  unless(entry !== undefined, 'the ordered package needs no additional information')
  return { body, entry, others }
}

/** The body with this in place of its first entry. */
const instead = ({ body, others }: Informed, entry: unknown): object => ({
  ...body,
  additional_information: [entry, ...others],
})

export const createInformationCases: readonly Case[] = [
  {
    id: 'create.information-form',
    section,
    rule: 'additional_information[].fields | object | Yes | Field values per the package schema.',
    kind: 'create',
    async run(visit) {
      const found = await informed(visit)
      const { code, fields } = found.entry
      const wrong: [note: string, path: string, entry: unknown][] = [
        ['without a code', `${first}.code`, { fields }],
        ['with a number for a code', `${first}.code`, { code: 7, fields }],
        ['without fields', `${first}.fields`, { code }],
        ['with an array for fields', `${first}.fields`, { code, fields: [] }],
        ['with an unknown code', `${first}.code`, { code: 'no_such_check', fields }],
      ]
      const notArray = { ...found.body, additional_information: {} }
      const answer = await tryOrder(visit, notArray, { note: 'with an object for additional_information' })
      const findings = expectRefusedField(answer, 'additional_information')
      for (const [note, path, entry] of wrong) {
        findings.push(
          ...expectRefusedField(
            await tryOrder(visit, instead(found, entry), { note }),
            path,
            first,
            // Without its code the entry is also one that is required and missing; either may be told.
            'additional_information',
            ...Object.keys(fields).map((name) => `${first}.fields.${name}`),
          ),
        )
      }
      return findings
    },
  },
  {
    id: 'create.duplicate-codes',
    section,
    rule: 'additional_information[].code | string | Yes | Check code from the package schema. Each code may appear only once.',
    kind: 'create',
    async run(visit) {
      const { body, entry } = await informed(visit)
      const twice = [...(body.additional_information ?? []), entry]
      const note = `with the code ${entry.code} twice`
      const answer = await tryOrder(visit, { ...body, additional_information: twice }, { note })
      const last = `additional_information[${twice.length - 1}]`
      return expectRefusedField(answer, `${last}.code`, last, 'additional_information')
    },
  },
  {
    id: 'create.information-required',
    section: 'Package schema',
    rule: '...fields.<field_name>.required | boolean | Whether the field must be supplied.',
    kind: 'create',
    async run(visit) {
      const found = await informed(visit)
      const { code, fields } = found.entry
      const findings: string[] = []
      for (const name of Object.keys(fields)) {
        const { [name]: _left, ...rest } = fields
        const note = `without ${code}.${name}`
        const answer = await tryOrder(visit, instead(found, { code, fields: rest }), { note })
        findings.push(...expectRefusedField(answer, `${first}.fields.${name}`))
      }
      const { additional_information: all = [], ...bare } = found.body
      const places = all.flatMap((entry) =>
        Object.keys(entry.fields).map((name) => `${first}.fields.${name}`),
      )
      const answer = await tryOrder(visit, bare, { note: 'without additional_information' })
      return [...findings, ...expectRefusedField(answer, 'additional_information', first, ...places)]
    },
  },
  {
    id: 'create.information-unknown',
    section: 'GET /v1/packages/{id}/schema',
    rule: 'If creating a request returns 400 for an unknown or missing field, fetch the schema again before retrying.',
    kind: 'create',
    async run(visit) {
      const found = await informed(visit)
      const { code, fields } = found.entry
      const entry = { code, fields: { ...fields, no_such_field: 'Example' } }
      const note = `with ${code}.no_such_field`
      return expectRefusedField(
        await tryOrder(visit, instead(found, entry), { note }),
        `${first}.fields.no_such_field`,
      )
    },
  },
  {
    id: 'create.information-types',
    section: 'Package schema',
    rule: '...fields.<field_name>.type | string | One of string, integer, number, boolean, array, object.',
    kind: 'create',
    async run(visit) {
      const { body } = await informed(visit)
      const findings: string[] = []
      for (const [place, { code, fields }] of (body.additional_information ?? []).entries()) {
        for (const [name, type] of await typesOf(visit, body.package_id, code)) {
          for (const value of misfits(type)) {
            const changed = (body.additional_information ?? []).map((each) =>
              each.code === code ? { code, fields: { ...fields, [name]: value } } : each,
            )
            const note = `with ${code}.${name} as ${JSON.stringify(value)} instead of ${String(type)}`
            const answer = await tryOrder(visit, { ...body, additional_information: changed }, { note })
            findings.push(...expectRefusedField(answer, `additional_information[${place}].fields.${name}`))
          }
        }
      }
      return findings
    },
  },
]

/** Field names of a code's schema, with their types. */
async function typesOf(visit: Visit, id: number, code: string): Promise<Map<string, unknown>> {
  const schema = entries(field((await schemaOf(visit, id)).data, 'fields', 'additional_information'))
  const fields = field(
    schema.find((each) => field(each, 'code') === code),
    'fields',
  )
  return new Map(Object.entries(fields ?? {}).map(([name, definition]) => [name, field(definition, 'type')]))
}

/** Values that are not of the type, and might be taken for it. */
function misfits(type: unknown): unknown[] {
  switch (type) {
    case 'string':
      return [7, true, ['Example']]
    case 'integer':
      return [2.5, '5', true]
    case 'number':
      return ['1.5', true]
    case 'boolean':
      return ['true', 1]
    case 'array':
      return [{ example: 'Example' }, 'Example']
    case 'object':
      return [['Example'], '{}']
    default:
      return []
  }
}
