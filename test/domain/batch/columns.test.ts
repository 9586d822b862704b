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

const four = ['first_name', 'last_name', 'email', 'phone']
const match = (headers: readonly string[], mapping: Mapping = noMapping, schemas = [plainSchema]) =>
  matchColumns(headers, schemas, mapping)
const resolve = (
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
    match(headers, mapping, schemas),
    schemas,
    undefined,
  )

test('columns are matched by exact name, with white space around it passed over', () => {
  const { targets, unknown } = match([' first_name ', 'recipient.email', 'package_id'])
  expect(targets.map(({ kind, column }) => [kind, column])).toEqual([
    ['recipient', 'first_name'],
    ['recipient', 'email'],
    ['package_id', 'package_id'],
  ])
  expect(unknown).toEqual([])
})

test('what is nameless, ignored or our own is not read; anything else is unknown', () => {
  const { targets, unknown } = match(['', 'Notes', 'refcheck_row', 'Email'], { map: {}, ignore: ['Notes'] })
  expect(targets.map(({ kind }) => kind)).toEqual(['unused', 'unused', 'unused', 'unused'])
  expect(unknown).toEqual([{ header: 'Email', suggestion: 'email' }])
})

test('a mapping is followed; what it names must be a column', () => {
  expect(match(['Mail'], { map: { Mail: 'email' }, ignore: [] }).targets).toMatchObject([{ column: 'email' }])
  const wrong = match(['refcheck_x'], { map: { refcheck_x: 'emall' }, ignore: [] })
  expect(wrong.unknown).toEqual([{ header: 'refcheck_x', suggestion: 'email' }])
})

test('a header named like a property of every object is a header like any other', () => {
  expect(match(['constructor', '__proto__']).unknown.map(({ header }) => header)).toEqual([
    'constructor',
    '__proto__',
  ])
})

test('nothing is suggested that a column of the file says already', () => {
  expect(match(['email', 'Mail']).unknown).toEqual([{ header: 'Mail', suggestion: undefined }])
})

test('answers about a header apply to the same columns, in any order, and to packages with the same fields', () => {
  const name = headerMappingName(['E-mail', 'Given name'], [plainSchema])
  expect(name).toMatch(/^columns-[0-9a-f]{10}$/)
  expect(headerMappingName([' Given  name', 'E-mail'], [plainSchema])).toBe(name)
  expect(headerMappingName(['E-mail', 'Given names'], [plainSchema])).not.toBe(name)
  expect(headerMappingName(['E-mail', 'Given name'], [sampleSchema])).not.toBe(name)
})

test('the lines that show how columns are read have room on a terminal of 80, whatever a file says', () => {
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
    '  Notes → left out',
  ])
})

test('all four columns of a person are needed, once', () => {
  expect(resolve(four)).toHaveLength(4)
  expect(() => resolve(four.slice(1))).toThrow(InvalidInputError)
  expect(() => resolve(four.slice(1))).toThrow(/^people\.csv: .*first_name/)
  expect(() => resolve(four.slice(2))).toThrow(/first_name, last_name are/)
})

test('two columns that say the same are refused, and so are a whole and a part of it', () => {
  expect(() => resolve([...four, 'recipient.email'])).toThrow(/"email" and "recipient\.email"/)
  const fields = ['licence.issuer', 'licence.issuer.name']
  expect(() => resolve([...four, ...fields], noMapping, [sampleSchema])).toThrow(/licence\.issuer/)
})

test('a column that one of several packages does not need may be missing', () => {
  const needed = ['ncc_acic.date_of_birth', 'licence.licence_number', 'licence.commercial']
  expect(() => resolve(four, noMapping, [sampleSchema])).toThrow(/ncc_acic\.date_of_birth/)
  expect(resolve([...four, ...needed], noMapping, [sampleSchema])).toHaveLength(7)
  expect(resolve(four, noMapping, [sampleSchema, plainSchema])).toHaveLength(4)
})

