import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import {
  array,
  assert,
  constant,
  constantFrom,
  double,
  integer,
  jsonValue,
  oneof,
  property,
  record,
  string,
} from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { PackageSchema } from '../../src/contract/package-schema.ts'
import { requestJsonSchema } from '../../src/contract/request-json-schema.ts'
import { validateBody } from '../../src/domain/form/validate.ts'
import { plainSchema, recipientOf, sampleBody, sampleSchema, schemaOf } from '../domain/form/sample-schema.ts'

/** Returns a function that validates a body, as it would be sent, with ajv and the JSON schema of the package. */
function createAjvValidator(schema: PackageSchema): (body: unknown) => boolean {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, ownProperties: true, strictTypes: false })
  ajv.addFormat('date', fullFormats.date)
  ajv.addFormat('email', true)
  const validate = ajv.compile(requestJsonSchema(schema))
  return (body) => validate(JSON.parse(JSON.stringify(body)))
}

/** Whether this program accepts a body and sends it without changes. */
function isSentUnchanged(body: unknown, schema: PackageSchema): boolean {
  const { changes } = validateBody(JSON.parse(JSON.stringify(body)), schema)
  return changes?.length === 0
}

test('the schema has its dialect, its package and each field with its description', () => {
  expect(requestJsonSchema(sampleSchema)).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Request from package 12',
    required: ['package_id', 'recipient', 'additional_information'],
    additionalProperties: false,
    properties: {
      package_id: { const: 12 },
      additional_information: {
        items: {
          oneOf: [
            {
              title: 'Check ncc_acic',
              properties: {
                code: { const: 'ncc_acic' },
                fields: {
                  required: ['date_of_birth'],
                  additionalProperties: false,
                  properties: {
                    date_of_birth: {
                      type: 'string',
                      format: 'date',
                      description: 'Date of birth (YYYY-MM-DD)',
                    },
                    years_resident: { type: 'integer', description: 'Years at the current address' },
                  },
                },
              },
            },
            { title: 'Check licence' },
            { title: 'Check notes' },
          ],
        },
      },
    },
  })
})

test('additional information is not required if no check requires it', () => {
  expect(requestJsonSchema(plainSchema)).toMatchObject({ required: ['package_id', 'recipient'] })
  expect(requestJsonSchema(schemaOf({ x: { y: ['string', false] } }))).toMatchObject({
    required: ['package_id', 'recipient'],
  })
})

test('additional information must be empty if no check has fields', () => {
  const fits = createAjvValidator(plainSchema)
  const body = { package_id: 7, recipient: recipientOf() }
  expect([fits(body), fits({ ...body, additional_information: [] })]).toEqual([true, true])
  const entry = { code: 'x', fields: {} }
  expect(fits({ ...body, additional_information: [entry] })).toBe(false)
  expect(requestJsonSchema(plainSchema)).toMatchObject({
    properties: {
      additional_information: { description: 'Nothing is needed for this package', maxItems: 0 },
    },
  })
})

test('an entry has its code and its fields, and no other property', () => {
  const fits = createAjvValidator(schemaOf({ x: { y: ['string', false] }, z: { y: ['string', true] } }))
  const body = (...entries: unknown[]) => ({
    package_id: 12,
    recipient: recipientOf(),
    additional_information: entries,
  })
  const [x, z] = [
    { code: 'x', fields: { y: '' } },
    { code: 'z', fields: { y: 'a' } },
  ]
  expect([fits(body(x, z)), fits(body(z)), fits(body(x))]).toEqual([true, true, false])
  expect(fits(body(z, { code: 'x' }))).toBe(false)
  expect(fits(body(z, { fields: {} }))).toBe(false)
  expect(fits(body(z, { ...x, more: 1 }))).toBe(false)
  expect(fits(body({ code: 'z', fields: { y: ' ' } }))).toBe(false)
})

test('a field may have the name __proto__', () => {
  const schema = schemaOf(
    JSON.parse('{"x": {"__proto__": ["string", true]}}') as Parameters<typeof schemaOf>[0],
  )
  expect(JSON.stringify(requestJsonSchema(schema))).toContain('"properties":{"__proto__":{"type":"string"')
})

