import { expect, test } from 'vitest'

import { ForbiddenError, UsageError } from '../../src/errors/kinds.ts'
import {
  failureJson,
  failureText,
  arrangeColumns,
  jsonDocument,
  type ListFormat,
  presentList,
  presentText,
} from '../../src/output/present.ts'
import type { ListView } from '../../src/output/view.ts'
import { captureStreams } from '../harness/streams.ts'

interface Row {
  id: number
  name: string | null
}

const view: ListView<Row> = {
  rows: [
    { id: 10, name: 'beta' },
    { id: 9, name: null },
    { id: 100, name: 'Alpha' },
  ],
  columns: [
    { name: 'id', value: (row) => row.id },
    { name: 'name', value: (row) => row.name },
    { name: 'secondary', value: () => 'x', extra: true },
  ],
  empty: 'Nothing here.',
}
const defaultFormat: ListFormat = { csv: false, columns: undefined, sort: undefined, header: true }
const terminal = { columns: undefined, color: false }

function printList(format: Partial<ListFormat>, list = view): string {
  const streams = captureStreams()
  const fullFormat = { ...defaultFormat, ...format }
  presentList(arrangeColumns(list, fullFormat), fullFormat, streams.stdout, terminal)
  return streams.out().toString()
}

test('--sort sorts numbers by size and words by the alphabet, with missing values last', () => {
  expect(arrangeColumns(view, { ...defaultFormat, sort: 'id' }).rows.map((row) => row.id)).toEqual([
    9, 10, 100,
  ])
  expect(arrangeColumns(view, { ...defaultFormat, sort: '-id' }).rows.map((row) => row.id)).toEqual([
    100, 10, 9,
  ])
  expect(arrangeColumns(view, { ...defaultFormat, sort: 'name' }).rows.map((row) => row.name)).toEqual([
    'Alpha',
    'beta',
    null,
  ])
})

test('--columns selects and orders columns, and extra columns are shown only if selected, or in CSV', () => {
  expect(printList({ columns: 'name,id' }).split('\n')[0]).toBe('NAME   ID')
  expect(printList({})).not.toContain('SECONDARY')
  expect(printList({ columns: 'secondary' })).toContain('SECONDARY')
  expect(printList({ csv: true }).split('\n')[0]).toBe('id,name,secondary')
})

test('--no-header leaves out the header', () => {
  expect(printList({ csv: true, header: false }).split('\n')[0]).toBe('10,beta,x')
})

test.each(['columns', 'sort'])('an unknown column in --%s is refused with its name', (flag) => {
  expect(() => printList({ [flag]: 'nope' })).toThrow(UsageError)
  expect(() => printList({ [flag]: 'nope' })).toThrow(`--${flag}: no column named "nope"`)
})

test('an empty list is printed as a sentence, and in CSV as only a header', () => {
  expect(printList({}, { ...view, rows: [] })).toBe('Nothing here.\n')
  expect(printList({ csv: true }, { ...view, rows: [] })).toBe('id,name,secondary\n')
})

const failure = new ForbiddenError('no credits\u001B[2J', { status: 403, hint: 'Buy some.' })

test('a failure is one line and a hint, without control characters', () => {
  expect(failureText(failure, terminal)).toBe('Error: no credits\nBuy some.\n')
})

test('the JSON of a failure has no keys without a value, and its strings are unchanged', () => {
  expect(failureJson(failure)).toEqual({
    code: 'forbidden',
    message: 'no credits\u001B[2J',
    hint: 'Buy some.',
    status: 403,
  })
})

test('a JSON object with a failure contains the error, and a JSON array does not', () => {
  expect(JSON.parse(jsonDocument({ a: 1 }, failure))).toHaveProperty('error.code', 'forbidden')
  expect(JSON.parse(jsonDocument([1], failure))).toEqual([1])
})

test('JSON escapes the characters that a terminal obeys, and parses to the same value', () => {
  const value = { name: 'a\u009B2J\u007F\u202Eb\u2028', plain: 'Zoë ’ 日本' }
  const document = jsonDocument(value)
  expect(document).toBe('{\n  "name": "a\\u009b2J\\u007f\\u202eb\\u2028",\n  "plain": "Zoë ’ 日本"\n}\n')
  expect(JSON.parse(document)).toEqual(value)
})

test('the text of a view is wrapped between words, unless it is verbatim', () => {
  const printText = (isVerbatim: boolean): string => {
    const streams = captureStreams()
    const textView = { json: null, text: () => 'sound  /data/ledger.sqlite (by the logs of this machine)' }
    presentText(isVerbatim ? { ...textView, isVerbatim } : textView, streams.stdout, {
      columns: 40,
      color: false,
    })
    return streams.out().toString()
  }
  expect(printText(false)).toBe('sound  /data/ledger.sqlite (by the logs\nof this machine)\n')
  expect(printText(true)).toBe('sound  /data/ledger.sqlite (by the logs of this machine)\n')
})
