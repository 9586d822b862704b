import { describe, expect, test } from 'vitest'

import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import { problemText } from '../../../src/domain/form/problem.ts'
import { validateBody, validateDraft } from '../../../src/domain/form/validate.ts'
import { plainSchema, recipientOf, sampleBody, sampleSchema, schemaOf } from './sample-schema.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file whose titles match are the row `prototype` of the fault table (test/resilience/rows.ts).
recordForFaultTable('prototype', {
  mustNotHappen: 'prototypes changed',
  titles: /__proto__|constructor|prototype/,
})

/** Returns the texts of all problems. */
function problemsOf(input: unknown, schema: PackageSchema = sampleSchema): string[] {
  return validateBody(input, schema).problems?.map((each) => problemText(each)) ?? []
}

/** Returns the sample body after `change`. */
function bodyWith(change: (body: ReturnType<typeof sampleBody>) => void) {
  const body = sampleBody()
  change(body)
  return body
}

test('a valid body is returned unchanged', () => {
  expect(validateBody(sampleBody(), sampleSchema)).toEqual({ body: sampleBody(), changes: [] })
})

test('a package without checks accepts a body with and without an empty array', () => {
  const body = { package_id: 7, recipient: recipientOf() }
  expect(validateBody(body, plainSchema).body).toEqual(body)
  expect(validateBody({ ...body, additional_information: [] }, plainSchema).body).toEqual({
    ...body,
    additional_information: [],
  })
})

test('removed punctuation of phones and white space around names and e-mails are listed as changes', () => {
  const recipient = recipientOf({ first_name: ' Ann', email: 'ann@example.com ', phone: '+61 (400) 000-000' })
  const { body, changes } = validateBody({ package_id: 7, recipient }, plainSchema)
  expect(body?.recipient).toEqual(recipientOf())
  expect(changes).toEqual([
    { path: 'recipient.first_name', column: 'first_name', from: ' Ann', to: 'Ann' },
    { path: 'recipient.email', column: 'email', from: 'ann@example.com ', to: 'ann@example.com' },
    { path: 'recipient.phone', column: 'phone', from: '+61 (400) 000-000', to: '+61400000000' },
  ])
})

test('all problems are found, in the order of the body', () => {
  const body = {
    package_id: '12',
    recipient: { first_name: '', last_name: 5, email: 'ann', nickname: 'A' },
    additional_information: [
      { code: 'ncc_acic', fields: { date_of_birth: '2026-02-30', years_resident: '3', colour: 'red' } },
      { code: 'ncc_acic', fields: {} },
      { code: 'icrc', fields: {} },
    ],
    comment: 'x',
  }
  expect(problemsOf(body)).toMatchInlineSnapshot(`
    [
      "comment: is not a field of a request",
      "package_id: "12" is not an integer",
      "recipient.nickname: is not a field of a recipient",
      "recipient.first_name: "" is empty, but required",
      "recipient.last_name: "5" is not a string",
      "recipient.email: "ann" has no @; an e-mail address looks like ann@example.com",
      "recipient.phone: is required",
      "additional_information[0].fields.date_of_birth: "2026-02-30" is a day that does not exist",
      "additional_information[0].fields.years_resident: "3" is a string, but an integer is expected",
      "additional_information[0].fields.colour: is not a field of the check "ncc_acic"; it takes date_of_birth, years_resident, aliases",
      "additional_information[1].code: "ncc_acic" is given twice (first in additional_information[0]); a code may appear only once",
      "additional_information[1].fields.date_of_birth: is required",
      "additional_information[2].code: "icrc" is not a check code of this package; it takes ncc_acic, licence, notes",
      "additional_information: has no "licence_number", which the check "licence" requires",
      "additional_information: has no "commercial", which the check "licence" requires",
    ]
  `)
})

describe('the shape of the body', () => {
  test.each([
    ['null', null, 'the body: "null" is not an object'],
    ['a list', [], 'the body: "[]" is not an object'],
    ['a text', 'x', 'the body: "x" is not an object'],
  ])('%s', (_name, input, problem) => {
    expect(problemsOf(input)).toEqual([problem])
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['no package', { package_id: undefined }, 'package_id: is required'],
    ['a fraction for a package', { package_id: 1.5 }, 'package_id: "1.5" is not an integer'],
    ['another package', { package_id: 13 }, 'package_id: "13" is not the given package, 12'],
    ['a recipient of null', { recipient: null }, 'recipient: "null" is not an object'],
    [
      'information as an object',
      { additional_information: {} },
      'additional_information: "{}" is not an array',
    ],
  ])('%s', (_name, over, problem) => {
    expect(problemsOf({ ...sampleBody(), ...over })).toContain(problem)
  })

  test('a recipient’s field at the top level is refused with its correct path', () => {
    expect(problemsOf({ ...sampleBody(), phone: '+61400000000' })).toEqual([
      'phone: is not a field of a request (did you mean "recipient.phone"?)',
    ])
  })

  test.each<[string, unknown, string]>([
    ['an entry that is null', null, 'additional_information[2]: "null" is not an object'],
    ['no code', { fields: {} }, 'additional_information[2].code: is required'],
    ['a number as code', { code: 1, fields: {} }, 'additional_information[2].code: "1" is not a string'],
    ['no fields', { code: 'notes' }, 'additional_information[2].fields: is required'],
    [
      'fields as a list',
      { code: 'notes', fields: [] },
      'additional_information[2].fields: "[]" is not an object',
    ],
    [
      'a third name',
      { code: 'notes', fields: {}, field: {} },
      'additional_information[2].field: is not a field of this entry (did you mean "fields"?)',
    ],
    [
      'a code mistyped',
      { code: 'nots', fields: {} },
      'additional_information[2].code: "nots" is not a check code of this package; ' +
        'it takes ncc_acic, licence, notes (did you mean "notes"?)',
    ],
    [
      'a field mistyped',
      { code: 'notes', fields: { remrak: 'x' } },
      'additional_information[2].fields.remrak: is not a field of the check "notes"; it takes remark (did you mean "remark"?)',
    ],
  ])('%s', (_name, entry, problem) => {
    const body = sampleBody()
    expect(problemsOf({ ...body, additional_information: [...body.additional_information, entry] })).toEqual([
      problem,
    ])
  })

  test('the problem of an entry without fields names the required ones', () => {
    const body = { ...sampleBody(), additional_information: [{ code: 'licence' }] }
    expect(problemsOf(body)).toContain(
      'additional_information[0].fields: is required, with licence_number, commercial',
    )
  })
})

