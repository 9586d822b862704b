import { z } from 'zod'

import { submissionStates } from '../../domain/submission/states.ts'
import { count, moment, textOrNull, failure, momentOrNull } from './document.ts'
import { createdRequest, recipient, requestResource, requestBody } from '../../contract/request.ts'
import { attentionKinds } from '../../domain/overview/attention.ts'
import { quota } from './machine.ts'

const state = z.enum(submissionStates)
const sharedDetail = z.enum(['email', 'phone', 'name'])
const row = z.int().positive()
const line = z.int().positive().nullable()

/** The earlier order that a duplicate or held row conflicts with. */
const match = z.strictObject({
  state: state.nullable(),
  batch_id: textOrNull,
  row: z.int().nullable(),
  request_id: textOrNull,
  results_file: z.string().optional(),
  line: z.int().optional(),
})

const counts = z.strictObject({
  total: count,
  pending: count,
  sending: count,
  accepted: count,
  rejected: count,
  unknown: count,
  dropped: count,
  held: count,
  invalid: count,
  duplicate: count,
  cancelled: count,
})

const matchedRow = z.strictObject({ row, line, matches: match })
const heldRow = z.strictObject({
  row,
  line,
  like: z.union([z.strictObject({ row: z.int() }), z.strictObject({ request_id: textOrNull })]),
  shares: z.array(sharedDetail),
  reason: z.string(),
  matches: match,
})

/** The answer of a command that shows or changes a batch. */
export const batchStatusShape = z.strictObject({
  /** Null if no batch was created. */
  batch_id: textOrNull,
  package_id: z.int().nullable(),
  counts,
  results_file: textOrNull,
  /**
   * The rows that were not sent because of an earlier order or an earlier row of the file; absent if there are none.
   */
  stopped: z
    .array(
      z.strictObject({
        row,
        line,
        state: z.enum(['duplicate', 'held']),
        email: textOrNull,
        reason: textOrNull,
        matches: match.nullable(),
      }),
    )
    .optional(),
})

/** The number of requests that events name and that were not read yet; absent if it is 0. */
const unreadCount = { unread: count.optional() }

/** The answer of a command that makes rows of a batch ready to be sent, or sends them. */
export const sentBatch = batchStatusShape.extend(unreadCount)

export const rows = z.array(
  z.strictObject({
    row,
    line,
    state,
    request_id: textOrNull,
    status: textOrNull,
    error_reason: textOrNull,
    attempts: count,
    email: textOrNull,
    error: textOrNull,
    matches: match.nullable(),
  }),
)

const listedBatch = z.strictObject({
  batch_id: z.string(),
  name: z.string(),
  package_id: z.int().nullable(),
  added_at: moment,
  total: count,
  accepted: count,
  pending: count,
  unknown: count,
  state: z.string(),
})

export const list = z.array(
  listedBatch.extend({
    held: count,
    rejected: count,
    invalid: count,
    ordered: count,
    people: count,
    finished: count,
  }),
)

const change = z.strictObject({
  row,
  line: z.int(),
  column: z.string(),
  from: z.string(),
  to: z.string(),
})
/** An improbable value that is sent unchanged. */
const unlikely = z.strictObject({
  row,
  line: z.int(),
  column: z.string(),
  value: z.string(),
  problem: z.string(),
})
const pairs = z.array(z.tuple([row, row]))

export const check = z.strictObject({
  rows: count,
  valid: count,
  invalid: count,
  problems: z.array(
    z.strictObject({
      row,
      line: z.int(),
      column: z.string(),
      value: textOrNull,
      problem: z.string(),
      suggestion: textOrNull,
    }),
  ),
  duplicates: pairs,
  similar: z.array(heldRow),
  ordered_before: z.array(matchedRow),
  shared_phones: z.array(heldRow.pick({ row: true, line: true, like: true })),
  shared_names: z.array(heldRow.pick({ row: true, line: true }).extend({ ordered_at: moment })),
  changes: z.array(change),
  unlikely: z.array(unlikely),
})

