import { terminalStatuses } from '../../contract/statuses.ts'
import { perDialect } from './engine.ts'
import { sqlIsOfService, sqlList } from './sql.ts'
import { selectSubmissions } from './submission-rows.ts'

export const insertBatch = `
INSERT INTO batches (id, kind, base_url, user_email, added_at, account, allow_duplicate, allow_similar)
VALUES (:id, :kind, :base_url, :user_email, :added_at, :account, :allow_duplicate, :allow_similar)`

export const ledgerStatements = perDialect(({ isShared, lockRows, serial }) => ({
  /** Of one order: it is its runner's from the start. */
  insertSubmission: `
INSERT INTO submissions (
  batch_id, row_number, state, changed_at, package_id, first_name, last_name, email, phone,
  body, body_sha256, fingerprint, person_print, email_print, phone_print${isShared ? ', runner' : ''}
) VALUES (
  :batch_id, :row_number, 'pending', :changed_at, :package_id, :first_name, :last_name, :email, :phone,
  :body, :body_sha256, :fingerprint, :person_print, :email_print, :phone_print${isShared ? ', :runner' : ''}
)`,

  /** Whoever is about to change the row is waited for. */
  lockState: `
SELECT state, attempt_id FROM submissions s
WHERE batch_id = :batch_id AND row_number = :row_number ${lockRows('s')}`,

  lockBatch: `SELECT 1 FROM batches b WHERE id = :id ${lockRows('b')}`,

  /** In the order they were added. */
  selectFiltered: (where: string) =>
    `${selectSubmissions} ${where} ORDER BY b.added_at, b.${serial}, s.row_number`,
}))

export const selectPrints = `
SELECT person_print, email_print, phone_print FROM submissions
WHERE batch_id = :batch_id AND row_number = :row_number`

/** "Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further". */
const isTerminal = `request_status IN ${sqlList(terminalStatuses)}`

export const updateStatus = `
UPDATE submissions
SET request_status_at = CASE WHEN ${isTerminal} THEN request_status_at ELSE :at END, request_status = :status,
  checks = CAST(:checks AS text)
WHERE request_id = :request_id AND ${sqlIsOfService('submissions', 'CAST(:base_url AS text)')} AND (
  NOT ${isTerminal}
  OR (request_status = :status AND CAST(:checks AS text) IS NOT NULL AND checks IS DISTINCT FROM CAST(:checks AS text))
)`
