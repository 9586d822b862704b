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

/** Another validator's opinion of a body, as it would be sent. */
function judge(schema: PackageSchema): (body: unknown) => boolean {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, ownProperties: true, strictTypes: false })
  ajv.addFormat('date', fullFormats.date)
  ajv.addFormat('email', true)
  const validate = ajv.compile(requestJsonSchema(schema))
  return (body) => validate(JSON.parse(JSON.stringify(body)))
}

/** Ours: taken, and sent as it was given. */
function taken(body: unknown, schema: PackageSchema): boolean {
  const { changes } = validateBody(JSON.parse(JSON.stringify(body)), schema)
  return changes?.length === 0
}

test('names its dialect, its package and every field with its help text', () => {
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

test('asks for no additional information where no check requires any', () => {
  expect(requestJsonSchema(plainSchema)).toMatchObject({ required: ['package_id', 'recipient'] })
  expect(requestJsonSchema(schemaOf({ x: { y: ['string', false] } }))).toMatchObject({
    required: ['package_id', 'recipient'],
  })
})

test('nothing may be given where nothing is needed', () => {
  const fits = judge(plainSchema)
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

test('an entry has its code and its fields, and no more', () => {
  const fits = judge(schemaOf({ x: { y: ['string', false] }, z: { y: ['string', true] } }))
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

test('holds __proto__ as a name like any other', () => {
  const schema = schemaOf(
    JSON.parse('{"x": {"__proto__": ["string", true]}}') as Parameters<typeof schemaOf>[0],
  )
  expect(JSON.stringify(requestJsonSchema(schema))).toContain('"properties":{"__proto__":{"type":"string"')
})

describe('another validator (ajv) and ours agree', () => {
  const ajv = (body: unknown): boolean => judge(sampleSchema)(body)

  test.each<[string, unknown, boolean]>([
    ['the sample', sampleBody(), true],
    ['no additional information', { package_id: 12, recipient: recipientOf() }, false],
    ['another package', { ...sampleBody(), package_id: 13 }, false],
    ['a field too many', { ...sampleBody(), comment: 'x' }, false],
    ['a phone with spaces', { ...sampleBody(), recipient: recipientOf({ phone: '+61 400 000 000' }) }, false],
    ['a phone without +', { ...sampleBody(), recipient: recipientOf({ phone: '61400000000' }) }, false],
    [
      'an address of 255',
      { ...sampleBody(), recipient: recipientOf({ email: `${'a'.repeat(243)}@example.com` }) },
      false,
    ],
    ['no first name', { ...sampleBody(), recipient: recipientOf({ first_name: undefined }) }, false],
    ['no e-mail', { ...sampleBody(), recipient: recipientOf({ email: undefined }) }, false],
    ['no phone', { ...sampleBody(), recipient: recipientOf({ phone: undefined }) }, false],
    ['one thing more of the person', { ...sampleBody(), recipient: { ...recipientOf(), age: 7 } }, false],
    ['no last name', { ...sampleBody(), recipient: recipientOf({ last_name: undefined }) }, false],
    ['a blank name', { ...sampleBody(), recipient: recipientOf({ last_name: ' ' }) }, false],
    ['an empty list', { ...sampleBody(), additional_information: [] }, false],
  ])('%s: %s', (_name, body, fits) => {
    expect([ajv(body), taken(body, sampleSchema)]).toEqual([fits, fits])
  })

  test('on a code given twice, which each entry alone would pass', () => {
    const { additional_information } = sampleBody()
    const [first] = additional_information
    const body = { ...sampleBody(), additional_information: [...additional_information, first] }
    expect([ajv(body), taken(body, sampleSchema)]).toEqual([false, false])
  })

  test('on any body near to a right one', () => {
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
      c: { later: ['a_type_of_tomorrow', true] },
    })
    const odd = oneof(jsonValue(), constantFrom('', ' ', 'x', 0, 1.5, 2 ** 53, true, null))
    const day = constantFrom(
      '2024-02-29',
      '2023-02-29',
      '2026-13-01',
      '29/02/2023',
      '2024-02-29\n',
      '٢٠٢٤-02-29',
      'x',
    )
    const mostly = <T>(usual: T, rarely = odd) => oneof({ weight: 40, arbitrary: constant(usual) }, rarely)
    const optional = { requiredKeys: [] }
    const a = record(
      {
        iso: oneof(mostly('1990-04-23'), day),
        day: oneof(day, odd),
        text: oneof(string(), odd),
        whole: oneof(integer(), odd),
        more: odd,
      },
      { requiredKeys: ['iso'] },
    )
    const b = record(
      {
        number: oneof(double({ noDefaultInfinity: true, noNaN: true }), odd),
        flag: oneof(constantFrom(true, false), odd),
        list: oneof(array(jsonValue()), odd),
        group: oneof(record({ x: jsonValue() }), odd),
      },
      optional,
    )
    const c = record({ later: jsonValue() }, optional)
    const entry = oneof(
      record({ code: mostly('a'), fields: a }),
      record({ code: mostly('b'), fields: b }),
      record({ code: constant('c'), fields: c, x: odd }, { requiredKeys: ['code', 'fields'] }),
    )
    const right = [
      { code: 'a', fields: { iso: '1990-04-23' } },
      { code: 'c', fields: { later: 1 } },
    ]
    const name = oneof(
      mostly('Ann', string()),
      constantFrom('A B', ' A', 'A ', 'A\u0007', '\u0000A', '\u2003', 'é'),
    )
    const body = record({
      package_id: mostly(12),
      recipient: record({
        first_name: name,
        last_name: mostly('Lee'),
        email: oneof(
          mostly('ann@example.com'),
          constantFrom('a.b+c@d.example', 'a@b', '@b.example', 'a..b@c.example', 'a@b.example\n'),
        ),
        phone: oneof(
          mostly('+61400000000'),
          constantFrom('+6', '+61', '+0123', '+123456789012345', '+1234567890123456', '+61\n'),
        ),
      }),
      additional_information: oneof(
        array(entry, { maxLength: 1 }).map((more) => right.concat(more as typeof right)),
        array(entry, { maxLength: 4 }),
      ),
    })
    const other = judge(schema)
    const seen = { taken: 0, refused: 0 }
    assert(
      property(body, (given) => {
        const ours = taken(given, schema)
        seen[ours ? 'taken' : 'refused'] += 1
        expect(other(given)).toBe(ours)
      }),
      { numRuns: 2000 },
    )
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(50)
  })
})
