import { z } from 'zod'

import { count, moment, textOrNull } from './document.ts'

const diagnosis = z.strictObject({ cause: z.string(), message: z.string() })

/** `webhook verify`; with --all an array, a delivery each. `event` is the body, parsed. */
export const verified = z.union([
  z.strictObject({ valid: z.boolean(), event: z.unknown(), diagnosis: diagnosis.optional() }),
  z.array(
    z.strictObject({
      place: z.string(),
      valid: z.boolean(),
      request_id: textOrNull,
      status: textOrNull,
      event: z.unknown(),
      problem: z.string().optional(),
      diagnosis: diagnosis.optional(),
    }),
  ),
])

export const signature = z.strictObject({ signature: z.string() })

/** `webhook listen`: a line each. */
export const received = z.strictObject({
  id: count,
  received_at: moment,
  request_id: textOrNull,
  status: textOrNull,
  event: textOrNull,
  error_reason: textOrNull,
  repeated: z.boolean(),
  oddity: textOrNull,
})

const listed = z.strictObject({
  id: count,
  received_at: moment,
  request_id: textOrNull,
  status: textOrNull,
  error_reason: textOrNull,
  forwarded: z.boolean(),
  dropped: z.boolean(),
})

export const events = z.array(listed)

export const event = listed.extend({
  repeats: count,
  attempts: count,
  last_answer: textOrNull,
  oddity: textOrNull,
  signature: z.string(),
  body: z.string(),
  body_base64: textOrNull,
})

export const replayed = z.array(
  z.strictObject({ id: count, status: z.int().nullable(), failure: textOrNull }),
)
export const dropped = z.array(z.strictObject({ id: count, dropped: z.literal(true) }))
export const imported = z.strictObject({ read: count, added: count, repeated: count })

export const sent = z.strictObject({
  to: z.string(),
  deliveries: z.array(
    z.strictObject({
      request_id: z.string(),
      status: z.string(),
      signature: z.enum(['good', 'bad']),
      answered: z.int().nullable(),
      milliseconds: z.number(),
      accepted: z.boolean(),
      said: z.string(),
    }),
  ),
})

export const receiverCheck = z.strictObject({
  url: z.string(),
  passed: z.boolean(),
  counts: z.strictObject({
    cases: count,
    passed: count,
    advised: count,
    failed: count,
    not_judged: count,
  }),
  deliveries: count,
  slowest_ms: z.number().nullable(),
  cases: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      rule: z.string(),
      verdict: z.enum(['passed', 'advised', 'failed', 'not_judged']),
      findings: z.array(z.strictObject({ level: z.enum(['must', 'advice']), text: z.string() })),
      reason: textOrNull,
      answers: z.array(
        z.strictObject({ status: z.int().nullable(), milliseconds: z.number(), failure: textOrNull }),
      ),
      milliseconds: z.number(),
    }),
  ),
})
