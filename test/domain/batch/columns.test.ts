import { expect, test } from 'vitest'

import {
  requireKnownMapping,
  headerMappingName,
  matchColumns,
  proposedColumnLines,
  resolveColumns,
  type Mapping,
  noMapping,
  columnNames,
  knownFields,
  targetName,
  targetOf,
  suggestColumn,
  mappingFlags,
  mergeMappings,
  readMapFlags,
  parseStoredReading,
} from '../../../src/domain/batch/columns.ts'
import { InvalidInputError, UsageError } from '../../../src/errors/kinds.ts'
import { plainSchema, sampleSchema, schemaOf } from '../form/sample-schema.ts'

const recipientColumns = ['first_name', 'last_name', 'email', 'phone']
const matchHeaders = (headers: readonly string[], mapping: Mapping = noMapping, schemas = [plainSchema]) =>
  matchColumns(headers, schemas, mapping)
const resolveHeaders = (
  headers: readonly string[],
  mapping: Mapping = noMapping,
  schemas = [plainSchema],
  hidden: ReadonlySet<number> = new Set(),
) =>
  resolveColumns(
    {
      name: 'people.csv',
      columns: headers,
      headerLine: 1,
      hiddenColumns: hidden,
      dialect: { format: 'csv' },
    },
    matchHeaders(headers, mapping, schemas),
    schemas,
    undefined,
  )

test('columns are matched by exact name, and white space around the name is ignored', () => {
  const { targets, unknownColumns } = matchHeaders([' first_name ', 'recipient.email', 'package_id'])
  expect(targets.map(({ kind, column }) => [kind, column])).toEqual([
    ['recipient', 'first_name'],
    ['recipient', 'email'],
    ['package_id', 'package_id'],
  ])
  expect(unknownColumns).toEqual([])
})

test('columns that have no name, are ignored or come from refcheck are not read; other columns are unknown', () => {
  const { targets, unknownColumns: unknown } = matchHeaders(['', 'Notes', 'refcheck_row', 'Email'], {
    map: {},
    ignore: ['Notes'],
  })
  expect(targets.map(({ kind }) => kind)).toEqual(['unused', 'unused', 'unused', 'unused'])
  expect(unknown).toEqual([{ header: 'Email', suggestion: 'email' }])
})

test('a mapping determines the target of a header; a target that does not exist is reported as unknown', () => {
  expect(matchHeaders(['Mail'], { map: { Mail: 'email' }, ignore: [] }).targets).toMatchObject([
    { column: 'email' },
  ])
  const wrong = matchHeaders(['refcheck_x'], { map: { refcheck_x: 'emall' }, ignore: [] })
  expect(wrong.unknownColumns).toEqual([{ header: 'refcheck_x', suggestion: 'email' }])
})

test('a header named like a property of Object.prototype is an ordinary unknown header', () => {
  expect(matchHeaders(['constructor', '__proto__']).unknownColumns.map(({ header }) => header)).toEqual([
    'constructor',
    '__proto__',
  ])
})

test('a target that another column of the file has is not suggested', () => {
  expect(matchHeaders(['email', 'Mail']).unknownColumns).toEqual([{ header: 'Mail', suggestion: undefined }])
})

test('headerMappingName is equal for the same headers in any order and the same fields, and different otherwise', () => {
  const name = headerMappingName(['E-mail', 'Given name'], [plainSchema])
  expect(name).toMatch(/^columns-[0-9a-f]{10}$/)
  expect(headerMappingName([' Given  name', 'E-mail'], [plainSchema])).toBe(name)
  expect(headerMappingName(['E-mail', 'Given names'], [plainSchema])).not.toBe(name)
  expect(headerMappingName(['E-mail', 'Given name'], [sampleSchema])).not.toBe(name)
})

test('the lines that show the columns have at most 78 characters', () => {
  const long = 'x'.repeat(200)
  const lines = proposedColumnLines([
    { header: long, field: `ncc_acic.${long}`, example: long },
    { header: 'email', field: 'email', example: 'ana@example.com' },
    { header: 'Mobile', field: 'phone', example: '' },
    { header: 'Notes', field: undefined, example: 'vip' },
  ])
  expect(lines.map(({ length }) => length <= 78)).toEqual([true, true, true, true])
  expect(lines.slice(1)).toEqual([
    `  Mobile${' '.repeat(21)}  → phone`,
    '  By their own names: email',
    `  Notes${' '.repeat(22)}  → left out`,
  ])
})