test('an unknown column is refused with the flags that would do', () => {
  const refused = (): unknown => {
    try {
      return resolve(['Given name', ...four.slice(1), "it's"])
    } catch (error) {
      return error
    }
  }
  const hint = expect.stringMatching(/--map 'Given name=first_name' --ignore 'it'\\''s'/) as string
  expect(refused()).toMatchObject({ code: 'invalid_input', field: 'Given name', hint })
})

test('flags that name no column of the file, or of a batch file, are slips', () => {
  const flags = (given: Partial<Mapping>) => () =>
    requireKnownMapping(four, [plainSchema], { ...noMapping, ...given })
  expect(flags({ ignore: ['phone'], map: { email: 'email' } })).not.toThrow()
  expect(flags({ ignore: ['Notes'] })).toThrow(UsageError)
  expect(flags({ ignore: ['Notes'] })).toThrow(/--ignore.*"Notes"/)
  expect(flags({ map: { email: 'emall' } })).toThrow(/--map.*"emall"/)
})

const fields = knownFields([sampleSchema])

test.each([
  ['first_name', 'recipient', 'first_name'],
  ['recipient.phone', 'recipient', 'phone'],
  ['package_id', 'package_id', 'package_id'],
  ['ncc_acic.date_of_birth', 'field', 'ncc_acic.date_of_birth'],
])('%s is the %s %s', (name, kind, column) => {
  expect(targetOf(name, fields)).toMatchObject({ kind, column })
})

test('parts of lists and objects have a path, of texts none', () => {
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
])('%j is no column', (name) => {
  expect(targetOf(name, fields)).toBeUndefined()
})

test('a path has eight parts at most', () => {
  const deep = (parts: number) => ['licence.issuer', ...Array.from({ length: parts }, () => 'x')].join('.')
  expect(targetOf(deep(8), fields)).toBeDefined()
  expect(targetOf(deep(9), fields)).toBeUndefined()
})

test('of two fields the longer name wins, whichever comes first', () => {
  const both = knownFields([schemaOf({ a: { b: ['object', false], 'b.c': ['string', false] } })])
  expect(targetOf('a.b.c', both)).toMatchObject({ name: 'b.c', path: [] })
})

test('fields of several packages are known once each, the recipient’s four always', () => {
  expect(knownFields([sampleSchema, sampleSchema])).toHaveLength(fields.length)
  expect(knownFields([plainSchema])).toEqual([])
  expect(columnNames([])).toEqual(['first_name', 'last_name', 'email', 'phone', 'package_id'])
})

test('one name for one target, whichever way it is written', () => {
  for (const name of ['recipient.email', 'email']) {
    expect(targetName(targetOf(name, fields) ?? { kind: 'unused', column: '' })).toBe('email')
  }
  const part = targetOf('licence.issuer.name', fields)
  expect(part && targetName(part)).toBe('licence.issuer.name')
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
])('%s is probably %s', (header, column) => {
  expect(suggestColumn(header, names)).toBe(column)
})

test.each(['', '***', 'Notes', 'number'])('%j suggests nothing: it says none, or two', (header) => {
  expect(suggestColumn(header, names)).toBeUndefined()
})

test('another word for a column that the file may not have suggests nothing', () => {
  expect(suggestColumn('Surname', ['email'])).toBeUndefined()
})

const read = (flags: string[], headers: string[]) => ({ ...readMapFlags(flags, headers) })

test('a flag is split where its left side is a header of the file', () => {
  expect(read(['Given name = first_name'], [' Given name '])).toEqual({ 'Given name': 'first_name' })
  expect(read(['a=b=email'], ['a=b'])).toEqual({ 'a=b': 'email' })
  expect(read(['a=b=email'], ['a'])).toEqual({ a: 'b=email' })
})

test('a flag without =, of a header that is not there, or twice for one header is refused', () => {
  expect(() => read(['email'], ['email'])).toThrow(UsageError)
  expect(() => read(['=email'], ['email'])).toThrow(/=/)
  expect(() => read(['Mail=email'], ['E-mail', ''])).toThrow(/"Mail"/)
  expect(() => read(['Mail=email', 'Mail=phone'], ['Mail'])).toThrow(/"Mail".*twice/)
})

test('what is said now overrides what was kept', () => {
  const stored = { map: { Mail: 'email', Tel: 'phone' }, ignore: ['Notes', 'Id'] }
  expect(mergeMappings(stored, { map: { Notes: 'first_name' }, ignore: ['Tel', 'Id'] })).toEqual({
    map: { Mail: 'email', Notes: 'first_name' },
    ignore: ['Id', 'Tel'],
  })
})

test('a header named like a property of every object is kept as any other', () => {
  expect(
    Object.keys(mergeMappings({ map: {}, ignore: [] }, { map: { constructor: 'email' }, ignore: [] }).map),
  ).toEqual(['constructor'])
  expect(read(['__proto__=email'], ['__proto__'])).toEqual({ ['__proto__']: 'email' })
})

test('the flags that say the same can be pasted', () => {
  expect(mappingFlags({ map: { 'Given name': 'first_name' }, ignore: ['Notes', 'a b'] })).toBe(
    "--map 'Given name=first_name' --ignore Notes --ignore 'a b'",
  )
  expect(mappingFlags({ map: {}, ignore: [] })).toBe('')
})

test('a kept reading reads back as it was kept', () => {
  const reading = { sheet: 'S', header_row: 2, encoding: 'utf-8', hidden: 'skip', default_country: 'AU' }
  expect(parseStoredReading(reading)).toEqual(reading)
  expect(parseStoredReading({})).toEqual({})
})

test('what is of another kind is left out, and what is no object is none', () => {
  expect(parseStoredReading({ sheet: 1, header_row: 0, encoding: null, hidden: 'maybe', more: 1 })).toEqual(
    {},
  )
  expect(parseStoredReading({ header_row: 1.5 })).toEqual({})
  for (const value of [undefined, null, 'x', 1]) expect(parseStoredReading(value)).toBeUndefined()
})
