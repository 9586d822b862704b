import { z } from 'zod'

import { user } from '../../contract/user.ts'
import { count, momentOrNull, textOrNull } from './document.ts'

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
