import { z } from 'zod'

import { requestStatuses } from '../../contract/statuses.ts'
import { count, moment, textOrNull } from './document.ts'

/*
 * What commands print about the sandbox, webhooks and the conformance of a deployment. `answers` (answers.ts) says
 * which command prints which.
 */

export const address = z.strictObject({
  base_url: z.string(),
  api_key: z.string(),
  user_email: z.string(),
  webhook_secret: z.string(),
  /**
   * This key and `public_url` are present only if other hosts can reach the sandbox (--allow-http-from,
   * --public-url).
   */
  control_token: z.string().optional(),
  public_url: z.string().optional(),
})

export const state = z.strictObject({
  /** Milliseconds since the epoch. */
  now: z.number(),
  clock: z.enum(['real', 'manual']),
  speed: z.number(),
  seed: z.string(),
  webhook_url: textOrNull,
  credits: z.number().nullable(),
  trial: z.enum(['none', 'running', 'expired']),
  subscription: z.enum(['active', 'inactive']),
  requests: z.record(z.enum(requestStatuses), count),
  deliveries: z.strictObject({ waiting: count, delivered: count, given_up: count }),
  quota: z.array(
    z.strictObject({ calls: count, seconds: z.number(), used: count, ends_at: z.number().nullable() }),
  ),
})

export const key = z.strictObject({ api_key: z.string() })

/** The schema of a document that is defined elsewhere: OpenAPI, a snapshot or a JSON Schema. */
export const anyObject = z.record(z.string(), z.unknown())

export const injected = z.union([
  z.strictObject({ cleared: z.literal(true) }),
  z.strictObject({
    scenario: z.string().optional(),
    on: z.string().optional(),
    fault: z.unknown().optional(),
    times: z.int().optional(),
    after: z.int().optional(),
  }),
])

const entryBase = { n: count, at: moment }

export const stories = z.array(z.strictObject({ story: z.string(), what: z.string() }))

export const story = z.strictObject({
  story: z.string(),
  request_id: z.string(),
  deliveries: z.array(
    z.strictObject({
      status: z.string(),
      /** `bad`: made with another secret, so that the receiver has to refuse it. */
      signature: z.enum(['good', 'bad']),
      /** Null if there was no answer. */
      http_status: z.int().nullable(),
      failure: textOrNull,
      ms: count,
    }),
  ),
})

const message = z.strictObject({ headers: z.record(z.string(), z.string()), body: textOrNull })

/** These keys are present only with --bodies. */
const exchange = { request: message.optional(), response: message.nullable().optional() }

/** An entry of the log of a sandbox. */
export const logEntry = z.discriminatedUnion('kind', [
  z.strictObject({
    ...entryBase,
    kind: z.literal('call'),
    method: z.string(),
    path: z.string(),
    status: z.int().nullable(),
    fault: textOrNull,
    ...exchange,
  }),
  z.strictObject({ ...entryBase, kind: z.literal('status'), request_id: z.string(), status: z.string() }),
  z.strictObject({
    ...entryBase,
    kind: z.literal('delivery'),
    delivery_id: z.string(),
    request_id: z.string(),
    status: z.string(),
    attempt: count,
    outcome: z.string(),
    ...exchange,
  }),
  z.strictObject({ ...entryBase, kind: z.literal('failure'), message: z.string() }),
])

export const redelivered = z.strictObject({
  delivery_id: z.string(),
  request_id: z.string(),
  status: z.string(),
  /** The HTTP status, or the reason why there is none; null while the delivery is under way. */
  outcome: textOrNull,
})

export const set = z.strictObject({ name: z.string(), value: z.string() })

export const scenarios = z.array(z.strictObject({ tag: z.string(), changes: z.string(), what: z.string() }))

export const rules = z.array(
  z.strictObject({
    name: z.string(),
    section: z.string(),
    sentence: z.string(),
    open: z.string(),
    choices: z.array(z.string()),
    current: z.string(),
  }),
)

export const demo = z.strictObject({ request_ids: z.array(z.string()), reports_folder: z.string() })

export const conformance = z.strictObject({
  base_url: z.string(),
  counts: z.strictObject({ cases: count, holds: count, broken: count, not_judged: count, advised: count }),
  cases: z.array(
    z.strictObject({
      id: z.string(),
      section: z.string(),
      rule: z.string(),
      kind: z.enum(['read', 'create', 'slow', 'control']),
      verdict: z.enum(['holds', 'broken', 'not_judged']),
      findings: z.array(z.string()),
      advice: z.array(z.string()),
      reason: textOrNull,
    }),
  ),
  cannot_be_judged: z.array(z.strictObject({ section: z.string(), rule: z.string(), reason: z.string() })),
})

const diagnosis = z.strictObject({ cause: z.string(), message: z.string() })

/**
 * The answer of `webhook verify`. With --all, it is an array with one item per delivery. `event` is the
 * parsed body.
 */
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

/** A line of `webhook listen`. */
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

const listedEvent = z.strictObject({
  id: count,
  received_at: moment,
  request_id: textOrNull,
  status: textOrNull,
  error_reason: textOrNull,
  forwarded: z.boolean(),
  dropped: z.boolean(),
})

export const events = z.array(listedEvent)

export const event = listedEvent.extend({
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
