import { z } from 'zod'

import { submissionStates } from '../../domain/submission/states.ts'
import { count, moment, textOrNull } from './document.ts'

const state = z.enum(submissionStates)
const shared = z.enum(['email', 'phone', 'name'])
const row = z.int().positive()
const line = z.int().positive().nullable()

/** What a duplicate or similar row matches. */
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
  shares: z.array(shared),
  reason: z.string(),
  matches: match,
})

/** `batch run`, `status`, `resume` and what else changes a batch. */
export const batchStatusShape = z.strictObject({
  /** Null where nothing was begun. */
  batch_id: textOrNull,
  package_id: z.int().nullable(),
  counts,
  results_file: textOrNull,
  /** Rows that were not sent because of an order made before, or of an earlier row; left out where there are none. */
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

export const list = z.array(
  z.strictObject({
    batch_id: z.string(),
    name: z.string(),
    package_id: z.int().nullable(),
    added_at: moment,
    total: count,
    accepted: count,
    pending: count,
    unknown: count,
    state: z.string(),
  }),
)

const change = z.strictObject({
  row,
  line: z.int(),
  column: z.string(),
  from: z.string(),
  to: z.string(),
})
/** A value that is sent as it stands although it is improbable. */
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

/** `batch export`: rows as results files have them on stdout, or the file that was written. */
export const exported = z.union([
  z.array(z.record(z.string(), z.unknown())),
  z.strictObject({ batch_id: z.string(), path: z.string(), format: z.string(), rows: count }),
])

const position = { batch_id: z.string(), row, email: textOrNull }

const found = z.strictObject({
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
  second_orders: z.array(
    z.strictObject({
      request_id: z.string(),
      created_at: z.string(),
      order: z.strictObject({ request_id: z.string(), batch_id: z.string(), row }),
    }),
  ),
})

/** `batch reconcile`: what was found, or where the batch stands after a row was settled by hand. */
export const reconciled = z.union([batchStatusShape, found])
