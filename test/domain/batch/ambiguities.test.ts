import { expect, test } from 'vitest'

import { type AmbiguityRules, Ambiguities } from '../../../src/domain/batch/ambiguities.ts'
import type { Cell, SheetRow } from '../../../src/domain/sheet/cell.ts'
import { targetOf } from '../../../src/domain/batch/columns.ts'

const email = targetOf('email', [])
if (email === undefined) throw new Error('email is a column')
const createRules = (hidden?: AmbiguityRules['hidden']): AmbiguityRules => ({
  headers: ['email', 'notes'],
  targets: [email, { kind: 'unused', column: '' }],
  hidden,
})
const createRow = (line: number, changes: Partial<SheetRow> = {}): SheetRow => ({
  row: line - 1,
  line,
  cells: ['a', 'b'],
  ...changes,
})
const sheet = { name: 'people.xlsx', headerLine: 1, merged: [], struckByConditionalFormat: [] }

test('a visible row is read and is not ambiguous', () => {
  const ambiguities = new Ambiguities(createRules())
  expect(ambiguities.shouldLeaveOut(createRow(2))).toBe(false)
  expect(ambiguities.findRefusal(sheet)).toBeUndefined()
})

test('hidden rows, and rows with a struck-through cell in a column that is sent, are refused until the user decides', () => {
  const ambiguities = new Ambiguities(createRules())
  const rows = [
    createRow(3, { isHidden: true }),
    createRow(4, { isHidden: true }),
    createRow(6, { struckColumns: [0] }),
    createRow(7, { struckColumns: [1] }),
  ]
  expect(rows.map((each) => ambiguities.shouldLeaveOut(each))).toEqual([false, false, false, false])
  expect([ambiguities.hiddenLines, ambiguities.struckLines]).toEqual([[3, 4], [6]])
  const message = ambiguities.findRefusal(sheet)?.message
  expect(message).toMatch(/^people\.xlsx: .*lines 3 to 4 .*line 6 /)
})

test.each([
  ['skip', true],
  ['include', false],
] as const)('with --hidden %s the value of shouldLeaveOut for a hidden row is %s', (hidden, leftOut) => {
  const ambiguities = new Ambiguities(createRules(hidden))
  expect(ambiguities.shouldLeaveOut(createRow(3, { isHidden: true }))).toBe(leftOut)
  expect(ambiguities.shouldLeaveOut(createRow(4))).toBe(false)
  expect(ambiguities.findRefusal(sheet)).toBeUndefined()
})

test('undecoded cells of columns that are sent are sampled, and the first one is recorded', () => {
  const bytesCell = (text: string): Cell => ({ kind: 'bytes', text })
  const ambiguities = new Ambiguities(createRules())
  ambiguities.shouldLeaveOut(createRow(2, { cells: ['a', bytesCell('é')] }))
  expect(ambiguities.firstUndecodedCell).toBeUndefined()
  for (let line = 3; line < 303; line += 1)
    ambiguities.shouldLeaveOut(createRow(line, { cells: [bytesCell('é'), ''] }))
  expect([ambiguities.firstUndecodedCell, ambiguities.samples.length]).toEqual([
    { line: 3, column: 'email' },
    200,
  ])
})

test('cells merged over several rows are refused in a column that is sent, and accepted elsewhere', () => {
  const merged = { range: 'A2:A3', firstRow: 2, lastRow: 3, firstColumn: 0, lastColumn: 0 }
  const findMergeRefusal = (changes: Partial<typeof merged>) => {
    const ambiguities = new Ambiguities(createRules())
    ambiguities.shouldLeaveOut(createRow(2))
    return ambiguities.findRefusal({ ...sheet, merged: [{ ...merged, ...changes }] })
  }
  expect(findMergeRefusal({})?.message).toContain('A2:A3')
  expect(findMergeRefusal({ firstColumn: 1, lastColumn: 1 })).toBeUndefined()
  expect(findMergeRefusal({ firstRow: 3 })).toBeUndefined()
  expect(findMergeRefusal({ firstRow: 0, lastRow: 0 })).toBeUndefined()
})
