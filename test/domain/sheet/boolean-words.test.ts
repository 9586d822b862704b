import { expect, test } from 'vitest'

import { saysBoolean } from '../../../src/domain/sheet/boolean-words.ts'

test.each([
  ['TRUE', 'FALSE'],
  ['WAHR', 'FALSCH'],
  ['VRAI', 'FAUX'],
  ['PRAWDA', 'FAŁSZ'],
  ['DOĞRU', 'YANLIŞ'],
  ['ИСТИНА', 'ЛОЖЬ'],
])('%s says true, and %s says false', (yes, no) => {
  expect([saysBoolean(yes, true), saysBoolean(no, false)]).toEqual([true, true])
  expect([saysBoolean(yes, false), saysBoolean(no, true)]).toEqual([false, false])
})

test('other words say neither', () => {
  for (const word of ['Yes', 'No', 'k', '', '1', 'TRUE!']) {
    expect([saysBoolean(word, true), saysBoolean(word, false)]).toEqual([false, false])
  }
})