describe('ajv and the validator of this program agree', () => {
  const isValidForAjv = (body: unknown): boolean => createAjvValidator(sampleSchema)(body)

  test.each<[string, unknown, boolean]>([
    ['the values of the sample', sampleBody(), true],
    ['no additional information', { package_id: 12, recipient: recipientOf() }, false],
    ['another package', { ...sampleBody(), package_id: 13 }, false],
    ['an unknown field', { ...sampleBody(), comment: 'x' }, false],
    ['a phone with spaces', { ...sampleBody(), recipient: recipientOf({ phone: '+61 400 000 000' }) }, false],
    ['a phone without +', { ...sampleBody(), recipient: recipientOf({ phone: '61400000000' }) }, false],
    [
      'an e-mail of 255 characters',
      { ...sampleBody(), recipient: recipientOf({ email: `${'a'.repeat(243)}@example.com` }) },
      false,
    ],
    ['no first name', { ...sampleBody(), recipient: recipientOf({ first_name: undefined }) }, false],
    ['no e-mail', { ...sampleBody(), recipient: recipientOf({ email: undefined }) }, false],
    ['no phone', { ...sampleBody(), recipient: recipientOf({ phone: undefined }) }, false],
    [
      'an unknown field of the recipient',
      { ...sampleBody(), recipient: { ...recipientOf(), age: 7 } },
      false,
    ],
    ['no last name', { ...sampleBody(), recipient: recipientOf({ last_name: undefined }) }, false],
    ['a blank name', { ...sampleBody(), recipient: recipientOf({ last_name: ' ' }) }, false],
    ['an empty list', { ...sampleBody(), additional_information: [] }, false],
  ])('on the body with %s: valid is %s', (_label, body, isValid) => {
    expect([isValidForAjv(body), isSentUnchanged(body, sampleSchema)]).toEqual([isValid, isValid])
  })

  test('that a body with a duplicate code is invalid, although each entry alone is valid', () => {
    const { additional_information } = sampleBody()
    const [first] = additional_information
    const body = { ...sampleBody(), additional_information: [...additional_information, first] }
    expect([isValidForAjv(body), isSentUnchanged(body, sampleSchema)]).toEqual([false, false])
  })

  test('on any body that is similar to a valid one', () => {
    const schema = schemaOf({
      a: {
        iso: ['string', true, 'Date (YYYY-MM-DD)'],
        day: ['string', false, 'Date of issue'],
        text: ['string', false],
        whole: ['integer', false],
      },
      b: {
        number: ['number', false],
        flag: ['boolean', false],
        list: ['array', false],
        group: ['object', false],
      },
      c: { later: ['type_added_later', true] },
    })
    const anyValue = oneof(jsonValue(), constantFrom('', ' ', 'x', 0, 1.5, 2 ** 53, true, null))
    const dateTexts = constantFrom(
      '2024-02-29',
      '2023-02-29',
      '2026-13-01',
      '29/02/2023',
      '2024-02-29\n',
      '٢٠٢٤-02-29',
      'x',
    )
    const mostlyConstant = <T>(usualValue: T, otherValues = anyValue) =>
      oneof({ weight: 40, arbitrary: constant(usualValue) }, otherValues)
    const noRequiredKeys = { requiredKeys: [] }
    const fieldsOfA = record(
      {
        iso: oneof(mostlyConstant('1990-04-23'), dateTexts),
        day: oneof(dateTexts, anyValue),
        text: oneof(string(), anyValue),
        whole: oneof(integer(), anyValue),
        more: anyValue,
      },
      { requiredKeys: ['iso'] },
    )
    const fieldsOfB = record(
      {
        number: oneof(double({ noDefaultInfinity: true, noNaN: true }), anyValue),
        flag: oneof(constantFrom(true, false), anyValue),
        list: oneof(array(jsonValue()), anyValue),
        group: oneof(record({ x: jsonValue() }), anyValue),
      },
      noRequiredKeys,
    )
    const fieldsOfC = record({ later: jsonValue() }, noRequiredKeys)
    const entry = oneof(
      record({ code: mostlyConstant('a'), fields: fieldsOfA }),
      record({ code: mostlyConstant('b'), fields: fieldsOfB }),
      record({ code: constant('c'), fields: fieldsOfC, x: anyValue }, { requiredKeys: ['code', 'fields'] }),
    )
    const validEntries = [
      { code: 'a', fields: { iso: '1990-04-23' } },
      { code: 'c', fields: { later: 1 } },
    ]
    const name = oneof(
      mostlyConstant('Ann', string()),
      constantFrom('A B', ' A', 'A ', 'A\u0007', '\u0000A', '\u2003', 'é'),
    )
    const body = record({
      package_id: mostlyConstant(12),
      recipient: record({
        first_name: name,
        last_name: mostlyConstant('Lee'),
        email: oneof(
          mostlyConstant('ann@example.com'),
          constantFrom('a.b+c@d.example', 'a@b', '@b.example', 'a..b@c.example', 'a@b.example\n'),
        ),
        phone: oneof(
          mostlyConstant('+61400000000'),
          constantFrom('+6', '+61', '+0123', '+123456789012345', '+1234567890123456', '+61\n'),
        ),
      }),
      additional_information: oneof(
        array(entry, { maxLength: 1 }).map((entries) => validEntries.concat(entries as typeof validEntries)),
        array(entry, { maxLength: 4 }),
      ),
    })
    const isValidByAjv = createAjvValidator(schema)
    const counts = { accepted: 0, refused: 0 }
    assert(
      property(body, (randomBody) => {
        const isAccepted = isSentUnchanged(randomBody, schema)
        counts[isAccepted ? 'accepted' : 'refused'] += 1
        expect(isValidByAjv(randomBody)).toBe(isAccepted)
      }),
      { numRuns: 2000 },
    )
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(50)
  })
})
