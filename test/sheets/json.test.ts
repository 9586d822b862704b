import { expect, test } from 'vitest'

import { jsonRow } from '../../src/domain/batch/cell-value.ts'
import { openSheet } from '../../src/sheets/open.ts'
import { bufferedSource } from '../../src/sheets/sheet.ts'
import { all, inChunks } from './table.ts'

/** A JSON file as a batch reads it: names within names are dotted columns. */
async function batchTable(text: string | Buffer, size = 1000) {
  const bytes = Buffer.from(text)
  const sheet = await openSheet(await bufferedSource(inChunks(bytes, size), 'p.json'), { readJson: jsonRow })
  const rows = await all(sheet.rows())
  return { columns: sheet.columns, rows: rows.map(({ row, line, cells }) => ({ row, line, cells })) }
}

const body = `[
  {"recipient": {"first_name": "Zoë", "phone": "+61412345678"},
   "additional_information": [{"code": "k", "fields": {"list": ["a"], "n": 7}}]},
  {"recipient": {"first_name": "李"}}
]`

test.each([
  ['UTF-8', body],
  ['UTF-8 with a mark', `\uFEFF${body}`],
  ['UTF-16', Buffer.from(`\uFEFF${body}`, 'utf16le')],
  ['UTF-16, big end first', Buffer.from(`\uFEFF${body}`, 'utf16le').swap16()],
])('bodies of requests, in %s', async (_, text) => {
  for (const size of [1, 7, 1000]) {
    expect(await batchTable(text, size)).toEqual({
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
  ['a name twice', '[\n{"a": 1,\n "a": 2}\n]', /^p\.json: line 3: /],
  ['a name twice, spelt otherwise', '{"a": 1}\n{"ab": 1, "\\u0061b": 2}', /^p\.json: line 2: /],
  ['a number that would be rounded', '{"id": 12345678901234567890}', /^p\.json: line 1: /],
  ['a comma too many', '{"a": 1,\n}', /^p\.json: line 2: /],
  ['a control character', '{"a": "\u0001"}', /^p\.json: line 1: /],
])('%s is refused by its line', async (_, text, words) => {
  await expect(batchTable(text)).rejects.toThrow(words)
})

test('what is called __proto__ is a column like any other', async () => {
  const { columns, rows } = await batchTable('{"__proto__": "x", "constructor": "y"}')
  expect(columns).toEqual(['__proto__', 'constructor'])
  expect(rows[0]?.cells).toEqual(['x', 'y'])
})
