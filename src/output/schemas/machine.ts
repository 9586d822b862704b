import { z } from 'zod'

import { user } from '../../contract/user.ts'
import { count, momentOrNull, textOrNull } from './document.ts'
import { submissionStates } from '../../domain/submission/states.ts'

/*
 * What commands print about this machine: profiles, settings, the quota, the store and the worker. `answers`
 * (answers.ts) says which command prints which.
 */

const storage = z.enum(['keychain', 'file', 'environment'])

export const profiles = z.array(
  z.strictObject({
    profile: z.string(),
    current: z.boolean(),
    base_url: z.string(),
    user_email: z.string(),
    key_from: storage.nullable(),
    key: textOrNull,
    webhook_secret_from: storage.nullable(),
  }),
)

export const login = z.strictObject({
  profile: z.string(),
  base_url: z.string(),
  user_email: z.string(),
  key_from: storage,
  replaced: z.array(z.string()),
})

export const logout = z.strictObject({
  profile: z.string(),
  removed: z.array(z.string()),
  left_in_keychain: z.array(z.string()),
})

export const switched = z.strictObject({ profile: z.string() })

export const sessionStatus = z.strictObject({
  profile: textOrNull,
  base_url: z.string(),
  user_email: z.string(),
  key_from: storage,
  key: z.string(),
  works: z.boolean(),
  user: user.nullable(),
})

export const setting = z.strictObject({ key: z.string(), value: textOrNull })
export const settings = z.array(
  setting.extend({ from: z.enum(['profile', 'settings']).nullable(), meaning: z.string() }),
)
export const changedSetting = z.union([
  setting.extend({ profile: textOrNull }),
  z.strictObject({ key: z.string(), profile: textOrNull, kept_in: storage }),
])
export const removedSetting = z.strictObject({ key: z.string(), removed: z.boolean() })

export const ping = z.strictObject({ base_url: z.string(), status: z.string(), latency_ms: z.number() })

export const quota = z.strictObject({
  windows: z.array(
    z.strictObject({
      calls: count,
      seconds: z.number(),
      used: count,
      left: count,
      resets_at: momentOrNull,
      learnt: z.boolean(),
    }),
  ),
  not_before: momentOrNull,
})

export const doctor = z.strictObject({
  checks: z.array(
    z.strictObject({
      check: z.string(),
      level: z.enum(['ok', 'warn', 'fail']),
      message: z.string(),
      hint: textOrNull,
    }),
  ),
  report: z.string().optional(),
})

export const info = z.strictObject({
  location: z.string(),
  bytes: count,
  format: count,
  engine: z.string(),
  /** The version of SQLite; empty for PostgreSQL. */
  sqlite: z.string(),
  batches: count,
  rows: z.record(z.enum(submissionStates), count),
  events: count,
  oldest: momentOrNull,
  newest: momentOrNull,
  /** The reasons why the store takes no orders; empty if it takes orders. */
  closed: z.array(z.string()),
  /** This key and `latency_ms` are present only for PostgreSQL. */
  replication: z.enum(['none', 'asynchronous', 'synchronous']).optional(),
  latency_ms: z.number().min(0).optional(),
})

export const migrated = z.strictObject({ location: z.string(), from: count, to: count })

export const checked = z.strictObject({
  location: z.string(),
  sound: z.boolean(),
  findings: z.array(z.string()),
  state: z.enum(['open', 'closed']),
  /** The attempt logs that the store has registered. */
  machines: z.array(
    z.strictObject({
      machine: z.string(),
      host: z.string(),
      last_attempt_at: momentOrNull,
      /** Whether the log was compared with the store after the store was closed. */
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
/** The answer has an item per account. The account null has the orders without an account. */
export const accounts = z.array(
  z.strictObject({
    account: z.string().nullable(),
    /** The number of people with whom a new order is compared. */
    people: count,
    attempts: count,
    last_used_at: momentOrNull,
  }),
)
export const addedAccount = z.strictObject({ account: z.string(), added: z.boolean() })

/** A line of the log of a worker. Further keys depend on the event. */
export const logged = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(['info', 'warn']),
  event: z.string(),
  reason: z.string().optional().describe('Of a warning'),
})
