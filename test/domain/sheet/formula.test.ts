import { expect, test } from 'vitest'

import { marked, unmarked } from '../../../src/domain/sheet/formula.ts'

test.each(['=1+1', '+a', '-a', '@x', '\tx', '\rx', "'=x", '＝1+1', '＠x'])(
  '%j is kept from being run',
  (text) => {
    expect(marked(text)).toBe(`'${text}`)
    expect(unmarked(marked(text))).toBe(text)
  },
)

test.each(['', 'Ann', '+61 400 000 000', '-5', '+1.5', "O'Brien", "'tis", 'a=b'])(
  '%j is written as it is',
  (text) => {
    expect(marked(text)).toBe(text)
  },
)

test('what has no mark loses none', () => {
  expect([unmarked("'tis"), unmarked('=x'), unmarked('')]).toEqual([undefined, undefined, undefined])
})
