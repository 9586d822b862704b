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
  createRowReader,
  type RowRules,
  readingOrder,
  insertNested,
} from '../../../src/domain/batch/row.ts'
import type { Cell } from '../../../src/domain/sheet/cell.ts'
import { plainSchema, sampleSchema } from '../form/sample-schema.ts'

describe('a row', () => {
  const recipientColumns = ['first_name', 'last_name', 'email', 'phone']
  const annCells = ['Ann', 'Lee', 'ann@example.com', '+61400000000']

  /** Reads one row of a file with the given headers. */
  function readRow(headers: readonly string[], cells: Cell[], rules: Partial<RowRules> = {}): RowReading {
    const schemas = [plainSchema, sampleSchema]
    const reader = createRowReader({
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

  const invalidCells = ({ problems }: RowReading): [column: string, value: string][] =>
    problems.map(({ column, value }) => [column, value])

  test('a valid row becomes a request body, and its recipient is returned', () => {
    const { row, packageId, body, person, changes, problems } = readRow(recipientColumns, annCells)
    expect({ row, packageId, changes, problems }).toEqual({ row: 3, packageId: 7, changes: [], problems: [] })
    expect(body).toEqual({ package_id: 7, recipient: person })
    expect(person.email).toBe('ann@example.com')
  })

  test('each invalid column has one problem with the header and the value of the file', () => {
    const found = readRow(
      ['recipient.first_name', ...recipientColumns.slice(1)],
      ['', 'Lee', 'nobody', '0400'],
    )
    expect(found.body).toBeUndefined()
    expect(invalidCells(found)).toEqual([
      ['recipient.first_name', ''],
      ['email', 'nobody'],
      ['phone', '0400'],
    ])
    expect(found.problems.every(({ row }) => row === 3)).toBe(true)
  })

  test('the recipient of an invalid row is returned with all values of the file', () => {
    expect(readRow(recipientColumns, ['Ann', '', 'nobody', '+61400000000']).person).toEqual({
      first_name: 'Ann',
      last_name: '',
      email: 'nobody',
      phone: '+61400000000',
    })
  })

  test('white space around a value is removed and listed as a change', () => {
    const { body, changes } = readRow(recipientColumns, [' Ann ', ...annCells.slice(1)])
    expect(body?.recipient.first_name).toBe('Ann')
    expect(changes).toEqual([{ row: 3, line: 4, column: 'first_name', from: ' Ann ', to: 'Ann' }])
  })

  test('a national phone number is repaired if a repair is given, and refused if the repair fails', () => {
    const repair = (text: string): string | undefined => (text.startsWith('04') ? '+61400000000' : undefined)
    const repaired = readRow(recipientColumns, [...annCells.slice(0, 3), '0400 000 000'], { repair })
    expect(repaired.body?.recipient.phone).toBe('+61400000000')
    expect(repaired.changes).toEqual([
      { row: 3, line: 4, column: 'phone', from: '0400 000 000', to: '+61400000000' },
    ])
    expect(invalidCells(readRow(recipientColumns, [...annCells.slice(0, 3), '12'], { repair }))).toEqual([
      ['phone', '12'],
    ])
  })

  test('the package comes from the flag or the row; a row without a package, or with an invalid, other or unknown one, is refused', () => {
    const headers = ['package_id', ...recipientColumns]
    expect(readRow(headers, ['', ...annCells]).packageId).toBe(7)
    expect(readRow(headers, ['7', ...annCells], { packageId: undefined }).packageId).toBe(7)
    expect(invalidCells(readRow(headers, ['', ...annCells], { packageId: undefined }))).toEqual([
      ['package_id', ''],
    ])
    expect(invalidCells(readRow(recipientColumns, annCells, { packageId: undefined }))).toEqual([
      ['package_id', ''],
    ])
    for (const id of ['7.0', '007', 'x', '12']) {
      expect(invalidCells(readRow(headers, [id, ...annCells]))).toEqual([['package_id', id]])
    }
    expect(invalidCells(readRow(headers, ['999', ...annCells], { packageId: undefined }))).toEqual([
      ['package_id', '999'],
    ])
  })

  const fields = ['ncc_acic.date_of_birth', 'licence.licence_number', 'licence.commercial']
  const samplePackage = { packageId: 12 }

  test('additional information is grouped by check', () => {
    const { body, problems } = readRow(
      [...recipientColumns, ...fields],
      [...annCells, '1990-04-23', 'A-1', 'yes'],
      samplePackage,
    )
    expect(problems).toEqual([])
    expect(body?.additional_information).toEqual([
      { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23' } },
      { code: 'licence', fields: { licence_number: 'A-1', commercial: true } },
    ])
  })

  test('parts of lists are ordered by number and without gaps; parts of objects are set by name', () => {
    const headers = [
      ...recipientColumns,
      ...fields,
      'ncc_acic.aliases.2',
      'ncc_acic.aliases.1',
      'licence.issuer.name',
    ]
    const { body } = readRow(
      headers,
      [...annCells, '1990-04-23', 'A-1', 'no', 'second', 'first', 'State'],
      samplePackage,
    )
    expect(body?.additional_information).toMatchObject([
      { fields: { aliases: ['first', 'second'] } },
      { fields: { issuer: { name: 'State' } } },
    ])
    const rowWithGap = readRow(
      headers,
      [...annCells, '1990-04-23', 'A-1', 'no', 'second', '', ''],
      samplePackage,
    )
    expect(rowWithGap.body?.additional_information).toMatchObject([{ fields: { aliases: ['second'] } }, {}])
  })

  test('a list part whose name is not a number is refused', () => {
    const headers = [...recipientColumns, ...fields, 'ncc_acic.aliases.x']
    const found = readRow(headers, [...annCells, '1990-04-23', 'A-1', 'no', 'one'], samplePackage)
    expect(invalidCells(found)).toEqual([['ncc_acic.aliases.x', 'one']])
  })

  test('a field of another package is refused if it has a value, and ignored if it is empty', () => {
    const headers = [...recipientColumns, 'licence.points']
    expect(invalidCells(readRow(headers, [...annCells, '1']))).toEqual([['licence.points', '1']])
    expect(readRow(headers, [...annCells, '']).problems).toEqual([])
  })

  test('a date that can be read as one day only is suggested', () => {
    const { problems } = readRow(
      [...recipientColumns, ...fields],
      [...annCells, '23/04/1990', 'A-1', 'no'],
      samplePackage,
    )
    expect(problems).toMatchObject([{ column: 'ncc_acic.date_of_birth', suggestion: '1990-04-23' }])
  })

  test('a leading apostrophe that marks a cell as text is removed and listed as a change', () => {
    const marked: Cell = { kind: 'escaped', text: '+61400000000', written: "'+61400000000" }
    const { body, changes } = readRow(recipientColumns, [...annCells.slice(0, 3), marked])
    expect(body?.recipient.phone).toBe('+61400000000')
    expect(changes).toEqual([{ row: 3, line: 4, column: 'phone', from: "'+61400000000", to: '+61400000000' }])
  })

  test('fields named like properties of Object.prototype are read, and reported if they are missing', () => {
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
    const both = [...recipientColumns, 'x.__proto__', 'x.constructor']
    const { body } = readRow(both, [...annCells, 'a', 'b'], rules(both))
    expect(JSON.stringify(body?.additional_information)).toBe(
      '[{"code":"x","fields":{"__proto__":"a","constructor":"b"}}]',
    )
    for (const column of ['x.__proto__', 'x.constructor']) {
      const headers = [...recipientColumns, column]
      expect(invalidCells(readRow(headers, [...annCells, 'a'], rules(headers)))).toEqual([
        [column === 'x.__proto__' ? 'x.constructor' : 'x.__proto__', ''],
      ])
    }
  })
})

describe('the order of columns', () => {
  const fields = knownFields([sampleSchema])
  const readPositions = (...names: string[]): number[] =>
    readingOrder(names.map((name) => targetOf(name, fields) ?? unusedTarget)).map(({ position }) => position)

  test('columns are read in the order of the file, without the package and unused columns', () => {
    expect(readPositions('email', 'nothing', 'package_id', 'phone')).toEqual([0, 3])
  })

  test('the parts of a list are read by number, at the position of the first of them', () => {
    expect(readPositions('ncc_acic.aliases.10', 'email', 'ncc_acic.aliases.2', 'ncc_acic.aliases.1')).toEqual(
      [3, 2, 0, 1],
    )
  })
})

test('a numbered part is appended to a list', () => {
  expect(insertNested(undefined, true, ['7'], 'a')).toEqual(['a'])
  expect(insertNested(['a'], true, ['1'], 'b')).toEqual(['a', 'b'])
})

test('a named part is set in an object, at any depth', () => {
  expect(insertNested(undefined, false, ['a', 'b'], 1)).toEqual({ a: { b: 1 } })
  expect(insertNested({ a: { b: 1 } }, false, ['a', 'c'], 2)).toEqual({ a: { b: 1, c: 2 } })
})

test('insertNested returns undefined for a name in a list, a part of a plain value, and a second value of one name', () => {
  expect(insertNested(undefined, true, ['x'], 'a')).toBeUndefined()
  expect(insertNested(undefined, true, ['12345'], 'a')).toBeUndefined()
  expect(insertNested(undefined, true, ['1', 'x'], 'a')).toBeUndefined()
  expect(insertNested('text', true, ['1'], 'a')).toBeUndefined()
  expect(insertNested({ a: 1 }, false, ['a', 'b'], 2)).toBeUndefined()
  expect(insertNested({ a: 1 }, false, ['a'], 2)).toBeUndefined()
  expect(insertNested(['a'], false, ['a'], 2)).toBeUndefined()
})

test('a part named like a property of Object.prototype is set like any other', () => {
  expect(Object.keys(insertNested(undefined, false, ['constructor'], 1) ?? {})).toEqual(['constructor'])
})