export const plan = z.strictObject({
  refcheck_plan: z.literal(1),
  file: z.string(),
  sha256: z.string(),
  base_url: z.string(),
  package_id: z.int().nullable(),
  reading: z.record(z.string(), z.unknown()),
  counts,
  duplicates: pairs,
  changes: z.array(change),
  unlikely: z.array(unlikely).optional(),
  ordered_before: z.array(z.strictObject({ row, request_id: textOrNull, batch_id: textOrNull })),
  held: z.array(z.strictObject({ row, reason: z.string(), request_id: textOrNull })),
  allow_duplicate: z.boolean().optional(),
  allow_similar: z.boolean().optional(),
  shared: z.array(z.string()),
  ignore_results: z.boolean().optional(),
  seconds: z.number(),
})

/** The answer of `batch export`: the rows in the form of a results file, or the path of the file that was written. */
export const exported = z.union([
  z.array(z.record(z.string(), z.unknown())),
  z.strictObject({ batch_id: z.string(), path: z.string(), format: z.string(), rows: count }),
])

const position = { batch_id: z.string(), row, email: textOrNull }

const reconciliation = z.strictObject({
  settled: z.array(z.strictObject({ ...position, request_id: z.string(), status: z.string() })),
  ambiguous: z.array(
    z.strictObject({
      ...position,
      request_ids: z.array(z.string()),
      requests: z.array(
        z.strictObject({ request_id: z.string(), created_at: z.string(), differs: z.array(z.string()) }),
      ),
    }),
  ),
  open: z.array(z.strictObject(position)),
  reads: count,
  unread: count,
  second_orders: z.array(
    z.strictObject({
      request_id: z.string(),
      created_at: z.string(),
      package_id: z.int(),
      /** What a similar person has in common; absent for the same person. */
      shares: z.array(sharedDetail).optional(),
      order: z.strictObject({ request_id: z.string(), batch_id: z.string(), row, package_id: z.int() }),
    }),
  ),
})

/** The answer of `batch reconcile`: the findings, or the batch after a person has decided about a row. */
export const reconciled = z.union([batchStatusShape, reconciliation])

const unread = z.strictObject({ request_id: z.string(), error: failure })

/** A request with additions from the store: the name of the package, and the reason for the status ERROR. */
const readRequest = requestResource.extend({
  package_name: z.string().optional(),
  error_reason: z.string().optional(),
})

/** The answer of `request get` and `request wait`: an object for one id, an array for several. */
export const readRequests = z.union([readRequest, z.array(z.union([unread, readRequest]))])

/** The answer of `request create`; with --dry-run the body that would be sent. */
export const created = z.union([createdRequest.extend(unreadCount), requestBody])

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
  not_ready: count,
})

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

/** The number of requests per status, without the statuses that have none. */
export const statuses = z.record(z.string(), count)

/** The number of checks per type and status, of the requests that were read since their last change of status. */
const checks = z.strictObject({ requests: count, by_type: z.record(z.string(), z.record(z.string(), count)) })

/** The answer of `status`. */
export const overview = z.strictObject({
  read_at: moment,
  /** Null if no profile is logged in. */
  organisation: z
    .strictObject({ profile: textOrNull, base_url: z.string(), user_email: z.string() })
    .nullable(),
  statuses,
  in_flight: z.strictObject({ requests: count, read_since: momentOrNull, batches: z.array(listedBatch) }),
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
  reports_awaited: count.nullable(),
  other_orders: z.array(
    z.strictObject({
      base_url: z.string(),
      account: z.string(),
      is_practice: z.boolean(),
      orders: count,
      needs_person: count,
    }),
  ),
  /** Null if no profile is logged in. */
  quota: quota.nullable(),
  ...unreadCount,
})

/** The answer of `batch status`. */
export const followedBatch = batchStatusShape.extend({ statuses, checks, attention })
