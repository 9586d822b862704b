import { z } from 'zod'

import { switchNames } from './switches.ts'

const when = z.enum(['before', 'after'])
const status = z.int().min(200).max(599)
const times = { times: z.int().positive().optional(), after: z.int().nonnegative().optional() }

const fault = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    status,
    when,
    body: z.enum(['envelope', 'html', 'empty']).optional(),
    message: z.string().optional(),
    retryAfter: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('cut'), when }),
  z.strictObject({ kind: z.literal('hang'), when }),
  z.strictObject({ kind: z.literal('no-id') }),
  z.strictObject({ kind: z.literal('content-type'), value: z.string() }),
  z.strictObject({ kind: z.literal('truncated'), keep: z.number().min(0).max(1), announced: z.boolean() }),
  z.strictObject({
    kind: z.literal('body'),
    body: z.string(),
    status: status.optional(),
    contentType: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('switch'), switch: z.enum(switchNames) }),
])

/** What may be injected from outside (`Injection`). */
export const injection = z.union([
  z.strictObject({ on: z.string().min(1), ...times, fault }),
  z.strictObject({ scenario: z.string(), ...times }),
])
