import { expect, test } from 'vitest'

import { type AmbiguityRules, Ambiguities } from '../../../src/domain/batch/ambiguities.ts'
import type { Cell, SheetRow } from '../../../src/domain/sheet/cell.ts'
import { targetOf } from '../../../src/domain/batch/columns.ts'

const email = targetOf('email', [])
if (email === undefined) throw new Error('email is a column')
const rules = (hidden?: AmbiguityRules['hidden']): AmbiguityRules => ({
  headers: ['email', 'notes'],
  targets: [email, { kind: 'unused', column: '' }],
  hidden,
})
const row = (line: number, over: Partial<SheetRow> = {}): SheetRow => ({
  row: line - 1,
  line,
  cells: ['a', 'b'],
  ...over,
})
const sheet = { name: 'people.xlsx', headerLine: 1, merged: [], struckByRule: [] }

test('a visible row is read and is not ambiguous', () => {
  const ambiguities = new Ambiguities(rules())
  expect(ambiguities.shouldLeaveOut(row(2))).toBe(false)
  expect(ambiguities.findRefusal(sheet)).toBeUndefined()
})

test('hidden rows, and rows with a struck-through cell in a column that is sent, are refused until the user decides', () => {
  const ambiguities = new Ambiguities(rules())
  const rows = [
    row(3, { hidden: true }),
    row(4, { hidden: true }),
    row(6, { struck: [0] }),
    row(7, { struck: [1] }),
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
  const ambiguities = new Ambiguities(rules(hidden))
  expect(ambiguities.shouldLeaveOut(row(3, { hidden: true }))).toBe(leftOut)
  expect(ambiguities.shouldLeaveOut(row(4))).toBe(false)
  expect(ambiguities.findRefusal(sheet)).toBeUndefined()
})

test('undecoded cells of columns that are sent are sampled, and the first one is recorded', () => {
  const bytes = (text: string): Cell => ({ kind: 'bytes', text })
  const ambiguities = new Ambiguities(rules())
  ambiguities.shouldLeaveOut(row(2, { cells: ['a', bytes('é')] }))
  expect(ambiguities.firstUndecodedCell).toBeUndefined()
  for (let line = 3; line < 303; line += 1) ambiguities.shouldLeaveOut(row(line, { cells: [bytes('é'), ''] }))
  expect([ambiguities.firstUndecodedCell, ambiguities.samples.length]).toEqual([
    { line: 3, column: 'email' },
    200,
  ])
})

test('cells merged over several rows are refused in a column that is sent, and accepted elsewhere', () => {
  const merged = { range: 'A2:A3', firstRow: 2, lastRow: 3, firstColumn: 0, lastColumn: 0 }
  const refusal = (over: Partial<typeof merged>) => {
    const ambiguities = new Ambiguities(rules())
    ambiguities.shouldLeaveOut(row(2))
    return ambiguities.findRefusal({ ...sheet, merged: [{ ...merged, ...over }] })
  }
  expect(refusal({})?.message).toContain('A2:A3')
  expect(refusal({ firstColumn: 1, lastColumn: 1 })).toBeUndefined()
  expect(refusal({ firstRow: 3 })).toBeUndefined()
  expect(refusal({ firstRow: 0, lastRow: 0 })).toBeUndefined()
})
