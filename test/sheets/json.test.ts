import { expect, test } from 'vitest'

import { jsonRow } from '../../src/domain/batch/cell-value.ts'
import { openSheet } from '../../src/sheets/open.ts'
import { bufferedSource } from '../../src/sheets/sheet.ts'
import { collect, splitIntoChunks } from './table.ts'

/** Reads a JSON file as a batch does: a nested name becomes a column such as `recipient.phone`. */
async function readBatchTable(text: string | Buffer, chunkSize = 1000) {
  const bytes = Buffer.from(text)
  const sheet = await openSheet(await bufferedSource(splitIntoChunks(bytes, chunkSize), 'p.json'), {
    readJson: jsonRow,
  })
  const rows = await collect(sheet.rows())
  return { columns: sheet.columns, rows: rows.map(({ row, line, cells }) => ({ row, line, cells })) }
}

const body = `[
  {"recipient": {"first_name": "Zoë", "phone": "+61412345678"},
   "additional_information": [{"code": "k", "fields": {"list": ["a"], "n": 7}}]},
  {"recipient": {"first_name": "李"}}
]`

test.each([
  ['UTF-8', body],
  ['UTF-8 with a byte order mark', `\uFEFF${body}`],
  ['UTF-16', Buffer.from(`\uFEFF${body}`, 'utf16le')],
  ['big-endian UTF-16', Buffer.from(`\uFEFF${body}`, 'utf16le').swap16()],
])('a JSON file of request bodies in %s is read into columns and rows', async (_, text) => {
  for (const chunkSize of [1, 7, 1000]) {
    expect(await readBatchTable(text, chunkSize)).toEqual({
      columns: ['recipient.first_name', 'recipient.phone', 'k.list', 'k.n'],
      rows: [
        {
          row: 1,
          line: 2,
          cells: [
            'Zoë',
            '+61412345678',
            { kind: 'json', text: '["a"]', value: ['a'] },
            { kind: 'json', text: '7', value: 7 },
          ],
        },
        { row: 2, line: 4, cells: ['李', '', '', ''] },
      ],
    })
  }
})

test.each([
  ['a duplicate name', '[\n{"a": 1,\n "a": 2}\n]', /^p\.json: line 3: /],
  ['a duplicate name with an escape', '{"a": 1}\n{"ab": 1, "\\u0061b": 2}', /^p\.json: line 2: /],
  ['a number that would be rounded', '{"id": 12345678901234567890}', /^p\.json: line 1: /],
  ['a comma before a closing bracket', '{"a": 1,\n}', /^p\.json: line 2: /],
  ['a control character', '{"a": "\u0001"}', /^p\.json: line 1: /],
])('JSON with %s is refused, and the message contains the line', async (_, text, message) => {
  await expect(readBatchTable(text)).rejects.toThrow(message)
})

test('the names __proto__ and constructor are ordinary columns', async () => {
  const { columns, rows } = await readBatchTable('{"__proto__": "x", "constructor": "y"}')
  expect(columns).toEqual(['__proto__', 'constructor'])
  expect(rows[0]?.cells).toEqual(['x', 'y'])
})
