import { advise, type Case, NotAccepted, unless } from '../case.ts'
import { type Answer, entries, field } from '../answer.ts'
import {
  acceptedId,
  type Body,
  bodyFor,
  type Information,
  packageOf,
  plainOrder,
  recipient,
  samples,
  schemaOf,
  tryOrder,
  unusedPackageId,
} from '../order.ts'
import {
  type Ask,
  type Expectations,
  expectSame,
  expectStatus,
  refused,
  type Run,
  under,
  when,
} from '../table.ts'
import { journey } from '../journey.ts'
import { object, oneOf, uuid } from '../shape.ts'
import type { Visit } from '../visit.ts'

/** Makes a test from calls that vary a body which was accepted. */
const fromPlain =
  (asks: (body: Body, visit: Visit) => Expectations | Promise<Expectations>): Run =>
  async (visit) =>
    asks((await plainOrder(visit)).body, visit)

const names = ['first_name', 'last_name', 'email', 'phone'] as const

function without<T extends object>(whole: T, name: keyof T): Partial<T> {
  const { [name]: _left, ...rest } = whole
  return rest as Partial<T>
}

/** Returns a call that must be accepted, or refused with a 400 that names one of the paths. */
const accepts = (note: string, order: unknown) => ({ order, note, expect: 201 })
const refuses = (note: string, order: unknown, ...paths: string[]) => ({
  order,
  note,
  expect: refused(...paths),
})

/**
 * Returns the response to an order. Rethrows a refusal for the order's content or the plan, since that is not a
 * breach.
 */
async function firstAnswer(visit: Visit): Promise<Answer> {
  try {
    return (await plainOrder(visit)).answer
  } catch (error) {
    const answer = error instanceof NotAccepted ? error.answer : undefined
    if (answer === undefined || answer.status === 400 || answer.status === 403) throw error
    return answer
  }
}

const packageMissing = '404 | Package not found, disabled, or not available to the organisation and user.'

