import { submissionStates, waitingStates } from '../../domain/submission/states.ts'
import type { Dialect } from './engine.ts'
import { sqlList } from './sql.ts'
import { selectSubmissions } from './submission-rows.ts'

export const insertFile = `
INSERT INTO batches (
  id, kind, base_url, user_email, added_at, name, identity, sha256, package_id, path, results_file, reading,
  allow_duplicate, account, allow_similar, shared
) VALUES (
  :id, 'file', :base_url, :user_email, :added_at, :name, :identity, :sha256, :package_id, :path, :results_file,
  :reading, :allow_duplicate, :account, :allow_similar, :shared
)`

export const rowColumns = {
  batch_id: 'text',
  row_number: 'number',
  state: 'text',
  changed_at: 'number',
  package_id: 'number',
  first_name: 'text',
  last_name: 'text',
  email: 'text',
  phone: 'text',
  body: 'bytes',
  body_sha256: 'text',
  fingerprint: 'text',
  reason: 'text',
  field: 'text',
  matches_batch: 'text',
  matches_row: 'number',
  person_print: 'text',
  email_print: 'text',
  phone_print: 'text',
  held_for: 'text',
  shares: 'text',
  witnesses: 'text',
} as const

const counted = submissionStates
  .map((state) => {
    const rows = `FROM submissions WHERE batch_id = b.id AND state = '${state}'`
    return `(SELECT count(*) ${rows}) AS n_${state}, (SELECT max(changed_at) ${rows}) AS changed_${state}`
  })
  .join(', ')

/** A batch with its counts, and when a row came into each state last. One of a single order has the package of its row. */
export const selectBatches = `
SELECT b.*, ${counted},
  (SELECT package_id FROM submissions WHERE batch_id = b.id AND row_number = 1) AS first_package
FROM batches b`

export const selectByIdentity = `${selectBatches} WHERE b.identity = :identity`

export const selectByStart = `${selectBatches}
WHERE b.id >= CAST(:start AS text) AND b.id < CAST(:beyond AS text) LIMIT 2`

export const selectQueued = ({ serial }: Dialect): string => `${selectBatches}
WHERE b.queued_at IS NOT NULL ORDER BY b.queued_at, b.${serial}`

/** Newest first. */
export const selectNewest = ({ serial }: Dialect, where = ''): string => `${selectBatches}
${where} ORDER BY b.added_at DESC, b.${serial} DESC`

export const selectCounts = `
SELECT state, count(*) AS count FROM submissions WHERE batch_id = :batch_id GROUP BY state`

/** Rows with what they match. */
export const selectRows = `
SELECT r.*, m.request_id AS matches_request, m.state AS matches_state, m.package_id AS matches_package,
  coalesce((SELECT began_at FROM attempts a WHERE a.id = m.attempt_id), m.changed_at) AS matches_at
FROM (${selectSubmissions}) r
LEFT JOIN submissions m ON m.batch_id = r.matches_batch AND m.row_number = r.matches_row`

export const selectBodies = `
SELECT row_number, package_id, body FROM submissions r`

/** After a row, in the order of the file; `some`: of the states in `states`. */
export const pageOf = ({ isIn }: Dialect, select: string, some: boolean): string => `${select}
WHERE r.batch_id = :batch_id AND r.row_number > :after ${some ? `AND ${isIn('r.state', 'states')}` : ''}
ORDER BY r.row_number LIMIT :limit`

export const selectNextPending = ({ pendingOrder }: Dialect): string => `${selectRows}
WHERE r.batch_id = :batch_id AND r.state = 'pending' AND r.row_number > :after
ORDER BY ${pendingOrder('r')} LIMIT 1`

export const selectRejected = `
SELECT row_number FROM submissions
WHERE batch_id = :batch_id AND state = 'rejected' AND body IS NOT NULL ORDER BY row_number`

export const updateHalt = `
UPDATE batches SET halted_at = :at, halt_code = :code, halt_message = :message, halt_hint = :hint WHERE id = :id`

export const updateQueued = 'UPDATE batches SET queued_at = CAST(:at AS bigint) WHERE id = :id'

export const updateResultsFile = 'UPDATE batches SET results_file = :path WHERE id = :id'

/** What was not sent never is. */
export const cancelWaitingRows = `
UPDATE submissions SET state = 'cancelled', changed_at = :at, reason = :reason
WHERE batch_id = :batch_id AND state IN ${sqlList(waitingStates)}`
