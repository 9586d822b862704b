import { z } from 'zod'

import { submissionStates } from '../../domain/submission/states.ts'
import { count, momentOrNull } from './document.ts'

export const info = z.strictObject({
  location: z.string(),
  bytes: count,
  format: count,
  engine: z.string(),
  /** The version alone where the engine is SQLite, else empty. */
  sqlite: z.string(),
  batches: count,
  rows: z.record(z.enum(submissionStates), count),
  events: count,
  oldest: momentOrNull,
  newest: momentOrNull,
  /** Why it takes no orders; empty where it does. */
  closed: z.array(z.string()),
  /** Of a PostgreSQL database. */
  replication: z.enum(['none', 'asynchronous', 'synchronous']).optional(),
  latency_ms: z.number().min(0).optional(),
})

export const migrated = z.strictObject({ location: z.string(), from: count, to: count })

export const checked = z.strictObject({
  location: z.string(),
  sound: z.boolean(),
  findings: z.array(z.string()),
  state: z.enum(['open', 'closed']),
  /** Each attempt log that the store has registered. */
  machines: z.array(
    z.strictObject({
      machine: z.string(),
      host: z.string(),
      last_attempt_at: momentOrNull,
      /** Whether it was compared with the store since that was closed. */
      reported: z.boolean(),
      excluded: z.boolean(),
    }),
  ),
  recovered: z.array(z.string()),
})
export const backup = z.strictObject({ location: z.string(), path: z.string() })
export const purged = z.strictObject({
  rows: count,
  events: count,
  kept: count,
  drafts: count,
  plans: count,
  dry_run: z.boolean(),
  files: z.array(
    z.strictObject({
      path: z.string(),
      kind: z.enum(['input', 'results', 'export', 'plan', 'backup', 'report', 'manifest']),
      deleted: z.boolean(),
    }),
  ),
  logs_left: z.array(z.strictObject({ host: z.string(), path: z.string() })),
})
export const sameService = z.strictObject({ urls: z.tuple([z.string(), z.string()]), same: z.boolean() })
export const moved = z.strictObject({
  from: z.string(),
  to: z.string(),
  tables: z.array(z.strictObject({ table: z.string(), rows: count, sha256: z.string().length(64) })),
})
/** Null is for orders without an account. */
export const accounts = z.array(
  z.strictObject({
    account: z.string().nullable(),
    /** Those whom a new order is compared with. */
    people: count,
    attempts: count,
    last_used_at: momentOrNull,
  }),
)
export const addedAccount = z.strictObject({ account: z.string(), added: z.boolean() })
