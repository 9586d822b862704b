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
const plain: ListFormat = { csv: false, columns: undefined, sort: undefined, header: true }
const terminal = { columns: undefined, color: false }

function printed(format: Partial<ListFormat>, list = view): string {
  const streams = captureStreams()
  const whole = { ...plain, ...format }
  presentList(arrangeColumns(list, whole), whole, streams.stdout, terminal)
  return streams.out().toString()
}

test('--sort sorts numbers by size and words by the alphabet, what is missing last', () => {
  expect(arrangeColumns(view, { ...plain, sort: 'id' }).rows.map((row) => row.id)).toEqual([9, 10, 100])
  expect(arrangeColumns(view, { ...plain, sort: '-id' }).rows.map((row) => row.id)).toEqual([100, 10, 9])
  expect(arrangeColumns(view, { ...plain, sort: 'name' }).rows.map((row) => row.name)).toEqual([
    'Alpha',
    'beta',
    null,
  ])
})

test('--columns chooses and orders; extra columns appear only when asked for, or in CSV', () => {
  expect(printed({ columns: 'name,id' }).split('\n')[0]).toBe('NAME   ID')
  expect(printed({})).not.toContain('SECONDARY')
  expect(printed({ columns: 'secondary' })).toContain('SECONDARY')
  expect(printed({ csv: true }).split('\n')[0]).toBe('id,name,secondary')
})

test('--no-header', () => {
  expect(printed({ csv: true, header: false }).split('\n')[0]).toBe('10,beta,x')
})

test.each(['columns', 'sort'])('a column that is not there is refused by name: --%s', (flag) => {
  expect(() => printed({ [flag]: 'nope' })).toThrow(UsageError)
  expect(() => printed({ [flag]: 'nope' })).toThrow(`--${flag}: no column named "nope"`)
})

test('an empty list is said in words, and is only a header in CSV', () => {
  expect(printed({}, { ...view, rows: [] })).toBe('Nothing here.\n')
  expect(printed({ csv: true }, { ...view, rows: [] })).toBe('id,name,secondary\n')
})

const failure = new ForbiddenError('no credits\u001B[2J', { status: 403, hint: 'Buy some.' })

test('a failure is one line and a hint, without control characters', () => {
  expect(failureText(failure, terminal)).toBe('Error: no credits\nBuy some.\n')
})

test('in JSON the keys that do not apply are left out, and strings are exact', () => {
  expect(failureJson(failure)).toEqual({
    code: 'forbidden',
    message: 'no credits\u001B[2J',
    hint: 'Buy some.',
    status: 403,
  })
})

test('an answer that fails carries its error, an array does not', () => {
  expect(JSON.parse(jsonDocument({ a: 1 }, failure))).toHaveProperty('error.code', 'forbidden')
  expect(JSON.parse(jsonDocument([1], failure))).toEqual([1])
})

test('JSON holds nothing that a terminal obeys, and loses nothing', () => {
  const value = { name: 'a\u009B2J\u007F\u202Eb\u2028', plain: 'Zoë ’ 日本' }
  const document = jsonDocument(value)
  expect(document).toBe('{\n  "name": "a\\u009b2J\\u007f\\u202eb\\u2028",\n  "plain": "Zoë ’ 日本"\n}\n')
  expect(JSON.parse(document)).toEqual(value)
})

test('text of a view is broken between two words, and text that is verbatim is not', () => {
  const printedText = (isVerbatim: boolean): string => {
    const streams = captureStreams()
    const words = { json: null, text: () => 'sound  /data/ledger.sqlite (by the logs of this machine)' }
    presentText(isVerbatim ? { ...words, isVerbatim } : words, streams.stdout, { columns: 40, color: false })
    return streams.out().toString()
  }
  expect(printedText(false)).toBe('sound  /data/ledger.sqlite (by the logs\nof this machine)\n')
  expect(printedText(true)).toBe('sound  /data/ledger.sqlite (by the logs of this machine)\n')
})