test('values of a wrong type, and null, are refused with both types', () => {
  const body = bodyWith(({ additional_information: [, licence] }) => {
    Object.assign(licence?.fields ?? {}, { licence_number: 1, points: '1', commercial: 'no', issuer: [] })
  })
  const missing = bodyWith(({ additional_information: [, licence] }) => {
    Object.assign(licence?.fields ?? {}, { issuer: null, commercial: null })
  })
  expect([...problemsOf(body), ...problemsOf(missing)]).toMatchInlineSnapshot(`
    [
      "additional_information[1].fields.licence_number: "1" is a number, but a string is expected",
      "additional_information[1].fields.points: "1" is a string, but a number is expected",
      "additional_information[1].fields.commercial: "no" is a string, but a boolean is expected",
      "additional_information[1].fields.issuer: "[]" is an array, but an object is expected",
      "additional_information[1].fields.commercial: is null, but a boolean is expected",
      "additional_information[1].fields.issuer: is null, but an object is expected; leave it out instead",
    ]
  `)
})

test('a problem has the column of a batch file for its field', () => {
  const { problems } = validateBody(
    { package_id: 12, recipient: recipientOf({ phone: '0400' }) },
    sampleSchema,
  )
  expect(problems?.map(({ column }) => column)).toEqual([
    'phone',
    'ncc_acic.date_of_birth',
    'licence.licence_number',
    'licence.commercial',
  ])
})

test('a draft may lack required fields, and must not contain invalid values', () => {
  expect(validateDraft({ recipient: { phone: '+61 400 000 000' } }, sampleSchema)).toEqual({
    draft: { package_id: 12, recipient: { phone: '+61400000000' } },
    changes: [{ path: 'recipient.phone', column: 'phone', from: '+61 400 000 000', to: '+61400000000' }],
  })
  const { problems } = validateDraft({ recipient: { phone: '0400', nick: 'x' } }, sampleSchema)
  expect(problems?.map(({ path }) => path)).toEqual(['recipient.nick', 'recipient.phone'])
})

describe('fields named __proto__ and constructor', () => {
  const schema = schemaOf(
    JSON.parse(
      '{"x": {"__proto__": ["string", true], "constructor": ["integer", false], "toString": ["string", false]}}',
    ) as Parameters<typeof schemaOf>[0],
  )
  const bodyOf = (fields: string): unknown =>
    JSON.parse(
      `{"package_id": 12, "recipient": ${JSON.stringify(recipientOf())},
        "additional_information": [{"code": "x", "fields": ${fields}}]}`,
    )

  test('are in the body', () => {
    const { body } = validateBody(bodyOf('{"__proto__": "a", "constructor": 1}'), schema)
    expect(JSON.stringify(body?.additional_information)).toBe(
      '[{"code":"x","fields":{"__proto__":"a","constructor":1}}]',
    )
  })

  test('are refused by a schema without them, even if its objects have a prototype', () => {
    const plain = schemaOf({ x: { y: ['string', false] } })
    for (const check of plain.fields.additional_information) check.fields = { ...check.fields }
    expect(problemsOf(bodyOf('{"constructor": "a"}'), plain)).toEqual([
      'additional_information[0].fields.constructor: is not a field of the check "x"; it takes y',
    ])
  })

  test('are missing if they are not given, and not inherited', () => {
    expect(problemsOf(bodyOf('{}'), schema)).toEqual([
      'additional_information[0].fields.__proto__: is required',
    ])
  })

  test('are refused where the schema has no such field', () => {
    const fields = '{"__proto__": "a", "hasOwnProperty": 1}'
    expect(problemsOf(bodyOf(fields), schema)).toEqual([
      'additional_information[0].fields.hasOwnProperty: is not a field of the check "x"; it takes __proto__, constructor, toString',
    ])
    expect(
      problemsOf(
        JSON.parse('{"package_id": 7, "__proto__": {}, "recipient": {"__proto__": {}}}'),
        plainSchema,
      ),
    ).toEqual([
      '__proto__: is not a field of a request',
      'recipient.__proto__: is not a field of a recipient',
      ...['first_name', 'last_name', 'email', 'phone'].map((name) => `recipient.${name}: is required`),
    ])
  })

  test('do not change Object.prototype', () => {
    const before = Object.getOwnPropertyNames(Object.prototype)
    validateBody(
      bodyOf('{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}'),
      schema,
    )
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test('a body with a megabyte in every value is validated within the time limit of a test, with short problem texts', () => {
  const long = 'a@'.repeat(500_000)
  const body = {
    package_id: 12,
    recipient: {
      first_name: long,
      last_name: ` ${' '.repeat(1_000_000)}x`,
      email: long,
      phone: `+${long}`,
      [long]: 1,
    },
    additional_information: [{ code: 'ncc_acic', fields: { date_of_birth: long, [long]: 1 } }],
  }
  const { problems } = validateBody(body, sampleSchema)
  expect(problems?.every((problem) => problemText(problem).length < 500)).toBe(true)
})
