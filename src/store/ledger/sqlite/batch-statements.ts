import { submissionStates, waitingStates } from '../../../domain/submission/states.ts'
import { sqlList } from '../sql.ts'
import { selectSubmissions } from '../submission-rows.ts'

export const insertFile = `
INSERT INTO batches (
  id, kind, base_url, user_email, added_at, name, identity, sha256, package_id, path, results_file, reading,
  allow_duplicate, account, allow_similar, shared
) VALUES (
  :id, 'file', :base_url, :user_email, :added_at, :name, :identity, :sha256, :package_id, :path, :results_file,
  :reading, :allow_duplicate, :account, :allow_similar, :shared
)`

export const insertRow = `
INSERT INTO submissions (
  batch_id, row_number, state, changed_at, package_id, first_name, last_name, email, phone,
  body, body_sha256, fingerprint, reason, field, matches_batch, matches_row,
  person_print, email_print, phone_print, held_for, shares, witnesses
) VALUES (
  :batch_id, :row_number, :state, :changed_at, :package_id, :first_name, :last_name, :email, :phone,
  :body, :body_sha256, :fingerprint, :reason, :field, :matches_batch, :matches_row,
  :person_print, :email_print, :phone_print, :held_for, :shares, :witnesses
)`

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

export const updateHalt = `
UPDATE batches SET halted_at = :at, halt_code = :code, halt_message = :message, halt_hint = :hint WHERE id = :id`

export const updateQueued = 'UPDATE batches SET queued_at = :at WHERE id = :id'

export const updateResultsFile = 'UPDATE batches SET results_file = :path WHERE id = :id'

/** What was not sent never is. */
export const cancelWaitingRows = `
UPDATE submissions SET state = 'cancelled', changed_at = :at, reason = :reason
WHERE batch_id = :batch_id AND state IN ${sqlList(waitingStates)}`
