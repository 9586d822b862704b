/*
 * What the control of a sandbox answers, for those who write programs around it. Times are milliseconds since the epoch.
 */
import { z } from 'zod'

import { requestResource } from '../../contract/request.ts'
import { requestStatuses } from '../../contract/statuses.ts'

const count = z.int().nonnegative()
const status = z.enum(requestStatuses)

export const done = z.object({})
export const anything = z.record(z.string(), z.unknown())
export const key = z.object({ api_key: z.string() })
export const packageId = z.object({ id: z.int() })

export const state = z.object({
  now: z.number(),
  clock: z.enum(['real', 'manual']),
  speed: z.number(),
  seed: z.string(),
  webhook_url: z.string().nullable(),
  credits: count.nullable(),
  trial: z.enum(['none', 'running', 'expired']),
  subscription: z.enum(['active', 'inactive']),
  requests: z.object({
    RECEIVED: count,
    IN_PROGRESS: count,
    PARTIAL: count,
    COMPLETED: count,
    ERROR: count,
    CANCELLED: count,
  }),
  deliveries: z.object({ waiting: count, delivered: count, given_up: count }),
  quota: z.array(
    z.object({ calls: count, seconds: z.number(), used: count, ends_at: z.number().nullable() }),
  ),
})

export const rules = z.array(
  z.object({
    name: z.string(),
    section: z.string(),
    sentence: z.string(),
    open: z.string(),
    choices: z.array(z.string()),
    current: z.string(),
  }),
)

export const scenarios = z.array(z.object({ tag: z.string(), changes: z.string(), what: z.string() }))
export const requests = z.array(requestResource)

export const deliveries = z.array(
  z.object({
    id: z.string(),
    organisation_id: z.string(),
    request_id: z.string(),
    status,
    body: z.string(),
    state: z.enum(['waiting', 'delivered', 'given_up']),
    attempts: count,
    forged: count,
    at: z.number(),
    outcome: z.string().nullable(),
  }),
)

export const redelivered = z.object({
  delivery_id: z.string(),
  request_id: z.string(),
  status,
  /** The HTTP status, or why there was none; null: still under way. */
  outcome: z.string().nullable(),
})

const entry = { n: count, at: z.number() }

export const story = z.object({
  story: z.string(),
  request_id: z.string(),
  deliveries: z.array(
    z.object({
      status,
      /** `bad`: of another secret; the receiver has to refuse it. */
      signature: z.enum(['good', 'bad']),
      /** Null where there was no answer. */
      http_status: z.int().nullable(),
      failure: z.string().nullable(),
      ms: count,
    }),
  ),
})

const message = z.object({ headers: z.record(z.string(), z.string()), body: z.string().nullable() })

/** Asked for with `bodies`. */
const exchange = { request: message.optional(), response: message.nullable().optional() }

export const log = z.array(
  z.discriminatedUnion('kind', [
    z.object({
      ...entry,
      kind: z.literal('call'),
      method: z.string(),
      path: z.string(),
      status: z.int().nullable(),
      fault: z.string().nullable(),
      ...exchange,
    }),
    z.object({ ...entry, kind: z.literal('status'), request_id: z.string(), status: z.string() }),
    z.object({
      ...entry,
      kind: z.literal('delivery'),
      delivery_id: z.string(),
      request_id: z.string(),
      status: z.string(),
      attempt: count,
      outcome: z.string(),
      ...exchange,
    }),
    z.object({ ...entry, kind: z.literal('failure'), message: z.string() }),
  ]),
)
