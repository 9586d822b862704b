import { stripVTControlCharacters } from 'node:util'

import { expect, test } from 'vitest'

import { table } from '../../src/output/table.ts'
import type { Column } from '../../src/output/view.ts'

interface Row {
  id: number
  name: string | null
  status: string
}

const columns: Column<Row>[] = [
  { name: 'id', value: (row) => row.id },
  { name: 'package_name', value: (row) => row.name },
  { name: 'status', value: (row) => row.status, style: () => 'green' },
]
const rows: Row[] = [
  { id: 1, name: 'Standard employment screen', status: 'ACTIVE' },
  { id: 20, name: null, status: 'DISABLED' },
]
/** The output is a pipe: no width, no colours. */
const pipe = { columns: undefined, color: false }

test('a table has aligned columns, a header, and a dash for a missing value', () => {
  expect(table(rows, columns, pipe)).toMatchInlineSnapshot(`
    "ID  PACKAGE NAME                STATUS
    1   Standard employment screen  ACTIVE
    20  -                           DISABLED"
  `)
})

test('a table can be printed without its header', () => {
  expect(table(rows, columns, pipe, false).split('\n')).toHaveLength(2)
})

test('a long cell is wrapped to the width of the terminal, and nothing is cut', () => {
  const text = table(rows, columns, { columns: 30, color: false })
  expect(text.split('\n').every((line) => line.length <= 30)).toBe(true)
  expect(text).toMatchInlineSnapshot(`
    "ID  PACKAGE NAME      STATUS
    1   Standard          ACTIVE
        employment
        screen
    20  -                 DISABLED"
  `)
})

test('wide characters take two columns', () => {
  const text = table(
    [
      { id: 1, name: '山田太郎', status: 'ok' },
      { id: 2, name: 'abcdefgh', status: 'ok' },
    ],
    columns,
    pipe,
    false,
  )
  expect(text).toBe('1  山田太郎  ok\n2  abcdefgh  ok')
})

test('a cell is printed without escape sequences and bidi overrides', () => {
  const hostileName = '\u001B[31mred\u001B]0;title\u0007 \u202Egnp.exe'
  const text = table([{ id: 1, name: hostileName, status: 'ok' }], columns, { columns: 80, color: true })
  expect(stripVTControlCharacters(text)).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u)
  expect(text).toContain('red')
  expect(text).not.toContain('title')
})

test('a table has colours only if the terminal supports them', () => {
  expect(table(rows, columns, { columns: 80, color: true })).toContain('\u001B[32mACTIVE')
  expect(table(rows, columns, pipe)).not.toContain('\u001B')
})

test('an e-mail is wrapped first, an id only if that does not suffice; both break after a punctuation mark', () => {
  const outcomeColumns: Column<Row>[] = [
    { name: 'status', value: (row) => row.status },
    { name: 'email', value: () => 'ana.costa@example.com' },
    { name: 'outcome', value: () => 'is the same order as request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55' },
  ]
  expect(table(rows, outcomeColumns, { columns: 65, color: false })).toMatchInlineSnapshot(`
    "STATUS    EMAIL              OUTCOME
    ACTIVE    ana.costa@         is the same order as request
              example.com        3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    DISABLED  ana.costa@         is the same order as request
              example.com        3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55"
  `)
  expect(table(rows, outcomeColumns, { columns: 40, color: false })).toMatchInlineSnapshot(`
    "STATUS    EMAIL        OUTCOME
    ACTIVE    ana.costa@   is the same order
              example.com  as request
                           3f2b8c1e-5d4a-
                           4c7b-9e21-
                           0a6f8d3b7c55
    DISABLED  ana.costa@   is the same order
              example.com  as request
                           3f2b8c1e-5d4a-
                           4c7b-9e21-
                           0a6f8d3b7c55"
  `)
})

test('a column with avoidsWrapping is wrapped only if the other columns do not suffice', () => {
  const uuid = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
  const columnsWithId: Column<Row>[] = [
    { name: 'id', value: () => uuid, avoidsWrapping: true },
    { name: 'package_name', value: (row) => row.name },
    { name: 'status', value: (row) => row.status },
  ]
  expect(table(rows, columnsWithId, { columns: 60, color: false })).toContain(uuid)
  const narrowTable = table(rows, columnsWithId, { columns: 30, color: false })
  expect(Math.max(...narrowTable.split('\n').map((line) => line.length))).toBeLessThanOrEqual(30)
})

test('a wrapped cell of a tree keeps its indent', () => {
  const row = { id: 1, name: '└ Remy Referee <remy.referee.1@example.com>', status: 'ACTIVE' }
  expect(table([row], columns, { columns: 32, color: false }, false)).toMatchInlineSnapshot(`
    "1  └ Remy Referee         ACTIVE
         <remy.referee.1@
         example.com>"
  `)
})
