import { expect, test } from 'vitest'
import { z } from 'zod'

import { formatIssues } from '../../src/contract/issue-words.ts'

const schema = z.object({
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
  email: z.string().max(20).pipe(z.email()).optional(),
  id: z.guid().optional(),
  code: z
    .string()
    .min(1)
    .regex(/^[a-z]*$/)
    .optional(),
  share: z.number().min(0).max(1).optional(),
  times: z.int().positive().optional(),
  list: z.array(z.int()).min(1).max(2).optional(),
})

test.each([
  [[], 'must be an object, not a list'],
  [{}, 'is missing; it must be a list'],
  [{ names: [1] }, 'must be a text, not a number'],
  [{ names: [], count: 1.5 }, 'must be a whole number, not a number'],
  [{ names: [], fault: { kind: 'x' } }, 'must be one of: cut, hang'],
  [{ names: [], fault: { kind: 'cut' } }, 'is missing; it must be one of: before, after'],
  [{ names: [], fault: { kind: 'hang', a: 1, b: 2 } }, 'has the unknown keys "a", "b"'],
  [{ names: [], version: 2 }, 'must be 1'],
  [{ names: [], on: 'x' }, 'is not a call'],
  [{ names: [], email: 'mei' }, 'must be an e-mail address'],
  [{ names: [], email: `${'m'.repeat(20)}@example.com` }, 'must be at most 20 characters'],
  [{ names: [], id: '7' }, 'must be a UUID'],
  [{ names: [], code: '' }, 'must not be empty'],
  [{ names: [], code: 'A' }, 'is not valid'],
  [{ names: [], share: 2 }, 'must be at most 1'],
  [{ names: [], share: -1 }, 'must be at least 0'],
  [{ names: [], times: 0 }, 'must be more than 0'],
  [{ names: [], list: [] }, 'must not be empty'],
  [{ names: [], list: [1, 2, 3] }, 'must be at most 2 items'],
])('the first issue of %j is reported as: %s', (value, message) => {
  expect(schema.safeParse(value, formatIssues).error?.issues[0]?.message).toBe(message)
})
