import fc from 'fast-check'
import { expect, test } from 'vitest'

import { formatCsv } from '../../src/output/present.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('formulas', { mustNotHappen: 'formulas', titles: /spreadsheet|formula/ })
recordForFaultTable('codes', { mustNotHappen: 'raw controls', titles: /obeyed/ })

test.each([
  ['=1+1', "'=1+1"],
  ['+cmd', "'+cmd"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  // A program that splits the file at another delimiter begins a new cell after a tab or a line break.
  ['\t=1', "'\t'=1"],
  ['a;=1', "a;'=1"],
  ['a|@x', "a|'@x"],
  ['a;-5;+61 400;+x', "a;-5;+61 400;'+x"],
  ['a;\uFF1D1', "a;'\uFF1D1"],
  ['Ann;"=1+1', `"Ann;'""=1+1"`],
  ['a; =1', "a;' =1"],
  ['a|\u00A0"@x', `"a|'\u00A0""@x"`],
  ['a\t" +x', `"a\t'"" +x"`],
  ["a;'=1", "a;''=1"],
  ["a;' =1", "a;'' =1"],
  ['a; -5; +61 400', 'a; -5; +61 400'],
  ['+61412345678', '+61412345678'],
  ['-12.5', '-12.5'],
  ['plain', 'plain'],
])('the cell %j is written so that no spreadsheet runs it as a formula: %j', (cell, writtenCell) => {
  expect(formatCsv([[cell]])).toBe(`${writtenCell}\n`)
})

test('only cells that RFC 4180 requires to be quoted are quoted', () => {
  expect(formatCsv([['a,b', 'say "hi"', 'two\nlines', 'plain', 7, true, null, undefined]])).toBe(
    '"a,b","say ""hi""","two\nlines",plain,7,true,,\n',
  )
})

test('no written cell starts like a formula', () => {
  fc.assert(
    fc.property(fc.string(), (cell) => {
      const writtenCell = formatCsv([[cell]]).replace(/^"/, '')
      expect(/^[=@\t\r]|^[+-](?!\d+(\.\d+)?"?\n$)/.test(writtenCell)).toBe(false)
    }),
  )
})

test('no control character that is obeyed by a terminal is written; a tab and a line break are', () => {
  expect(formatCsv([['\u001B]52;c;aGk=\u0007copied', 'a\u009B2J', 'x\u202Ey', 'a\tb\nc']])).toBe(
    'copied,a,x\uFFFDy,"a\tb\nc"\n',
  )
})
