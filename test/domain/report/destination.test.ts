import { expect, test } from 'vitest'

import { parseDestination } from '../../../src/domain/report/source.ts'

test.each([
  ['reports', 'folder', 'folder'],
  ['reports', 'nothing', 'folder'],
  ['reports/', 'nothing', 'folder'],
  ['reports.pdf', 'folder', 'folder'],
  ['police.pdf', 'nothing', 'file'],
  ['police.PDF', 'file', 'file'],
  ['police', 'file', 'file'],
] as const)('--output %s for an existing %s is a %s', (typed, existing, kind) => {
  expect(parseDestination(typed, `/abs/${typed}`, existing, true).kind).toBe(kind)
})

test('several reports with a file as --output are refused', () => {
  expect(() => parseDestination('a.pdf', '/a.pdf', 'nothing', false)).toThrow('--output: a.pdf is a file')
})
