import fc from 'fast-check'
import { expect, test } from 'vitest'

import { processorMs } from '../../harness/processor-time.ts'
import { addFormulaMarks, removeFormulaMarks } from '../../../src/domain/sheet/formula.ts'

test.each(['=1+1', '+a', '-a', '@x', '\tx', '\rx', "'=x", '＝1+1', '＠x'])(
  '%j gets a leading apostrophe, so that it is not run as a formula',
  (text) => {
    expect(addFormulaMarks(text)).toBe(`'${text}`)
    expect(removeFormulaMarks(addFormulaMarks(text))).toBe(text)
  },
)

test.each(['', 'Ann', '+61 400 000 000', '-5', '+1.5', "O'Brien", "'tis", 'a=b'])(
  '%j is written unchanged',
  (text) => {
    expect(addFormulaMarks(text)).toBe(text)
  },
)

test('removeFormulaMarks returns undefined for a text without a mark', () => {
  expect([removeFormulaMarks("'tis"), removeFormulaMarks('=x'), removeFormulaMarks('')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

const delimiters = [',', ';', '\t', '|']

test.each(delimiters)(
  'a text in a file with %j between cells has no formula either if it is split at another delimiter',
  (fileDelimiter) => {
    for (const other of [...delimiters.filter((each) => each !== fileDelimiter), '\n', '\r'])
      for (const start of ['=', '+', '-', '@', '\uFF1D', "'="])
        expect(addFormulaMarks(`a${other}${start}x`, fileDelimiter)).toBe(`a${other}'${start}x`)
    expect(addFormulaMarks(`a${fileDelimiter}=x`, fileDelimiter)).toBe(`a${fileDelimiter}=x`)
  },
)

test('every text is unchanged after adding and removing formula marks', () => {
  const piece = fc.constantFrom(
    '=',
    '+',
    '-',
    '@',
    "'",
    ',',
    ';',
    '|',
    '\t',
    '\n',
    '\r',
    '1',
    ' ',
    'a',
    '"',
    '\uFF1D',
  )
  fc.assert(
    fc.property(fc.array(piece), fc.constantFrom(...delimiters), (pieces, fileDelimiter) => {
      const text = pieces.join('')
      const written = addFormulaMarks(text, fileDelimiter)
      expect(removeFormulaMarks(written, fileDelimiter) ?? written).toBe(text)
      const cells = written.split(
        new RegExp(`[\\r\\n${delimiters.filter((each) => each !== fileDelimiter).join('')}]`),
      )
      for (const cell of cells.slice(1)) expect(cell).toMatch(/^(?![=+\-@\uFF1D])|^[+-]?[\d ]+$/)
    }),
  )
})

test.each([' ', '"', '\n', '\t', "'", ';', '; '])(
  '300,000 times %j after a formula are written within a second',
  (each) => {
    expect(processorMs(() => addFormulaMarks(`a;=${each.repeat(300_000)}x`))).toBeLessThan(1000)
  },
)
