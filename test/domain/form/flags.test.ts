import { describe, expect, test } from 'vitest'

import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import { type BodyFlags, bodyFromFlags } from '../../../src/domain/form/flags.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'
import { plainSchema, sampleSchema, schemaOf } from './sample-schema.ts'

function findRefusal(flags: BodyFlags, schema: PackageSchema = sampleSchema): string {
  try {
    bodyFromFlags(flags, schema)
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message
    throw error
  }
  return 'not refused'
}

test('without flags the draft is empty', () => {
  expect(bodyFromFlags({}, sampleSchema)).toEqual({ package_id: 12, recipient: {} })
})

test('each flag sets its field with a value of the field’s type, and checks have the order of the flags', () => {
  const draft = bodyFromFlags(
    {
      firstName: 'Ann',
      phone: '0400',
      fields: [
        'licence.commercial=yes',
        'ncc_acic.years_resident=3',
        'licence.points=1.5',
        'ncc_acic.aliases=["A"]',
        'licence.licence_number=a=b=c',
        'notes.remark=',
      ],
    },
    sampleSchema,
  )
  expect(JSON.stringify(draft)).toBe(
    JSON.stringify({
      package_id: 12,
      recipient: { first_name: 'Ann', phone: '0400' },
      additional_information: [
        { code: 'licence', fields: { commercial: true, points: 1.5, licence_number: 'a=b=c' } },
        { code: 'ncc_acic', fields: { years_resident: 3, aliases: ['A'] } },
        { code: 'notes', fields: { remark: '' } },
      ],
    }),
  )
})

test('a list is read from texts separated by ";", and a group from one flag for each part', () => {
  const schema = schemaOf({
    id: { names: ['array', false], home: ['object', true], 'home.of': ['string', false] },
  })
  const read = (...fields: string[]) => bodyFromFlags({ fields }, schema).additional_information?.[0]?.fields
  expect({ ...read('id.names=Ann Lee; A. Lee') }).toEqual({ names: ['Ann Lee', 'A. Lee'] })
  expect({ ...read('id.names=[]') }).toEqual({ names: [] })
  expect(JSON.stringify(read('id.home.street=1 High St', 'id.home.at.unit=a=b', 'id.home.of=x'))).toBe(
    '{"home":{"street":"1 High St","at":{"unit":"a=b"}},"home.of":"x"}',
  )
  const refusalOf = (...fields: string[]): string => findRefusal({ fields }, schema)
  expect(refusalOf('id.names=')).toContain('is empty; write none if there are none')
  expect({ ...read('id.names=None') }).toEqual({ names: [] })
  expect(refusalOf('id.names=n/a')).toContain('"n/a" is not a list of names; write none if there are none')
  expect(refusalOf('id.names=a;;b')).toContain('has an empty text between two ;')
  expect(refusalOf('id.home.street=1', 'id.home.street=2')).toContain('contradicts another --field')
  expect(refusalOf('id.home=1 High St')).toContain('is not an object in JSON')
  expect(refusalOf('id.home..street=1')).toContain('is not a field of the check')
  expect(refusalOf('id.names.1=Ann')).toContain('is not a field of the check')
})

describe('names with dots and equals signs', () => {
  const schema = schemaOf({
    a: { 'b.c': ['string', false], b: ['string', false], 'x=y': ['string', false] },
    'a.b': { c: ['string', false], d: ['string', false] },
  })
  const read = (field: string) => bodyFromFlags({ fields: [field] }, schema).additional_information

  test.each([
    ['a.b=c=d', 'a', 'b', 'c=d'],
    ['a.b.d=1', 'a.b', 'd', '1'],
    ['a.b.c=1', 'a.b', 'c', '1'],
    ['a.x=y=1', 'a', 'x=y', '1'],
  ])('%s', (field, code, name, value) => {
    expect(read(field)).toEqual([{ code, fields: { [name]: value } }])
  })
})

test.each([
  ['licence', '--field: "licence" has no =; give code.name=value'],
  [
    'licence.licence_nummer=1',
    '--field: "licence.licence_nummer" is not a field of the check "licence"; it takes licence_number, points, ' +
      'commercial, issuer (did you mean "licence.licence_number"?)',
  ],
  [
    'license.points=1',
    '--field: "license" is not a check code of this package; it takes ncc_acic, licence, notes ' +
      '(did you mean "licence.points"?)',
  ],
  [
    'points=1',
    '--field: "points" has no check code before it; give code.name=value (did you mean "licence.points"?)',
  ],
  [
    'quite.other=1',
    '--field: "quite" is not a check code of this package; it takes ncc_acic, licence, notes',
  ],
  ['licence.points=many', '--field licence.points: "many" is not a number such as 12 or 12.5'],
  [
    'ncc_acic.years_resident=',
    '--field ncc_acic.years_resident: "" is empty, but a whole number is expected',
  ],
  ['ncc_acic.years_resident=1e3', '--field ncc_acic.years_resident: "1e3" is not a whole number such as 12'],
  [
    'ncc_acic.date_of_birth=2026-02-30',
    '--field ncc_acic.date_of_birth: "2026-02-30" is a day that does not exist',
  ],
  ['licence.licence_number=', '--field licence.licence_number: "" is empty, but required'],
])('--field %s is refused', (field, message) => {
  expect(findRefusal({ fields: [field] })).toBe(message)
})

test('the message for a package without checks states that it takes none', () => {
  expect(findRefusal({ fields: ['a.b=1'] }, plainSchema)).toBe(
    '--field: "a" is not a check code of this package; it takes none',
  )
})

test('a field given twice is refused, and every problem is listed at once', () => {
  expect(findRefusal({ fields: ['notes.remark=1', 'notes.remark=2', 'notes.x=1'] })).toBe(
    '2 problems: --field notes.remark: "2" is given twice; ' +
      '--field: "notes.x" is not a field of the check "notes"; it takes remark',
  )
})

test('the hint names the package', () => {
  expect(() => bodyFromFlags({ fields: ['x'] }, sampleSchema)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('refcheck schema show 12') as string }),
  )
})

test('__proto__ is an ordinary name of a check and of a field', () => {
  const schema = schemaOf(
    JSON.parse('{"__proto__": {"__proto__": ["string", false]}}') as Parameters<typeof schemaOf>[0],
  )
  const { additional_information } = bodyFromFlags({ fields: ['__proto__.__proto__=x'] }, schema)
  expect(JSON.stringify(additional_information)).toBe('[{"code":"__proto__","fields":{"__proto__":"x"}}]')
  expect(findRefusal({ fields: ['__proto__.constructor=x'] }, schema)).toMatch(/is not a field of the check/)
})

test('a flag with a million equals signs is refused within the time limit of a test', () => {
  expect(findRefusal({ fields: ['='.repeat(1_000_000)] }).length).toBeLessThan(300)
})
