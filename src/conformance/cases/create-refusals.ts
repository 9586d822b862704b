import type { Case } from '../case.ts'
import { expectRefusedField, expectStatus } from '../expect.ts'
import { type Body, plainOrder, recipient, tryOrder } from '../order.ts'
import type { Visit } from '../visit.ts'

const section = 'POST /v1/requests'
const all400 =
  '400 | Invalid JSON; missing or invalid fields; invalid phone; duplicate additional_information codes; missing schema-required fields; package not ACTIVE. The message names the offending field (shape: `<field path>: <reason>`).'

/** Sends each body and expects a 400 that names the field at fault. */
async function refusedFields(
  visit: Visit,
  wrong: [note: string, path: string, body: unknown][],
): Promise<string[]> {
  const findings: string[] = []
  for (const [note, path, body] of wrong) {
    // A part that is not there lacks everything that belongs into it, too.
    const within = path === 'recipient' ? names.map((name) => `recipient.${name}`) : []
    findings.push(...expectRefusedField(await tryOrder(visit, body, { note }), path, ...within))
  }
  return findings
}

function without<T extends object>(whole: T, name: keyof T): Partial<T> {
  const { [name]: _left, ...rest } = whole
  return rest as Partial<T>
}

const names = ['first_name', 'last_name', 'email', 'phone'] as const

const withRecipient = (body: Body, part: object): object => ({
  ...body,
  recipient: { ...recipient, ...part },
})

export const createRefusalCases: readonly Case[] = [
  {
    id: 'create.invalid-json',
    section,
    rule: all400,
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const text = JSON.stringify(body)
      const broken: [string, string][] = [
        [text.slice(0, -1), 'with its last brace missing'],
        ['', 'with no body'],
        [`${text}}`, 'with a brace too many'],
        ['[]', 'with an array for a body'],
        ['null', 'with null for a body'],
      ]
      const findings: string[] = []
      for (const [sent, note] of broken)
        findings.push(...expectStatus(await tryOrder(visit, sent, { note }), 400))
      return findings
    },
  },
  {
    id: 'create.missing-fields',
    section: 'Errors',
    rule: '400 | client_error | Validation failure: missing or invalid field, bad JSON, unsupported query value, package not ACTIVE, schema mismatch | Fix the body, retry',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      return refusedFields(visit, [
        ['without package_id', 'package_id', without(body, 'package_id')],
        ['without recipient', 'recipient', without(body, 'recipient')],
        ...names.map((name): [string, string, unknown] => [
          `without recipient.${name}`,
          `recipient.${name}`,
          { ...body, recipient: without(body.recipient, name) },
        ]),
      ])
    },
  },
  {
    id: 'create.wrong-types',
    section,
    rule: 'package_id | integer | Yes | ID of an ACTIVE package.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      return refusedFields(visit, [
        ['with package_id as text', 'package_id', { ...body, package_id: String(body.package_id) }],
        ['with a fraction in package_id', 'package_id', { ...body, package_id: body.package_id + 0.5 }],
        ['with package_id null', 'package_id', { ...body, package_id: null }],
        ['with recipient as an array', 'recipient', { ...body, recipient: [] }],
        ['with recipient null', 'recipient', { ...body, recipient: null }],
        ['with a number for a first name', 'recipient.first_name', withRecipient(body, { first_name: 7 })],
        ['with null for a last name', 'recipient.last_name', withRecipient(body, { last_name: null })],
        ['with an array for an e-mail', 'recipient.email', withRecipient(body, { email: [] })],
        ['with a number for a phone', 'recipient.phone', withRecipient(body, { phone: 61_491_570_006 })],
      ])
    },
  },
  {
    id: 'create.email',
    section,
    rule: 'recipient.email | string | Yes | Must be a valid email address.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const wrong = ['', 'jane', 'jane@', '@example.com', 'jane example@example.com', 'jane@@example.com']
      return refusedFields(
        visit,
        wrong.map((email) => [
          `with the e-mail "${email}"`,
          'recipient.email',
          withRecipient(body, { email }),
        ]),
      )
    },
  },
  {
    id: 'create.phone',
    section,
    rule: 'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
    kind: 'create',
    async run(visit) {
      const { body } = await plainOrder(visit)
      const wrong = ['', '0491570006', '61491570006', '+61 491 570 006', '+61491-570-006', '+0491570006']
      return refusedFields(
        visit,
        [...wrong, '+6149157000a', '+4912345678901234'].map((phone) => [
          `with the phone "${phone}"`,
          'recipient.phone',
          withRecipient(body, { phone }),
        ]),
      )
    },
  },
]
