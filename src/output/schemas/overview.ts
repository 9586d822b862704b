import { z } from 'zod'

import { attentionKinds } from '../../domain/overview/attention.ts'
import { list, batchStatusShape } from './batches.ts'
import { count, moment, momentOrNull, textOrNull } from './document.ts'
import { quota } from './session.ts'

const person = { first_name: textOrNull, last_name: textOrNull }

export const attention = z.array(
  z.strictObject({
    kind: z.enum(attentionKinds),
    batch_id: z.string(),
    batch: textOrNull,
    row: z.int().positive().nullable(),
    request_id: textOrNull,
    ...person,
    email: textOrNull,
    reason: textOrNull,
    since: moment,
    command: z.string(),
  }),
)

/** Requests by status; a status without any is left out. */
export const statuses = z.record(z.string(), count)

/** Checks by type and status, of requests that were read since their status changed last. */
const checks = z.strictObject({ requests: count, by_type: z.record(z.string(), z.record(z.string(), count)) })

/** `status`. */
export const overview = z.strictObject({
  read_at: moment,
  /** Null where no profile is logged in. */
  organisation: z
    .strictObject({ profile: textOrNull, base_url: z.string(), user_email: z.string() })
    .nullable(),
  statuses,
  in_flight: z.strictObject({ requests: count, read_since: momentOrNull, batches: list }),
  attention,
  reports: z.array(
    z.strictObject({
      request_id: z.string(),
      ...person,
      package_id: z.int(),
      completed_at: moment,
      files: count.nullable(),
    }),
  ),
  completed: count,
  new_reports: count.nullable(),
  other_orders: z.array(
    z.strictObject({
      base_url: z.string(),
      account: z.string(),
      is_practice: z.boolean(),
      orders: count,
      needs_person: count,
    }),
  ),
  /** Null where no profile is logged in. */
  quota: quota.nullable(),
})

/** `batch status`. */
export const followedBatch = batchStatusShape.extend({ statuses, checks, attention })
