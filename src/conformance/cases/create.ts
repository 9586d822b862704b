import { advise, type Case, NotAcceptedError, requireItems, requireTestable } from '../case.ts'
import { type Answer, fieldsOf, readValue } from '../answer.ts'
import {
  findAcceptedId,
  type Body,
  buildBody,
  type Information,
  readInformation,
  requirePackages,
  orderSimplestPackage,
  recipient,
  createSampleFields,
  readSchema,
  sendOrder,
  findUnusedPackageId,
} from '../order.ts'
import {
  type ExpectedCall,
  expectSame,
  expectStatus,
  expectRefusal,
  createOrderCases,
  testWith,
} from '../table.ts'
import { requireFollowedRequest } from '../journey.ts'
import { object, oneOf, uuid } from '../shape.ts'
import type { CaseContext } from '../case-context.ts'

/** Returns a test whose calls vary an order that was accepted. */
const testFromAccepted = testWith(async (context) => (await orderSimplestPackage(context)).body)

const recipientNames = ['first_name', 'last_name', 'email', 'phone'] as const

/** Returns findings unless a recipient of a read has these values. */
const expectSameRecipient = (actual: unknown, expected: object): string[] =>
  Object.entries(expected).flatMap(([name, value]) =>
    expectSame(`recipient.${name}`, readValue(actual, name), value),
  )

type Path = readonly (string | number)[]

/** Returns a body with another value at a path. `undefined` removes the value that is there. */
function withValue(body: Body, path: Path, value: unknown): object {
  const changedBody = structuredClone(body)
  const parent = readValue(changedBody, ...path.slice(0, -1)) as Record<string | number, unknown>
  parent[path.at(-1) ?? ''] = value
  return changedBody
}

/** Returns a path as the API names it, such as "additional_information[0].code". */
const formatPath = (path: Path): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1)

/** Returns the call with an order that must be accepted. */
const accept = (note: string, order: unknown): ExpectedCall => ({ order, note, expect: 201 })

/**
 * Returns the call with an accepted body that has another value at a path. It must be refused with a 400 whose message
 * names the path or one of the others.
 */
const refuse = (
  note: string,
  body: Body,
  path: Path,
  value: unknown,
  ...otherPaths: string[]
): ExpectedCall => ({
  order: withValue(body, path, value),
  note,
  expect: expectRefusal(formatPath(path), ...otherPaths),
})

/**
 * Returns the response to an order. Rethrows the error if the order was refused for its content or for the
 * organisation's plan, since neither is a breach of the API document.
 */
async function findOrderAnswer(context: CaseContext): Promise<Answer> {
  try {
    return (await orderSimplestPackage(context)).answer
  } catch (error) {
    const answer = error instanceof NotAcceptedError ? error.answer : undefined
    if (answer === undefined || answer.status === 400 || answer.status === 403) throw error
    return answer
  }
}

const packageMissingRule = '404 | Package not found, disabled, or not available to the organisation and user.'

