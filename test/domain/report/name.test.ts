import fc from 'fast-check'
import { expect, test } from 'vitest'

import { namePart, plainReportName, truncate } from '../../../src/domain/report/template.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file are the row `names` of the fault table (test/resilience/rows.ts).
recordForFaultTable('names', { mustNotHappen: 'names that leave the folder' })

test.each([
  ['../../etc/passwd', 'etc-passwd'],
  ['..', ''],
  ['a/b\\c:d*e?f"g<h>i|j', 'a-b-c-d-e-f-g-h-i-j'],
  ['nul\u0000l', 'nul-l'],
  ['\u202Egnp.exe', 'gnp-exe'],
  ['CON', 'CON-'],
  ['lpt1', 'lpt1-'],
  ['com¹', 'com¹-'],
  ['  spaces  ', 'spaces'],
  // Windows removes dots and spaces from the end of a name.
  ['ends. . ', 'ends'],
  ['CON .txt', 'CON-txt'],
  ['nul. ', 'nul-'],
  ['-rf', 'rf'],
  ['~root', 'root'],
  ['e\u0301', 'é'],
  ['\uD800lone', 'lone'],
])('%j becomes %j', (hostile, safe) => {
  expect(namePart(hostile)).toBe(safe)
})

test('a long part is cut between two characters', () => {
  expect(Buffer.byteLength(namePart('é'.repeat(9000)))).toBe(60)
  expect(namePart('𝒳'.repeat(9000))).toBe('𝒳'.repeat(15))
})

test.each([
  ['abc', 3, 'abc'],
  ['abc', 2, 'ab'],
  ['éé', 3, 'é'],
  ['🙂a', 4, '🙂'],
  ['🙂a', 3, ''],
])('%j truncated to %i bytes is %j', (text, bytes, cut) => {
  expect(truncate(text, bytes)).toBe(cut)
})

test('a part that is cut after a dash does not end with the dash', () => {
  expect(namePart(`${'x'.repeat(59)} ${'y'.repeat(9)}`)).toBe('x'.repeat(59))
})

test('only the first 400 characters of a text are used', () => {
  expect(namePart(`${'/'.repeat(399)}xy`)).toBe('x')
})

test('an id without allowed characters becomes "unnamed"', () => {
  expect(plainReportName('7', '///')).toBe('report-7-referee-unnamed.pdf')
})

test('the name of a report that is requested by ids consists of the ids', () => {
  expect(plainReportName('7', undefined)).toBe('report-7.pdf')
  expect(plainReportName('8fdec42c-8142-447a-94bd-92a51a5554a7', '7')).toBe(
    'report-8fdec42c-8142-447a-94bd-92a51a5554a7-referee-7.pdf',
  )
})

test('for any ids the name is a single path part that is valid on every system', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('..', '.', 'con', 'x'.repeat(9000)),
  )
  fc.assert(
    fc.property(text, text, (checkId, refereeId) => {
      const name = plainReportName(checkId, refereeId)
      expect(name).toMatch(/^[\p{L}\p{M}\p{N}-]+\.pdf$/u)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    }),
  )
})