export const createCases: readonly Case[] = [
  ...under('POST /v1/requests', 'create', {
    'create.accepted': [
      'Response 201: data = `{request_id: string (UUID), status: string}` where status is RECEIVED. A 201 confirms acceptance only; it does not mean checks have started or finished.',
      async (visit) => {
        const answer = await firstAnswer(visit)
        const shape = object({ request_id: uuid, status: oneOf('RECEIVED') })
        return [...expectStatus(answer, 201), ...(answer.status >= 300 ? [] : shape(answer.data, 'data'))]
      },
    ],
    'create.no-idempotency': [
      'Idempotency: no idempotency header is supported, so retrying can create a duplicate request.',
      fromPlain(async (body, visit) => {
        const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'conformance-1' }
        const first = await tryOrder(visit, body, { headers, note: 'with an Idempotency-Key' })
        const second = await tryOrder(visit, body, { headers, note: 'with the same Idempotency-Key' })
        const [one, other] = [acceptedId(first), acceptedId(second)]
        if (one === undefined || other === undefined) {
          return [...expectStatus(first, 201), ...expectStatus(second, 201)]
        }
        return when(one === other, `${second.label}: expected another request_id, got the same`)
      }),
    ],
  }),
  ...under('Limits', 'create', {
    'create.longest-phone': [
      'Recipient phone | E.164, at most 15 digits | POST /v1/requests',
      fromPlain((body) => {
        const phone = '+491234567890123'
        return [
          accepts(`with the phone ${phone} (15 digits)`, { ...body, recipient: { ...recipient, phone } }),
        ]
      }),
    ],
  }),
  ...under('POST /v1/requests', 'create', {
    'create.information-optional': [
      'additional_information | array | No | Check-specific information as defined by the package schema.',
      fromPlain((body) => {
        unless(body.additional_information === undefined, 'every package that can be ordered needs some')
        return [accepts('with an empty additional_information', { ...body, additional_information: [] })]
      }),
    ],
    'create.content-type': [
      'Headers: the two authentication headers and `Content-Type: application/json`, all required.',
      fromPlain((order) => {
        const plain = { 'Content-Type': 'text/plain' }
        const charset = { 'Content-Type': 'application/json; charset=utf-8' }
        return [
          { order, headers: {}, note: 'without Content-Type', expect: 400 },
          { order, headers: plain, note: 'as text/plain', expect: 400 },
          { order, headers: charset, note: 'as JSON in UTF-8', expect: 201 },
        ]
      }),
    ],
  }),
  ...under('Package', 'create', {
    'create.package-inactive': [
      'status | string | ACTIVE, INACTIVE or DISABLED. Only ACTIVE packages can be used to create requests.',
      async (visit) => {
        const pack = await packageOf(visit, 'INACTIVE')
        const order = await bodyFor(visit, pack, recipient)
        // If its schema cannot be read, the body may lack required fields too.
        const isRead = (await schemaOf(visit, pack.id)).status === 200
        return [{ order, note: 'for an INACTIVE package', expect: isRead ? refused('package_id') : 400 }]
      },
    ],
  }),
  ...under('POST /v1/requests', 'create', {
    'create.package-disabled': [
      packageMissing,
      async (visit) => {
        const order = await bodyFor(visit, await packageOf(visit, 'DISABLED'), recipient)
        return [{ order, note: 'for a DISABLED package', expect: 404 }]
      },
    ],
    'create.package-unknown': [
      packageMissing,
      fromPlain(async (body, visit) => {
        const order = { ...body, package_id: await unusedPackageId(visit) }
        return [{ order, note: 'for an unknown package', expect: 404 }]
      }),
    ],
  }),
  ...under('GET /v1/requests/{request_id}', 'create', {
    'create.readable': [
      'request_id | string (UUID) | From request creation.',
      async (visit) => {
        const { body, requestId } = await plainOrder(visit)
        const answer = await visit.probe.get(`/v1/requests/${requestId}`)
        const wrong = expectStatus(answer, 200)
        if (wrong.length > 0) return wrong
        const { data } = answer
        return [
          ...expectSame('request_id', field(data, 'request_id'), requestId),
          ...expectSame('package_id', field(data, 'package_id'), body.package_id),
          ...names.flatMap((name) =>
            expectSame(`recipient.${name}`, field(data, 'recipient', name), body.recipient[name]),
          ),
        ]
      },
    ],
  }),
]

const mismatch =
  '400 | client_error | Validation failure: missing or invalid field, bad JSON, unsupported query value, package not ACTIVE, schema mismatch | Fix the body, retry'
const all400 =
  '400 | Invalid JSON; missing or invalid fields; invalid phone; duplicate additional_information codes; missing schema-required fields; package not ACTIVE. The message names the offending field (shape: `<field path>: <reason>`).'
const code =
  'additional_information[].code | string | Yes | Check code from the package schema. Each code may appear only once.'
const fieldValues = 'additional_information[].fields | object | Yes | Field values per the package schema.'
const packageId = 'package_id | integer | Yes | ID of an ACTIVE package.'
const email = 'recipient.email | string | Yes | Must be a valid email address.'

const withRecipient = (body: Body, part: object): object => ({
  ...body,
  recipient: { ...recipient, ...part },
})

// A missing recipient lacks its members too, so the message may name any of these paths.
const recipientPaths = ['recipient', ...names.map((name) => `recipient.${name}`)]