test('the four columns of the recipient are required', () => {
  expect(resolveHeaders(recipientColumns)).toHaveLength(4)
  expect(() => resolveHeaders(recipientColumns.slice(1))).toThrow(InvalidInputError)
  expect(() => resolveHeaders(recipientColumns.slice(1))).toThrow(/^people\.csv: .*first_name/)
  expect(() => resolveHeaders(recipientColumns.slice(2))).toThrow(/first_name, last_name are/)
})

test('two columns with one target are refused, and so are a column and another one for a part of its value', () => {
  expect(() => resolveHeaders([...recipientColumns, 'recipient.email'])).toThrow(
    /"email" and "recipient\.email"/,
  )
  const fields = ['licence.issuer', 'licence.issuer.name']
  expect(() => resolveHeaders([...recipientColumns, ...fields], noMapping, [sampleSchema])).toThrow(
    /licence\.issuer/,
  )
})

test('a required column may be missing if one of the packages does not require it', () => {
  const requiredColumns = ['ncc_acic.date_of_birth', 'licence.licence_number', 'licence.commercial']
  expect(() => resolveHeaders(recipientColumns, noMapping, [sampleSchema])).toThrow(/ncc_acic\.date_of_birth/)
  expect(resolveHeaders([...recipientColumns, ...requiredColumns], noMapping, [sampleSchema])).toHaveLength(7)
  expect(resolveHeaders(recipientColumns, noMapping, [sampleSchema, plainSchema])).toHaveLength(4)
})

test('an unknown column is refused with a hint that contains --map and --ignore', () => {
  const catchError = (): unknown => {
    try {
      return resolveHeaders(['Given name', ...recipientColumns.slice(1), "it's"])
    } catch (error) {
      return error
    }
  }
  const hint = expect.stringMatching(/--map 'Given name=first_name' --ignore 'it'\\''s'/) as string
  expect(catchError()).toMatchObject({ code: 'invalid_input', field: 'Given name', hint })
})

test('--map and --ignore with a header or target that does not exist are refused', () => {
  const checkFlags = (given: Partial<Mapping>) => () =>
    requireKnownMapping(recipientColumns, [plainSchema], { ...noMapping, ...given })
  expect(checkFlags({ ignore: ['phone'], map: { email: 'email' } })).not.toThrow()
  expect(checkFlags({ ignore: ['Notes'] })).toThrow(UsageError)
  expect(checkFlags({ ignore: ['Notes'] })).toThrow(/--ignore.*"Notes"/)
  expect(checkFlags({ map: { email: 'emall' } })).toThrow(/--map.*"emall"/)
})

const fields = knownFields([sampleSchema])

test.each([
  ['first_name', 'recipient', 'first_name'],
  ['recipient.phone', 'recipient', 'phone'],
  ['package_id', 'package_id', 'package_id'],
  ['ncc_acic.date_of_birth', 'field', 'ncc_acic.date_of_birth'],
])('targetOf(%s) is the %s column %s', (name, kind, column) => {
  expect(targetOf(name, fields)).toMatchObject({ kind, column })
})

test('columns for parts of lists and objects have a path; texts have no parts', () => {
  expect(targetOf('licence.issuer.address.city', fields)).toMatchObject({ path: ['address', 'city'] })
  expect(targetOf('ncc_acic.aliases.1', fields)).toMatchObject({ path: ['1'] })
  expect(targetOf('ncc_acic.date_of_birth.year', fields)).toBeUndefined()
})

test.each([
  '',
  'First_name',
  'recipient.name',
  'recipient.package_id',
  'licence.issuer.',
  'licence.issuer..x',
  'nope.x',
])('targetOf(%j) returns undefined', (name) => {
  expect(targetOf(name, fields)).toBeUndefined()
})

test('a path has at most eight parts', () => {
  const createDeepName = (parts: number) =>
    ['licence.issuer', ...Array.from({ length: parts }, () => 'x')].join('.')
  expect(targetOf(createDeepName(8), fields)).toBeDefined()
  expect(targetOf(createDeepName(9), fields)).toBeUndefined()
})

test('if a column name fits two fields, the field with the longer name is its target', () => {
  const overlappingFields = knownFields([schemaOf({ a: { b: ['object', false], 'b.c': ['string', false] } })])
  expect(targetOf('a.b.c', overlappingFields)).toMatchObject({ name: 'b.c', path: [] })
})

test('knownFields contains each field once, and columnNames always contains the columns of the recipient', () => {
  expect(knownFields([sampleSchema, sampleSchema])).toHaveLength(fields.length)
  expect(knownFields([plainSchema])).toEqual([])
  expect(columnNames([])).toEqual(['first_name', 'last_name', 'email', 'phone', 'package_id'])
})

test('targetName returns the same name for each spelling of a target', () => {
  for (const name of ['recipient.email', 'email']) {
    expect(targetName(targetOf(name, fields) ?? { kind: 'unused', column: '' })).toBe('email')
  }
  const targetOfPart = targetOf('licence.issuer.name', fields)
  expect(targetOfPart && targetName(targetOfPart)).toBe('licence.issuer.name')
})

const names = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'package_id',
  'licence.number',
  'visa.number',
  'visa.expiry',
]

