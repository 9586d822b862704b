import { expect, test } from 'vitest'

import { maskDocument, maskText, nameWordsIn } from '../../../src/domain/agent/mask.ts'

test.each([
  ['Smith2.csv', 'S.2.csv'],
  ['2Smith.csv', '2S..csv'],
  ["Smith's file.csv", 'S. file.csv'],
  ['Smith’s.csv', 'S..csv'],
  ['v1Smith.csv', 'v1S..csv'],
  ['AnnSmith.csv', 'A..csv'],
  ['19.07.31 Smith.csv', '… S..csv'],
  ['McDonald-list.csv', 'M. l..csv'],
  ["McDonald's 2026.csv", 'M. 2026.csv'],
  ['McDonald2.csv', 'M.2.csv'],
  ['O’Brien-Jones.csv', 'O. J..csv'],
  ['new hires-2.csv', 'new hires-2.csv'],
  ['March 2026 drivers.results.xlsx', 'March 2026 drivers.results.xlsx'],
  // A person whom no known name is of, such as one of another profile.
  ['Betason new.csv', 'B. new.csv'],
  ['Betason, F./new hires.csv', 'new hires.csv'],
  ['/srv/Betason/2026/order 2.csv', 'order 2.csv'],
  ['王 芳.csv', '… ….csv'],
  ['王芳 new.csv', '… new.csv'],
  ["csv'Smith.csv", 'c..csv'],
])('the name of a batch does not contain a known name or a date of birth: %s', (name, shown) => {
  const known = nameWordsIn([{ last_name: 'Smith' }, { last_name: 'McDonald' }, { last_name: 'O’Brien' }])
  expect(maskDocument({ batch_id: 'b', name, attention: [{ batch: name }] }, known)).toMatchObject({
    name: shown,
    attention: [{ batch: shown }],
  })
})

test('a folder that a message names without its file contains no known name', () => {
  const known = nameWordsIn([{ last_name: 'Smith' }])
  expect(maskText('/srv/Smith2 docs/Smith’s files/new hires.csv: 1 of 4 rows is invalid', known)).toBe(
    '/srv/S. docs/S. files/new hires.csv: 1 of 4 rows is invalid',
  )
})

test.each([
  ['Hal Queuedson, Jr.', 'H. Q., J.'],
  ['Mary and J. T.', 'M. and J. T.'],
  ['For Wards for Y.', 'F. W. for Y.'],
  ['De: S. C.', 'D.: S. C.'],
  ['王 芳', '…'],
])('a name with separators of a sentence is masked as a whole before its e-mail: %s', (name, shown) => {
  const sentence = `Somebody similar was ordered: package 102 for ${name} (hal@x.example) has the same e-mail.`
  expect(maskText(sentence, new Set())).toBe(
    `Somebody similar was ordered: package 102 for ${shown} (h…@x.example) has the same e-mail.`,
  )
})

test('a name of one character is withheld, because it would be its own initial', () => {
  const person = { first_name: '芳', last_name: '王', referee_name: 'J. 李' }
  expect(maskDocument(person, new Set())).toEqual({ first_name: '…', last_name: '…', referee_name: 'J. …' })
})

test('of the path of a results file only the name of the file is shown', () => {
  expect(maskDocument({ results_file: '/srv/Smith/report-12' }, new Set())).toEqual({
    results_file: 'report-12',
  })
})
