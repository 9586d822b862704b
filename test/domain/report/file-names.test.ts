import { expect, test } from 'vitest'

import { FileNames } from '../../../src/domain/report/template.ts'

test('those that would be called the same are numbered in the order they come', () => {
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
])('%s and %s are one name on some disk', (one, other) => {
  const names = new FileNames([])
  names.assign('a', one)
  expect(names.assign('b', other)).toBe(other.replace('.pdf', '-2.pdf'))
})

test('a report keeps the number it has on record, whatever comes before it now', () => {
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

test('another name than the one on record is a new one, and never another report’s', () => {
  const names = new FileNames([
    { key: 'a', file: 'old.pdf' },
    { key: 'b', file: 'new.pdf' },
  ])
  expect(names.assign('a', 'new.pdf')).toBe('new-2.pdf')
})

test.each(['Shah-1.pdf', 'Shah-NaN.pdf', 'Shah-02.pdf'])('%s is no number of Shah.pdf', (file) => {
  const names = new FileNames([{ key: 'a', file }])
  expect(names.assign('a', 'Shah.pdf')).toBe('Shah.pdf')
})

test('a report that likes to be called as another one is numbered keeps that name', () => {
  const names = new FileNames([{ key: 'a', file: 'Shah-2.pdf' }])
  expect(names.assign('a', 'Shah-2.pdf')).toBe('Shah-2.pdf')
})