test.each([
  ['First Name', 'first_name'],
  ['FIRST-NAME', 'first_name'],
  ['Ｆｉｒｓｔ ｎａｍｅ', 'first_name'],
  ['Surname', 'last_name'],
  ['Vorname', 'first_name'],
  ['E-Mail Address', 'email'],
  ['Mobile', 'phone'],
  ['Package no.', 'package_id'],
  ['Expiry', 'visa.expiry'],
  ['Visa: number', 'visa.number'],
  ['frist_name', 'first_name'],
])('suggestColumn(%s) returns %s', (header, column) => {
  expect(suggestColumn(header, names)).toBe(column)
})

test.each(['', '***', 'Notes', 'number'])(
  'suggestColumn(%j) returns undefined, because no target or more than one fits',
  (header) => {
    expect(suggestColumn(header, names)).toBeUndefined()
  },
)

test('a synonym suggests nothing if its target is not among the columns', () => {
  expect(suggestColumn('Surname', ['email'])).toBeUndefined()
})

const readFlags = (flags: string[], headers: string[]) => ({ ...readMapFlags(flags, headers) })

test('a --map flag is split at the "=" that follows a header of the file', () => {
  expect(readFlags(['Given name = first_name'], [' Given name '])).toEqual({ 'Given name': 'first_name' })
  expect(readFlags(['a=b=email'], ['a=b'])).toEqual({ 'a=b': 'email' })
  expect(readFlags(['a=b=email'], ['a'])).toEqual({ a: 'b=email' })
})

test('a --map flag without "=", with an unknown header, or with a header that was given before is refused', () => {
  expect(() => readFlags(['email'], ['email'])).toThrow(UsageError)
  expect(() => readFlags(['=email'], ['email'])).toThrow(/=/)
  expect(() => readFlags(['Mail=email'], ['E-mail', ''])).toThrow(/"Mail"/)
  expect(() => readFlags(['Mail=email', 'Mail=phone'], ['Mail'])).toThrow(/"Mail".*twice/)
})

test('the flags override the stored mapping', () => {
  const stored = { map: { Mail: 'email', Tel: 'phone' }, ignore: ['Notes', 'Id'] }
  expect(mergeMappings(stored, { map: { Notes: 'first_name' }, ignore: ['Tel', 'Id'] })).toEqual({
    map: { Mail: 'email', Notes: 'first_name' },
    ignore: ['Id', 'Tel'],
  })
})

test('a header named like a property of Object.prototype is stored like any other', () => {
  expect(
    Object.keys(mergeMappings({ map: {}, ignore: [] }, { map: { constructor: 'email' }, ignore: [] }).map),
  ).toEqual(['constructor'])
  expect(readFlags(['__proto__=email'], ['__proto__'])).toEqual({ ['__proto__']: 'email' })
})

test('mappingFlags returns the mapping as flags quoted for the shell', () => {
  expect(mappingFlags({ map: { 'Given name': 'first_name' }, ignore: ['Notes', 'a b'] })).toBe(
    "--map 'Given name=first_name' --ignore Notes --ignore 'a b'",
  )
  expect(mappingFlags({ map: {}, ignore: [] })).toBe('')
})

test('a stored reading is read back unchanged', () => {
  const reading = { sheet: 'S', header_row: 2, encoding: 'utf-8', hidden: 'skip', default_country: 'AU' }
  expect(parseStoredReading(reading)).toEqual(reading)
  expect(parseStoredReading({})).toEqual({})
})

test('values of the wrong type are left out of a stored reading, and anything but an object is undefined', () => {
  expect(parseStoredReading({ sheet: 1, header_row: 0, encoding: null, hidden: 'maybe', more: 1 })).toEqual(
    {},
  )
  expect(parseStoredReading({ header_row: 1.5 })).toEqual({})
  for (const value of [undefined, null, 'x', 1]) expect(parseStoredReading(value)).toBeUndefined()
})
