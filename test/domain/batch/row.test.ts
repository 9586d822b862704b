import { expect, test, describe } from 'vitest'

import {
  matchColumns,
  noMapping,
  knownFields,
  targetOf,
  unusedTarget,
} from '../../../src/domain/batch/columns.ts'
import {
  type RowReading,
  rowReader,
  type RowRules,
  readingOrder,
  insertNested,
} from '../../../src/domain/batch/row.ts'
import type { Cell } from '../../../src/domain/sheet/cell.ts'
import { plainSchema, sampleSchema } from '../form/sample-schema.ts'

describe('a row', () => {
  const four = ['first_name', 'last_name', 'email', 'phone']
  const ann = ['Ann', 'Lee', 'ann@example.com', '+61400000000']

  /** Reads one row of a file with these columns. */
  function read(headers: readonly string[], cells: Cell[], rules: Partial<RowRules> = {}): RowReading {
    const schemas = [plainSchema, sampleSchema]
    const reader = rowReader({
      headers,
      targets: matchColumns(headers, schemas, noMapping).targets,
      schemas: new Map(schemas.map((schema) => [schema.id, schema])),
      packageId: 7,
      repair: undefined,
      acceptedLines: new Set(),
      ...rules,
    })
    return reader({ row: 3, line: 4, cells })
  }

  const wrong = ({ problems }: RowReading): [column: string, value: string][] =>
    problems.map(({ column, value }) => [column, value])

  test('a sound row becomes a body, and says who it is for', () => {
    const { row, packageId, body, person, changes, problems } = read(four, ann)
    expect({ row, packageId, changes, problems }).toEqual({ row: 3, packageId: 7, changes: [], problems: [] })
    expect(body).toEqual({ package_id: 7, recipient: person })
    expect(person.email).toBe('ann@example.com')
  })

  test('each column that is wrong has one problem, with the header and the value of the file', () => {
    const found = read(['recipient.first_name', ...four.slice(1)], ['', 'Lee', 'nobody', '0400'])
    expect(found.body).toBeUndefined()
    expect(wrong(found)).toEqual([
      ['recipient.first_name', ''],
      ['email', 'nobody'],
      ['phone', '0400'],
    ])
    expect(found.problems.every(({ row }) => row === 3)).toBe(true)
  })

  test('whom a row that is wrong is for is read as far as it can be', () => {
    expect(read(four, ['Ann', '', 'nobody', '+61400000000']).person).toEqual({
      first_name: 'Ann',
      last_name: '',
      email: 'nobody',
      phone: '+61400000000',
    })
  })

  test('white space around a value is taken off, and that is a change', () => {
    const { body, changes } = read(four, [' Ann ', ...ann.slice(1)])
    expect(body?.recipient.first_name).toBe('Ann')
    expect(changes).toEqual([{ row: 3, line: 4, column: 'first_name', from: ' Ann ', to: 'Ann' }])
  })

  test('a national number is repaired where a country is said, one with a + never', () => {
    const repair = (text: string): string | undefined => (text.startsWith('04') ? '+61400000000' : undefined)
    const national = read(four, [...ann.slice(0, 3), '0400 000 000'], { repair })
    expect(national.body?.recipient.phone).toBe('+61400000000')
    expect(national.changes).toEqual([
      { row: 3, line: 4, column: 'phone', from: '0400 000 000', to: '+61400000000' },
    ])
    expect(wrong(read(four, [...ann.slice(0, 3), '12'], { repair }))).toEqual([['phone', '12']])
  })

  test('the package: of the flag, of the row, missing, none, another, or one that may not be ordered', () => {
    const headers = ['package_id', ...four]
    expect(read(headers, ['', ...ann]).packageId).toBe(7)
    expect(read(headers, ['7', ...ann], { packageId: undefined }).packageId).toBe(7)
    expect(wrong(read(headers, ['', ...ann], { packageId: undefined }))).toEqual([['package_id', '']])
    expect(wrong(read(four, ann, { packageId: undefined }))).toEqual([['package_id', '']])
    for (const id of ['7.0', '007', 'x', '12']) {
      expect(wrong(read(headers, [id, ...ann]))).toEqual([['package_id', id]])
    }
    expect(wrong(read(headers, ['999', ...ann], { packageId: undefined }))).toEqual([['package_id', '999']])
  })

  const fields = ['ncc_acic.date_of_birth', 'licence.licence_number', 'licence.commercial']
  const sample = { packageId: 12 }

  test('additional information is put together check by check', () => {
    const { body, problems } = read([...four, ...fields], [...ann, '1990-04-23', 'A-1', 'yes'], sample)
    expect(problems).toEqual([])
    expect(body?.additional_information).toEqual([
      { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23' } },
      { code: 'licence', fields: { licence_number: 'A-1', commercial: true } },
    ])
  })

  test('parts of lists stand in the order of their numbers, without holes; parts of objects by their names', () => {
    const headers = [...four, ...fields, 'ncc_acic.aliases.2', 'ncc_acic.aliases.1', 'licence.issuer.name']
    const { body } = read(headers, [...ann, '1990-04-23', 'A-1', 'no', 'second', 'first', 'State'], sample)
    expect(body?.additional_information).toMatchObject([
      { fields: { aliases: ['first', 'second'] } },
      { fields: { issuer: { name: 'State' } } },
    ])
    const hole = read(headers, [...ann, '1990-04-23', 'A-1', 'no', 'second', '', ''], sample)
    expect(hole.body?.additional_information).toMatchObject([{ fields: { aliases: ['second'] } }, {}])
  })

  test('a part that does not fit the other parts is wrong', () => {
    const headers = [...four, ...fields, 'ncc_acic.aliases.x']
    const found = read(headers, [...ann, '1990-04-23', 'A-1', 'no', 'one'], sample)
    expect(wrong(found)).toEqual([['ncc_acic.aliases.x', 'one']])
  })

  test('a field of another package is wrong where it holds something, and nothing where it is empty', () => {
    const headers = [...four, 'licence.points']
    expect(wrong(read(headers, [...ann, '1']))).toEqual([['licence.points', '1']])
    expect(read(headers, [...ann, '']).problems).toEqual([])
  })

  test('a date that can only be one day is suggested', () => {
    const { problems } = read([...four, ...fields], [...ann, '23/04/1990', 'A-1', 'no'], sample)
    expect(problems).toMatchObject([{ column: 'ncc_acic.date_of_birth', suggestion: '1990-04-23' }])
  })

  test('a text that an apostrophe kept from being a formula is a change', () => {
    const marked: Cell = { kind: 'marked', text: '+61400000000', written: "'+61400000000" }
    const { body, changes } = read(four, [...ann.slice(0, 3), marked])
    expect(body?.recipient.phone).toBe('+61400000000')
    expect(changes).toEqual([{ row: 3, line: 4, column: 'phone', from: "'+61400000000", to: '+61400000000' }])
  })

  test('fields that are called as an object’s own are fields like any other, missing ones too', () => {
    const text = { type: 'string', required: true, description: '' } as const
    const named = JSON.parse(
      JSON.stringify({ plain: text, constructor: text }).replace('"plain"', '"__proto__"'),
    ) as Record<string, typeof text>
    const schema = {
      ...plainSchema,
      fields: {
        ...plainSchema.fields,
        additional_information: [{ code: 'x', display_name: 'X', fields: named }],
      },
    }
    const rules = (headers: string[]) => ({
      schemas: new Map([[schema.id, schema]]),
      packageId: schema.id,
      targets: matchColumns(headers, [schema], noMapping).targets,
    })
    const both = [...four, 'x.__proto__', 'x.constructor']
    const { body } = read(both, [...ann, 'a', 'b'], rules(both))
    expect(JSON.stringify(body?.additional_information)).toBe(
      '[{"code":"x","fields":{"__proto__":"a","constructor":"b"}}]',
    )
    for (const column of ['x.__proto__', 'x.constructor']) {
      const headers = [...four, column]
      expect(wrong(read(headers, [...ann, 'a'], rules(headers)))).toEqual([
        [column === 'x.__proto__' ? 'x.constructor' : 'x.__proto__', ''],
      ])
    }
  })
})

describe('the order of columns', () => {
  const fields = knownFields([sampleSchema])
  const order = (...names: string[]): number[] =>
    readingOrder(names.map((name) => targetOf(name, fields) ?? unusedTarget)).map(({ at }) => at)

  test('columns are read as they stand; the package, and what is unused, are not among them', () => {
    expect(order('email', 'nothing', 'package_id', 'phone')).toEqual([0, 3])
  })

  test('parts of one list are read by their numbers, where the first of them stands', () => {
    expect(order('ncc_acic.aliases.10', 'email', 'ncc_acic.aliases.2', 'ncc_acic.aliases.1')).toEqual([
      3, 2, 0, 1,
    ])
  })
})

test('a list takes what comes by numbers, without holes', () => {
  expect(insertNested(undefined, true, ['7'], 'a')).toEqual(['a'])
  expect(insertNested(['a'], true, ['1'], 'b')).toEqual(['a', 'b'])
})

test('an object takes what comes by names, as deep as they say', () => {
  expect(insertNested(undefined, false, ['a', 'b'], 1)).toEqual({ a: { b: 1 } })
  expect(insertNested({ a: { b: 1 } }, false, ['a', 'c'], 2)).toEqual({ a: { b: 1, c: 2 } })
})

test('there is no place for a name in a list, a part of a value, or a second value of one name', () => {
  expect(insertNested(undefined, true, ['x'], 'a')).toBeUndefined()
  expect(insertNested(undefined, true, ['12345'], 'a')).toBeUndefined()
  expect(insertNested(undefined, true, ['1', 'x'], 'a')).toBeUndefined()
  expect(insertNested('text', true, ['1'], 'a')).toBeUndefined()
  expect(insertNested({ a: 1 }, false, ['a', 'b'], 2)).toBeUndefined()
  expect(insertNested({ a: 1 }, false, ['a'], 2)).toBeUndefined()
  expect(insertNested(['a'], false, ['a'], 2)).toBeUndefined()
})

test('a name like a property of every object is a name like any other', () => {
  expect(Object.keys(insertNested(undefined, false, ['constructor'], 1) ?? {})).toEqual(['constructor'])
})