export const createRefusalCases: readonly Case[] = [
  ...under('POST /v1/requests', 'create', {
    'create.invalid-json': [
      all400,
      fromPlain((body) => {
        const sent = JSON.stringify(body)
        return [
          { order: sent.slice(0, -1), note: 'with its last brace missing', expect: 400 },
          { order: '', note: 'with no body', expect: 400 },
          { order: `${sent}}`, note: 'with a brace too many', expect: 400 },
          { order: '[]', note: 'with an array for a body', expect: 400 },
          { order: 'null', note: 'with null for a body', expect: 400 },
        ]
      }),
    ],
  }),
  ...under('Errors', 'create', {
    'create.missing-fields': [
      mismatch,
      fromPlain((body) => [
        refuses('without package_id', without(body, 'package_id'), 'package_id'),
        refuses('without recipient', without(body, 'recipient'), ...recipientPaths),
        ...names.map((name) => {
          const order = { ...body, recipient: without(body.recipient, name) }
          return refuses(`without recipient.${name}`, order, `recipient.${name}`)
        }),
      ]),
    ],
  }),
  ...under('POST /v1/requests', 'create', {
    'create.wrong-types': [
      packageId,
      fromPlain((body) => {
        const id = body.package_id
        const inPackage = (note: string, package_id: unknown) =>
          refuses(note, { ...body, package_id }, 'package_id')
        const inRecipient = (note: string, name: string, value: unknown) =>
          refuses(note, withRecipient(body, { [name]: value }), `recipient.${name}`)
        return [
          inPackage('with package_id as text', String(id)),
          inPackage('with a fraction in package_id', id + 0.5),
          inPackage('with package_id null', null),
          refuses('with recipient as an array', { ...body, recipient: [] }, ...recipientPaths),
          refuses('with recipient null', { ...body, recipient: null }, ...recipientPaths),
          inRecipient('with a number for a first name', 'first_name', 7),
          inRecipient('with null for a last name', 'last_name', null),
          inRecipient('with an array for an e-mail', 'email', []),
          inRecipient('with a number for a phone', 'phone', 61_491_570_006),
        ]
      }),
    ],
    'create.email': [
      email,
      fromPlain((body) =>
        ['', 'jane', 'jane@', '@example.com', 'jane example@example.com', 'jane@@example.com'].map((wrong) =>
          refuses(`with the e-mail "${wrong}"`, withRecipient(body, { email: wrong }), 'recipient.email'),
        ),
      ),
    ],
    'create.phone': [
      'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
      fromPlain((body) => {
        const wrong = ['', '0491570006', '61491570006', '+61 491 570 006', '+61491-570-006', '+0491570006']
        return [...wrong, '+6149157000a', '+4912345678901234'].map((phone) =>
          refuses(`with the phone "${phone}"`, withRecipient(body, { phone }), 'recipient.phone'),
        )
      }),
    ],
  }),
]

/** Path of the tested entry, which is always the first. */
const first = 'additional_information[0]'

/** A body that was accepted and has an entry of additional_information with required fields. */
interface Informed {
  body: Body
  given: Information[]
  entry: Information
  /** Returns the body with another first entry. */
  instead: (entry: unknown) => object
}

const fromInformed =
  (asks: (informed: Informed, visit: Visit) => Expectations | Promise<Expectations>): Run =>
  async (visit) => {
    const { body } = (await journey(visit)).ordered
    const given = body.additional_information ?? []
    const [entry, ...others] = given
    unless(entry !== undefined, 'the ordered package needs no additional information')
    const instead = (other: unknown): object => ({ ...body, additional_information: [other, ...others] })
    return asks({ body, given, entry, instead }, visit)
  }

const fieldsAt = ({ fields }: Information, path: string): string[] =>
  Object.keys(fields).map((name) => `${path}.fields.${name}`)

/** Returns the entries of additional_information in a package's schema. */
const informationOf = async (visit: Visit, id: number): Promise<unknown[]> =>
  entries(field((await schemaOf(visit, id)).data, 'fields', 'additional_information'))

/** Values that a deployment might wrongly accept for each type. */
const misfits = new Map<unknown, unknown[]>([
  ['string', [7, true, ['Example']]],
  ['integer', [2.5, '5', true]],
  ['number', ['1.5', true]],
  ['boolean', ['true', 1]],
  ['array', [{ example: 'Example' }, 'Example']],
  ['object', [['Example'], '{}']],
])

