import { z } from 'zod'

import { createdRequest, recipient, requestResource } from '../../contract/request.ts'
import { requestBody } from '../../contract/request-body.ts'
import { count, failure, moment, momentOrNull, textOrNull } from './document.ts'

const unread = z.strictObject({ request_id: z.string(), error: failure })

/** With what this store knows of it: what its package is called, and why it ended in ERROR. */
const readRequest = requestResource.extend({
  package_name: z.string().optional(),
  error_reason: z.string().optional(),
})

/** `request get`, `request wait`: one id gives an object, several an array. */
export const readRequests = z.union([readRequest, z.array(z.union([unread, readRequest]))])

/** `request create`: with --dry-run the body that would be sent. */
export const created = z.union([createdRequest, requestBody])

export const listedRequests = z.array(
  z.strictObject({
    request_id: textOrNull,
    state: z.enum(['accepted', 'unknown', 'dropped', 'sending']),
    status: textOrNull,
    status_read_at: momentOrNull,
    package_id: z.int(),
    package_name: textOrNull,
    recipient: recipient.nullable(),
    ordered_at: moment,
    batch_id: z.string(),
    row: z.int(),
    base_url: z.string(),
    user_email: z.string(),
    reason: textOrNull,
    error_reason: textOrNull,
    error: failure.optional(),
  }),
)

const storedReport = z.strictObject({
  check_id: textOrNull,
  referee_id: textOrNull,
  path: z.string(),
  bytes: count,
  sha256: z.string(),
  skipped: z.boolean(),
})
const missingReport = z.strictObject({
  request_id: z.string(),
  check_id: textOrNull,
  referee_id: textOrNull,
  error: failure,
})

export const downloadedReports = z.array(z.union([storedReport, missingReport]))

export const syncedReports = z.strictObject({
  folder: z.string(),
  stored: z.array(storedReport),
  missing: z.array(missingReport.extend({ reason: z.string() })),
  skipped: count,
  unfinished: count,
})
