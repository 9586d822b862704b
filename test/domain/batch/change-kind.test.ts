import { expect, test } from 'vitest'

import { changeKind } from '../../../src/domain/batch/change-kind.ts'

test.each([
  [' Ann ', 'Ann', 'space'],
  ["'+61400000000", '+61400000000', 'apostrophe'],
  ['+61 400-000-000', '+61400000000', 'phone'],
  [' +61 400', '+61400', 'phone'],
  ['0400 000 000', '+61400000000', 'country'],
  ['1,234', '1234', 'number'],
])('%j sent as %j was changed for its %s', (from, to, kind) => {
  expect(changeKind({ from, to })).toBe(kind)
})