const unknownField =
  'If creating a request returns 400 for an unknown or missing field, fetch the schema again before retrying.'
const required = '...fields.<field_name>.required | boolean | Whether the field must be supplied.'

export const createInformationCases: readonly Case[] = [
  ...under('POST /v1/requests', 'create', {
    'create.information-form': [
      fieldValues,
      fromInformed(({ body, entry, instead }) => {
        const { code: known, fields } = entry
        // Without its code, the entry is also a missing required one; the message may name either.
        const others = [first, 'additional_information', ...fieldsAt(entry, first)]
        const wrong = (note: string, name: string, sent: object) =>
          refuses(note, instead(sent), `${first}.${name}`, ...others)
        const notArray = { ...body, additional_information: {} }
        return [
          refuses('with an object for additional_information', notArray, 'additional_information'),
          wrong('without a code', 'code', { fields }),
          wrong('with a number for a code', 'code', { code: 7, fields }),
          wrong('without fields', 'fields', { code: known }),
          wrong('with an array for fields', 'fields', { code: known, fields: [] }),
          wrong('with an unknown code', 'code', { code: 'no_such_check', fields }),
        ]
      }),
    ],
    'create.duplicate-codes': [
      code,
      fromInformed(({ body, given, entry }) => {
        const order = { ...body, additional_information: [...given, entry] }
        const last = `additional_information[${given.length}]`
        const note = `with the code ${entry.code} twice`
        return [refuses(note, order, `${last}.code`, last, 'additional_information')]
      }),
    ],
  }),
  ...under('Package schema', 'create', {
    'create.information-required': [
      required,
      fromInformed(({ body, given, entry, instead }) => [
        ...Object.keys(entry.fields).map((name) => {
          const order = instead({ code: entry.code, fields: without(entry.fields, name) })
          return refuses(`without ${entry.code}.${name}`, order, `${first}.fields.${name}`)
        }),
        refuses(
          'without additional_information',
          without(body, 'additional_information'),
          'additional_information',
          first,
          ...given.flatMap((each) => fieldsAt(each, first)),
        ),
      ]),
    ],
  }),
  ...under('Errors', 'create', {
    'create.information-unknown': [
      mismatch,
      fromInformed(({ entry, instead }) => {
        const order = instead({ code: entry.code, fields: { ...entry.fields, no_such_field: 'Example' } })
        return [refuses(`with ${entry.code}.no_such_field`, order, `${first}.fields.no_such_field`)]
      }),
    ],
  }),
  ...under('Package schema', 'create', {
    'create.information-types': [
      '...fields.<field_name>.type | string | One of string, integer, number, boolean, array, object.',
      fromInformed(async ({ body, given }, visit) => {
        const schema = await informationOf(visit, body.package_id)
        return given.flatMap((entry, index) => {
          const definitions = field(
            schema.find((each) => field(each, 'code') === entry.code),
            'fields',
          )
          return Object.entries(definitions ?? {}).flatMap(([name, definition]) => {
            const type = field(definition, 'type')
            return (misfits.get(type) ?? []).map((value) => {
              const changed = { code: entry.code, fields: { ...entry.fields, [name]: value } }
              const all = given.map((each) => (each.code === entry.code ? changed : each))
              const note = `with ${entry.code}.${name} as ${JSON.stringify(value)} instead of ${String(type)}`
              const path = `additional_information[${index}].fields.${name}`
              return refuses(note, { ...body, additional_information: all }, path)
            })
          })
        })
      }),
    ],
  }),
]

