import { expect, test } from 'vitest'

import { maskDocument, nameWordsIn } from '../../../src/domain/agent/mask.ts'

test.each([
  ['Smith2.csv', 'S.2.csv'],
  ['2Smith.csv', '2S..csv'],
  ["Smith's file.csv", 'S. file.csv'],
  ['Smith’s.csv', 'S..csv'],
  ['v1Smith.csv', 'v1S..csv'],
  ['AnnSmith.csv', 'A..csv'],
  ['19.07.31 Smith.csv', '… S..csv'],
  ['new hires-2.csv', 'new hires-2.csv'],
])('the name of a batch does not contain a known name or a date of birth: %s', (name, shown) => {
  const known = nameWordsIn([{ last_name: 'Smith' }])
  expect(maskDocument({ batch_id: 'b', name, attention: [{ batch: name }] }, known)).toMatchObject({
    name: shown,
    attention: [{ batch: shown }],
  })
})
