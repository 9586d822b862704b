import { entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { schemaOf } from '../discoveries.ts'
import { expectRefusedField, expectSame, expectStatus } from '../expect.ts'
import { journey } from '../journey.ts'
import {
  acceptedId,
  type Body,
  type Information,
  plainOrder,
  recipient,
  samples,
  tryOrder,
} from '../order.ts'
import type { Visit } from '../visit.ts'

const section = 'POST /v1/requests'

const informationOf = async (visit: Visit, id: number): Promise<unknown[]> =>
  entries(field((await schemaOf(visit, id)).data, 'fields', 'additional_information'))

/** The order with the most information that was accepted. */
async function rich(visit: Visit): Promise<{ body: Body; given: Information[] }> {
  const { body } = (await journey(visit)).ordered
  const given = body.additional_information ?? []
  unless(given.length > 0, 'the ordered package needs no additional information')
  return { body, given }
}

/** What else is valid and has to be accepted, and what else is not. */
export const createFormCases: readonly Case[] = [
  {
    id: 'create.valid-emails',
    section,
    rule: 'recipient.email | string | Yes | Must be a valid email address.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const findings: string[] = []
      for (const email of ['first.last@sub.example.com', 'o-neil_7@example.co.uk']) {
        const order = { ...body, recipient: { ...recipient, email } }
        findings.push(
          ...expectStatus(await tryOrder(visit, order, { note: `with the e-mail ${email}` }), 201),
        )
      }
      return findings
    },
  },
  {
    id: 'create.kept-as-sent',
    section: 'Request',
    rule: 'recipient | object | first_name, last_name, email, phone (strings).',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const names = { first_name: 'Zoë Ngọc', last_name: 'O’Brien-Łęcka 王' }
      const order = { ...body, recipient: { ...body.recipient, ...names } }
      const answer = await tryOrder(visit, order, { note: 'with names beyond ASCII' })
      const id = acceptedId(answer)
      if (id === undefined) return expectStatus(answer, 201)
      const { data } = await visit.probe.get(`/v1/requests/${id}`)
      return Object.entries(names).flatMap(([name, value]) =>
        expectSame(`recipient.${name}`, field(data, 'recipient', name), value),
      )
    },
  },
  {
    id: 'create.unknown-fields',
    section: 'GET /v1/packages/{id}/schema',
    rule: 'If creating a request returns 400 for an unknown or missing field, fetch the schema again before retrying.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const wrong: [path: string, body: unknown][] = [
        ['no_such_field', { ...body, no_such_field: 'Example' }],
        ['recipient.no_such_field', { ...body, recipient: { ...body.recipient, no_such_field: 'Example' } }],
      ]
      const findings: string[] = []
      for (const [path, sent] of wrong) {
        findings.push(...expectRefusedField(await tryOrder(visit, sent, { note: `with ${path}` }), path))
      }
      return findings
    },
  },
  {
    id: 'create.information-entry-left-out',
    section,
    rule: '400 | Invalid JSON; missing or invalid fields; invalid phone; duplicate additional_information codes; missing schema-required fields; package not ACTIVE. The message names the offending field (shape: `<field path>: <reason>`).',
    kind: 'create',
    async run(visit) {
      const { body, given } = await rich(visit)
      const findings: string[] = []
      for (const { code, fields } of given) {
        const others = given.filter((each) => each.code !== code)
        const note = `without the entry ${code}`
        const answer = await tryOrder(visit, { ...body, additional_information: others }, { note })
        const places = Object.keys(fields).map((name) => `additional_information[].fields.${name}`)
        const whole = ['additional_information', `additional_information.${code}`]
        findings.push(...expectRefusedField(answer, ...whole, ...places))
      }
      return findings
    },
  },
  {
    id: 'create.information-null',
    section: 'Package schema',
    rule: '...fields.<field_name>.required | boolean | Whether the field must be supplied.',
    kind: 'create',
    async run(visit) {
      const { body, given } = await rich(visit)
      const [entry, ...others] = given
      const name = Object.keys(entry?.fields ?? {})[0] ?? ''
      const empty = { code: entry?.code, fields: { ...entry?.fields, [name]: null } }
      const note = `with ${entry?.code}.${name} null`
      const answer = await tryOrder(visit, { ...body, additional_information: [empty, ...others] }, { note })
      return expectRefusedField(answer, `additional_information[0].fields.${name}`)
    },
  },
  {
    id: 'create.information-whole',
    section,
    rule: 'additional_information[].fields | object | Yes | Field values per the package schema.',
    kind: 'create',
    async run(visit) {
      const { body } = await rich(visit)
      const whole = (await informationOf(visit, body.package_id)).map((entry) => ({
        code: field(entry, 'code'),
        fields: samples(field(entry, 'fields'), true),
      }))
      const note = 'with every field of the schema'
      return expectStatus(await tryOrder(visit, { ...body, additional_information: whole }, { note }), 201)
    },
  },
  {
    id: 'create.information-of-no-check',
    section,
    rule: 'additional_information[].code | string | Yes | Check code from the package schema. Each code may appear only once.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const known = body.additional_information ?? []
      const stray = { code: 'no_such_check', fields: { example: 'Example' } }
      const sent = { ...body, additional_information: [...known, stray] }
      const answer = await tryOrder(visit, sent, { note: 'with an entry that the schema does not have' })
      const place = `additional_information[${known.length}]`
      return expectRefusedField(answer, `${place}.code`, `${place}.no_such_check`, place)
    },
  },
  {
    id: 'create.package-forms',
    section,
    rule: 'package_id | integer | Yes | ID of an ACTIVE package.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const findings: string[] = []
      for (const id of [true, [body.package_id], { id: body.package_id }, '']) {
        const note = `with package_id ${JSON.stringify(id)}`
        findings.push(
          ...expectRefusedField(await tryOrder(visit, { ...body, package_id: id }, { note }), 'package_id'),
        )
      }
      for (const id of [0, -1]) {
        const note = `with package_id ${id}`
        findings.push(...expectStatus(await tryOrder(visit, { ...body, package_id: id }, { note }), 400, 404))
      }
      return findings
    },
  },
]