/** Further valid orders, which must be accepted, and further invalid ones. */
export const createFormCases: readonly Case[] = [
  ...under('POST /v1/requests', 'create', {
    'create.valid-emails': [
      email,
      fromPlain((body) =>
        ['first.last@sub.example.com', 'o-neil_7@example.co.uk'].map((valid) =>
          accepts(`with the e-mail ${valid}`, withRecipient(body, { email: valid })),
        ),
      ),
    ],
  }),
  ...under('Request', 'create', {
    'create.kept-as-sent': [
      'recipient | object | first_name, last_name, email, phone (strings).',
      fromPlain(async (body, visit) => {
        const sent = { first_name: 'Zoë Ngọc', last_name: 'O’Brien-Łęcka 王' }
        const order = { ...body, recipient: { ...body.recipient, ...sent } }
        const answer = await tryOrder(visit, order, { note: 'with names beyond ASCII' })
        const id = acceptedId(answer)
        if (id === undefined) return expectStatus(answer, 201)
        const { data } = await visit.probe.get(`/v1/requests/${id}`)
        return Object.entries(sent).flatMap(([name, value]) =>
          expectSame(`recipient.${name}`, field(data, 'recipient', name), value),
        )
      }),
    ],
  }),
  ...under('GET /v1/packages/{id}/schema', 'create', {
    'create.unknown-fields': [
      unknownField,
      fromPlain((body) => {
        const stray = { no_such_field: 'Example' }
        // The document leaves open whether an unknown field is refused: "If creating a request returns 400 for an
        // unknown or missing field".
        const refusesOrIgnores = (path: string, order: unknown): Ask => ({
          order,
          note: `with ${path}`,
          expect: (answer) =>
            answer.status === 201
              ? [advise(`${answer.label}: the unknown field was accepted`)]
              : refused(path)(answer),
        })
        return [
          refusesOrIgnores('no_such_field', { ...body, ...stray }),
          refusesOrIgnores('recipient.no_such_field', withRecipient(body, stray)),
        ]
      }),
    ],
  }),
  ...under('POST /v1/requests', 'create', {
    'create.information-entry-left-out': [
      all400,
      fromInformed(({ body, given }) =>
        given.map((entry) => {
          const order = { ...body, additional_information: given.filter((each) => each.code !== entry.code) }
          const whole = ['additional_information', `additional_information.${entry.code}`]
          const fields = fieldsAt(entry, 'additional_information[]')
          return refuses(`without the entry ${entry.code}`, order, ...whole, ...fields)
        }),
      ),
    ],
  }),
  ...under('Package schema', 'create', {
    'create.information-null': [
      required,
      fromInformed(({ entry, instead }) => {
        const name = Object.keys(entry.fields)[0] ?? ''
        const order = instead({ code: entry.code, fields: { ...entry.fields, [name]: null } })
        return [refuses(`with ${entry.code}.${name} null`, order, `${first}.fields.${name}`)]
      }),
    ],
  }),
  ...under('POST /v1/requests', 'create', {
    'create.information-whole': [
      fieldValues,
      fromInformed(async ({ body }, visit) => {
        const whole = (await informationOf(visit, body.package_id)).map((entry) => ({
          code: field(entry, 'code'),
          fields: samples(field(entry, 'fields'), true),
        }))
        return [accepts('with every field of the schema', { ...body, additional_information: whole })]
      }),
    ],
    'create.information-of-no-check': [
      code,
      fromPlain((body) => {
        const known = body.additional_information ?? []
        const stray = { code: 'no_such_check', fields: { example: 'Example' } }
        const order = { ...body, additional_information: [...known, stray] }
        const path = `additional_information[${known.length}]`
        const note = 'with an entry that the schema does not have'
        return [refuses(note, order, `${path}.code`, `${path}.no_such_check`, path)]
      }),
    ],
    'create.package-forms': [
      packageId,
      fromPlain((body) => {
        const withId = (id: unknown, expect: Ask['expect']) => ({
          order: { ...body, package_id: id },
          note: `with package_id ${JSON.stringify(id)}`,
          expect,
        })
        const id = body.package_id
        return [
          ...[true, [id], { id }, ''].map((wrong) => withId(wrong, refused('package_id'))),
          ...[0, -1].map((wrong) => withId(wrong, [400, 404])),
        ]
      }),
    ],
  }),
]
