import { expect, test } from 'vitest'

import { checkFlags, matchColumns, settledColumns } from '../../../src/domain/batch/columns.ts'
import { type Mapping, noMapping } from '../../../src/domain/batch/mapping.ts'
import { InvalidInputError, UsageError } from '../../../src/errors/kinds.ts'
import { plainSchema, sampleSchema } from '../form/sample-schema.ts'

const four = ['first_name', 'last_name', 'email', 'phone']
const match = (headers: readonly string[], mapping: Mapping = noMapping, schemas = [plainSchema]) =>
  matchColumns(headers, schemas, mapping)
const settle = (
  headers: readonly string[],
  mapping: Mapping = noMapping,
  schemas = [plainSchema],
  hidden: ReadonlySet<number> = new Set(),
) =>
  settledColumns(
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

test('all four columns of a person are needed, once', () => {
  expect(settle(four)).toHaveLength(4)
  expect(() => settle(four.slice(1))).toThrow(InvalidInputError)
  expect(() => settle(four.slice(1))).toThrow(/^people\.csv: .*first_name/)
  expect(() => settle(four.slice(2))).toThrow(/first_name, last_name are/)
})

test('two columns that say the same are refused, and so are a whole and a part of it', () => {
  expect(() => settle([...four, 'recipient.email'])).toThrow(/"email" and "recipient\.email"/)
  const fields = ['licence.issuer', 'licence.issuer.name']
  expect(() => settle([...four, ...fields], noMapping, [sampleSchema])).toThrow(/licence\.issuer/)
})

test('a column that one of several packages does not need may be missing', () => {
  const needed = ['ncc_acic.date_of_birth', 'licence.licence_number', 'licence.commercial']
  expect(() => settle(four, noMapping, [sampleSchema])).toThrow(/ncc_acic\.date_of_birth/)
  expect(settle([...four, ...needed], noMapping, [sampleSchema])).toHaveLength(7)
  expect(settle(four, noMapping, [sampleSchema, plainSchema])).toHaveLength(4)
})

test('an unknown column is refused with the flags that would do', () => {
  const refused = (): unknown => {
    try {
      return settle(['Given name', ...four.slice(1), "it's"])
    } catch (error) {
      return error
    }
  }
  const hint = expect.stringMatching(/--map 'Given name=first_name' --ignore 'it'\\''s'/) as string
  expect(refused()).toMatchObject({ code: 'invalid_input', field: 'Given name', hint })
})

test('flags that name no column of the file, or of a batch file, are slips', () => {
  const flags = (said: Partial<Mapping>) => () => checkFlags(four, [plainSchema], { ...noMapping, ...said })
  expect(flags({ ignore: ['phone'], map: { email: 'email' } })).not.toThrow()
  expect(flags({ ignore: ['Notes'] })).toThrow(UsageError)
  expect(flags({ ignore: ['Notes'] })).toThrow(/--ignore.*"Notes"/)
  expect(flags({ map: { email: 'emall' } })).toThrow(/--map.*"emall"/)
})
