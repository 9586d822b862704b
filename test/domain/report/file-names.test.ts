import { expect, test } from 'vitest'

import { FileNames } from '../../../src/domain/report/template.ts'

test('reports with the same name are numbered in order', () => {
  const names = new FileNames([])
  expect(['a', 'b', 'c'].map((key) => names.assign(key, 'Shah.pdf'))).toEqual([
    'Shah.pdf',
    'Shah-2.pdf',
    'Shah-3.pdf',
  ])
})

test.each([
  ['Shah.pdf', 'SHAH.pdf'],
  ['é.pdf', 'e\u0301.pdf'],
  ['straße.pdf', 'STRASSE.pdf'],
  ['straße.pdf', 'STRAẞE.pdf'],
  ['ﬁle.pdf', 'file.pdf'],
])('%s and %s count as one name, because some file systems do not distinguish them', (one, other) => {
  const names = new FileNames([])
  names.assign('a', one)
  expect(names.assign('b', other)).toBe(other.replace('.pdf', '-2.pdf'))
})

test('a recorded report keeps its number, in whatever order the reports are named', () => {
  const recorded = [
    { key: 'a', file: 'Shah.pdf' },
    { key: 'b', file: 'Shah-2.pdf' },
  ]
  const names = new FileNames(recorded)
  expect(['c', 'b', 'a'].map((key) => names.assign(key, 'Shah.pdf'))).toEqual([
    'Shah-3.pdf',
    'Shah-2.pdf',
    'Shah.pdf',
  ])
})

test('a new name for a recorded report is never the name of another report', () => {
  const names = new FileNames([
    { key: 'a', file: 'old.pdf' },
    { key: 'b', file: 'new.pdf' },
  ])
  expect(names.assign('a', 'new.pdf')).toBe('new-2.pdf')
})

test.each(['Shah-1.pdf', 'Shah-NaN.pdf', 'Shah-02.pdf'])('%s is not a numbered name of Shah.pdf', (file) => {
  const names = new FileNames([{ key: 'a', file }])
  expect(names.assign('a', 'Shah.pdf')).toBe('Shah.pdf')
})

test('a recorded report whose own name looks like a numbered name keeps this name', () => {
  const names = new FileNames([{ key: 'a', file: 'Shah-2.pdf' }])
  expect(names.assign('a', 'Shah-2.pdf')).toBe('Shah-2.pdf')
})