/** Cases about valid orders and their headers, and about packages that cannot be ordered. */
export const createCases: readonly Case[] = [
  ...createOrderCases('POST /v1/requests', {
    'create.accepted': [
      'Response 201: data = `{request_id: string (UUID), status: string}` where status is RECEIVED. A 201 confirms acceptance only; it does not mean checks have started or finished.',
      async (context) => {
        const answer = await findOrderAnswer(context)
        const shape = object({ request_id: uuid, status: oneOf('RECEIVED') })
        return [...expectStatus(answer, 201), ...(answer.status >= 300 ? [] : shape(answer.data, 'data'))]
      },
    ],
    'create.no-idempotency': [
      'Idempotency: no idempotency header is supported, so retrying can create a duplicate request.',
      testFromAccepted(async (body, context) => {
        const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'conformance-1' }
        const first = await sendOrder(context, body, { headers, note: 'with an Idempotency-Key' })
        const second = await sendOrder(context, body, { headers, note: 'with the same Idempotency-Key' })
        const [firstId, secondId] = [findAcceptedId(first), findAcceptedId(second)]
        if (firstId === undefined || secondId === undefined) {
          return [...expectStatus(first, 201), ...expectStatus(second, 201)]
        }
        return [firstId === secondId && `${second.label}: expected another request_id, got the same`]
      }),
    ],
  }),
  ...createOrderCases('Limits', {
    'create.longest-phone': [
      'Recipient phone | E.164, at most 15 digits | POST /v1/requests',
      testFromAccepted((body) => {
        const phone = '+491234567890123'
        return [
          accept(`with the phone ${phone} (15 digits)`, { ...body, recipient: { ...recipient, phone } }),
        ]
      }),
    ],
  }),
  ...createOrderCases('POST /v1/requests', {
    'create.information-optional': [
      'additional_information | array | No | Check-specific information as defined by the package schema.',
      testFromAccepted((body) => {
        const needsNone = body.additional_information === undefined
        requireTestable(needsNone, 'every package that can be ordered needs some')
        const order = { ...body, additional_information: [] }
        return [accept('with an empty additional_information', order)]
      }),
    ],
    'create.content-type': [
      'Headers: the two authentication headers and `Content-Type: application/json`, all required.',
      testFromAccepted((order) => {
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
  ...createOrderCases('Package', {
    'create.package-inactive': [
      'status | string | ACTIVE, INACTIVE or DISABLED. Only ACTIVE packages can be used to create requests.',
      async (context) => {
        const [pack] = await requirePackages(context, 'INACTIVE')
        const order = await buildBody(context, pack)
        // If the schema of the package cannot be read, the body may also lack required fields.
        const isSchemaReadable = (await readSchema(context, pack.id)).status === 200
        const expect = isSchemaReadable ? expectRefusal('package_id') : 400
        return [{ order, note: 'for an INACTIVE package', expect }]
      },
    ],
  }),
  ...createOrderCases('POST /v1/requests', {
    'create.package-disabled': [
      packageMissingRule,
      async (context) => {
        const [pack] = await requirePackages(context, 'DISABLED')
        const order = await buildBody(context, pack)
        return [{ order, note: 'for a DISABLED package', expect: 404 }]
      },
    ],
    'create.package-unknown': [
      packageMissingRule,
      testFromAccepted(async (body, context) => {
        const order = { ...body, package_id: await findUnusedPackageId(context) }
        return [{ order, note: 'for an unknown package', expect: 404 }]
      }),
    ],
  }),
  ...createOrderCases('GET /v1/requests/{request_id}', {
    'create.readable': [
      'request_id | string (UUID) | From request creation.',
      async (context) => {
        const { body, requestId } = await orderSimplestPackage(context)
        const answer = await context.probe.get(`/v1/requests/${requestId}`)
        if (answer.status !== 200) return expectStatus(answer, 200)
        const { request_id, package_id, recipient: storedRecipient } = answer.fields
        return [
          ...expectSame('request_id', request_id, requestId),
          ...expectSame('package_id', package_id, body.package_id),
          ...expectSameRecipient(storedRecipient, body.recipient),
        ]
      },
    ],
  }),
]

const mismatchRule =
  '400 | client_error | Validation failure: missing or invalid field, bad JSON, unsupported query value, package not ACTIVE, schema mismatch | Fix the body, retry'
const status400Rule =
  '400 | Invalid JSON; missing or invalid fields; invalid phone; duplicate additional_information codes; missing schema-required fields; package not ACTIVE. The message names the offending field (shape: `<field path>: <reason>`).'
const codeRule =
  'additional_information[].code | string | Yes | Check code from the package schema. Each code may appear only once.'
const fieldValuesRule =
  'additional_information[].fields | object | Yes | Field values per the package schema.'
const packageIdRule = 'package_id | integer | Yes | ID of an ACTIVE package.'
const emailRule = 'recipient.email | string | Yes | Must be a valid email address.'

const wrongPhones = [
  '',
  '0491570006',
  '61491570006',
  '+61 491 570 006',
  '+61491-570-006',
  '+0491570006',
  '+6149157000a',
  '+4912345678901234',
]

/** Cases about invalid orders, except those with invalid additional_information. */
export const createRefusalCases: readonly Case[] = [
  ...createOrderCases('POST /v1/requests', {
    'create.invalid-json': [
      status400Rule,
      testFromAccepted((body) => {
        const text = JSON.stringify(body)
        return [
          { order: text.slice(0, -1), note: 'with its last brace missing', expect: 400 },
          { order: '', note: 'with no body', expect: 400 },
          { order: `${text}}`, note: 'with a brace too many', expect: 400 },
          { order: '[]', note: 'with an array for a body', expect: 400 },
          { order: 'null', note: 'with null for a body', expect: 400 },
        ]
      }),
    ],
  }),
  ...createOrderCases('Errors', {
    'create.missing-fields': [
      mismatchRule,
      testFromAccepted((body) => [
        refuse('without package_id', body, ['package_id'], undefined),
        refuse('without recipient', body, ['recipient'], undefined),
        ...recipientNames.map((name) =>
          refuse(`without recipient.${name}`, body, ['recipient', name], undefined),
        ),
      ]),
    ],
  }),
  ...createOrderCases('POST /v1/requests', {
    'create.wrong-types': [
      packageIdRule,
      testFromAccepted((body) => [
        refuse('with package_id as text', body, ['package_id'], String(body.package_id)),
        refuse('with a fraction in package_id', body, ['package_id'], body.package_id + 0.5),
        refuse('with package_id null', body, ['package_id'], null),
        refuse('with recipient as an array', body, ['recipient'], []),
        refuse('with recipient null', body, ['recipient'], null),
        refuse('with a number for a first name', body, ['recipient', 'first_name'], 7),
        refuse('with null for a last name', body, ['recipient', 'last_name'], null),
        refuse('with an array for an e-mail', body, ['recipient', 'email'], []),
        refuse('with a number for a phone', body, ['recipient', 'phone'], 61_491_570_006),
      ]),
    ],
    'create.email': [
      emailRule,
      testFromAccepted((body) =>
        ['', 'jane', 'jane@', '@example.com', 'jane example@example.com', 'jane@@example.com'].map((email) =>
          refuse(`with the e-mail "${email}"`, body, ['recipient', 'email'], email),
        ),
      ),
    ],
    'create.phone': [
      'recipient.phone | string | Yes | E.164 format with country calling code; at most 15 digits.',
      testFromAccepted((body) =>
        wrongPhones.map((phone) => refuse(`with the phone "${phone}"`, body, ['recipient', 'phone'], phone)),
      ),
    ],
  }),
]

const information = 'additional_information'
/** Path of the tested entry, which is always the first one. */
const firstEntry = [information, 0] as const

/** A body that was accepted and has entries of additional_information with required fields. */
interface BodyWithInformation {
  body: Body
  entries: [Information, ...Information[]]
}

/** Returns the followed order, which was accepted. Throws a NotTestableError if it has no additional_information. */
async function requireInformation(context: CaseContext): Promise<BodyWithInformation> {
  const { body } = (await requireFollowedRequest(context)).order
  const reason = 'the ordered package needs no additional information'
  return { body, entries: requireItems(body.additional_information ?? [], reason) }
}

/** Returns a test whose calls vary an accepted order that has additional_information. */
const testWithInformation = testWith(requireInformation)

/** Values that a deployment might wrongly accept for each type. */
const wrongValues = new Map<unknown, unknown[]>([
  ['string', [7, true, ['Example']]],
  ['integer', [2.5, '5', true]],
  ['number', ['1.5', true]],
  ['boolean', ['true', 1]],
  ['array', [{ example: 'Example' }, 'Example']],
  ['object', [['Example'], '{}']],
])

const unknownFieldRule =
  'If creating a request returns 400 for an unknown or missing field, fetch the schema again before retrying.'
const requiredRule = '...fields.<field_name>.required | boolean | Whether the field must be supplied.'

/** Cases about orders with invalid additional_information. */
export const createInformationCases: readonly Case[] = [
  ...createOrderCases('POST /v1/requests', {
    'create.information-form': [
      fieldValuesRule,
      testWithInformation(({ body }) => {
        // An entry without its code also means that the required entry is missing, so the message may name
        // either.
        const refuseEntry = (note: string, name: string, value: unknown) =>
          refuse(note, body, [...firstEntry, name], value, information)
        return [
          refuse('with an object for additional_information', body, [information], {}),
          refuseEntry('without a code', 'code', undefined),
          refuseEntry('with a number for a code', 'code', 7),
          refuseEntry('without fields', 'fields', undefined),
          refuseEntry('with an array for fields', 'fields', []),
          refuseEntry('with an unknown code', 'code', 'no_such_check'),
        ]
      }),
    ],
    'create.duplicate-codes': [
      codeRule,
      testWithInformation(({ body, entries }) => [
        {
          order: { ...body, additional_information: [...entries, entries[0]] },
          note: `with the code ${entries[0].code} twice`,
          expect: expectRefusal(`${information}[${entries.length}].code`, information),
        },
      ]),
    ],
  }),
  ...createOrderCases('Package schema', {
    'create.information-required': [
      requiredRule,
      testWithInformation(({ body, entries: [{ code, fields }] }) => [
        ...Object.keys(fields).map((name) =>
          refuse(`without ${code}.${name}`, body, [...firstEntry, 'fields', name], undefined),
        ),
        refuse('without additional_information', body, [information], undefined),
      ]),
    ],
  }),
  ...createOrderCases('Errors', {
    'create.information-unknown': [
      mismatchRule,
      testWithInformation(({ body, entries: [{ code }] }) => [
        refuse(`with ${code}.no_such_field`, body, [...firstEntry, 'fields', 'no_such_field'], 'Example'),
      ]),
    ],
  }),
  ...createOrderCases('Package schema', {
    'create.information-types': [
      '...fields.<field_name>.type | string | One of string, integer, number, boolean, array, object.',
      testWithInformation(async ({ body, entries }, context) => {
        const schemaEntries = await readInformation(context, body.package_id)
        return entries.flatMap(({ code }, index) => {
          const definitions = fieldsOf(schemaEntries.find((each) => each.code === code)?.fields)
          return Object.entries(definitions).flatMap(([name, definition]) => {
            const type = readValue(definition, 'type')
            return (wrongValues.get(type) ?? []).map((value) => {
              const note = `with ${code}.${name} as ${JSON.stringify(value)} instead of ${String(type)}`
              return refuse(note, body, [information, index, 'fields', name], value)
            })
          })
        })
      }),
    ],
  }),
]

/** Cases with further valid orders, which must be accepted, and with further invalid orders. */
export const createFormCases: readonly Case[] = [
  ...createOrderCases('POST /v1/requests', {
    'create.valid-emails': [
      emailRule,
      testFromAccepted((body) =>
        ['first.last@sub.example.com', 'o-neil_7@example.co.uk'].map((email) =>
          accept(`with the e-mail ${email}`, withValue(body, ['recipient', 'email'], email)),
        ),
      ),
    ],
  }),
  ...createOrderCases('Request', {
    'create.kept-as-sent': [
      'recipient | object | first_name, last_name, email, phone (strings).',
      testFromAccepted(async (body, context) => {
        const names = { first_name: 'Zoë Ngọc', last_name: 'O’Brien-Łęcka 王' }
        const order = { ...body, recipient: { ...body.recipient, ...names } }
        const answer = await sendOrder(context, order, { note: 'with names beyond ASCII' })
        const id = findAcceptedId(answer)
        if (id === undefined) return expectStatus(answer, 201)
        const { fields } = await context.probe.get(`/v1/requests/${id}`)
        return expectSameRecipient(fields.recipient, names)
      }),
    ],
  }),
  ...createOrderCases('GET /v1/packages/{id}/schema', {
    'create.unknown-fields': [
      unknownFieldRule,
      testFromAccepted((body) => {
        // The document leaves open whether an unknown field is refused: "If creating a request returns 400 for an
        // unknown or missing field".
        const refuseOrIgnore = (...path: string[]): ExpectedCall => ({
          order: withValue(body, path, 'Example'),
          note: `with ${formatPath(path)}`,
          expect: (answer) =>
            answer.status === 201
              ? [advise(`${answer.label}: the unknown field was accepted`)]
              : expectRefusal(formatPath(path))(answer),
        })
        return [refuseOrIgnore('no_such_field'), refuseOrIgnore('recipient', 'no_such_field')]
      }),
    ],
  }),
  ...createOrderCases('POST /v1/requests', {
    'create.information-entry-left-out': [
      status400Rule,
      testWithInformation(({ body, entries }) =>
        entries.map(({ code }, index) =>
          refuse(`without the entry ${code}`, body, [information], entries.toSpliced(index, 1)),
        ),
      ),
    ],
  }),
  ...createOrderCases('Package schema', {
    'create.information-null': [
      requiredRule,
      testWithInformation(({ body, entries: [{ code, fields }] }) => {
        const name = Object.keys(fields)[0] ?? ''
        return [refuse(`with ${code}.${name} null`, body, [...firstEntry, 'fields', name], null)]
      }),
    ],
  }),
  ...createOrderCases('POST /v1/requests', {
    'create.information-whole': [
      fieldValuesRule,
      testWithInformation(async ({ body }, context) => {
        const completeEntries = (await readInformation(context, body.package_id)).map(({ code, fields }) => ({
          code,
          fields: createSampleFields(fields, true),
        }))
        const order = { ...body, additional_information: completeEntries }
        return [accept('with every field of the schema', order)]
      }),
    ],
    'create.information-of-no-check': [
      codeRule,
      testFromAccepted((body) => {
        const acceptedEntries = body.additional_information ?? []
        const unknownEntry = { code: 'no_such_check', fields: { example: 'Example' } }
        const order = { ...body, additional_information: [...acceptedEntries, unknownEntry] }
        const expect = expectRefusal(`${information}[${acceptedEntries.length}].code`, information)
        return [{ order, note: 'with an entry that the schema does not have', expect }]
      }),
    ],
    'create.package-forms': [
      packageIdRule,
      testFromAccepted((body) => {
        const id = body.package_id
        const noteOf = (invalidId: unknown): string => `with package_id ${JSON.stringify(invalidId)}`
        return [
          ...[true, [id], { id }, ''].map((each) => refuse(noteOf(each), body, ['package_id'], each)),
          ...[0, -1].map((each) => ({
            order: { ...body, package_id: each },
            note: noteOf(each),
            expect: [400, 404],
          })),
        ]
      }),
    ],
  }),
]
