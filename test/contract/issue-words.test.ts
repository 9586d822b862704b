import { expect, test } from 'vitest'
import { z } from 'zod'

import { issuesInWords } from '../../src/contract/issue-words.ts'

const shape = z.object({
  names: z.array(z.string()),
  count: z.int().optional(),
  fault: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('cut'), when: z.enum(['before', 'after']) }),
      z.strictObject({ kind: z.literal('hang') }),
    ])
    .optional(),
  version: z.literal(1).optional(),
  on: z.string().regex(/^GET /, 'is not a call').optional(),
})

test.each([
  [[], 'must be an object, not a list'],
  [{}, 'is missing; it must be a list'],
  [{ names: [1] }, 'must be a text, not a number'],
  [{ names: [], count: 1.5 }, 'must be a whole number, not a number'],
  [{ names: [], fault: { kind: 'x' } }, 'must be one of: cut, hang'],
  [{ names: [], fault: { kind: 'cut' } }, 'must be one of: before, after'],
  [{ names: [], fault: { kind: 'hang', a: 1, b: 2 } }, 'has the unknown keys "a", "b"'],
  [{ names: [], version: 2 }, 'must be 1'],
  [{ names: [], on: 'x' }, 'is not a call'],
])('zod’s word on %j, in ours', (value, words) => {
  expect(shape.safeParse(value, issuesInWords).error?.issues[0]?.message).toBe(words)
})
