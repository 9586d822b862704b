import { statesThatMatch } from '../../domain/submission/match.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import { resultsBatch } from '../../domain/submission/witness.ts'
import { type Dialect, perDialect } from './engine.ts'
import { sqlList } from './sql.ts'
import { selectSubmissions } from './submission-rows.ts'

/**
 * With what an attempt is made of, since both are done at once, and with where the database has the row. A batch that a machine
 * whose clock is ahead has added came in now.
 */
const selectToCompare = ({ rowPlace, clock }: Dialect): string => `
SELECT ${rowPlace.of('s')} AS place, s.batch_id, s.row_number, s.state, s.attempt_id, s.package_id,
  s.first_name, s.last_name, s.email, s.phone, s.body, s.body_sha256,
  s.person_print, s.email_print, s.phone_print, s.witnesses,
  b.base_url, CASE WHEN ${clock} < b.added_at THEN ${clock} ELSE b.added_at END AS added_at, b.kind, b.account, b.allow_duplicate, b.allow_similar, b.shared
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.batch_id = :batch_id`

const another = (print: string): string => `EXISTS (
  SELECT 1 FROM submissions WHERE ${print} = :${print} AND NOT (batch_id = :batch_id AND row_number = :row_number)
)`

/**
 * Whether a row shares anything with another at all: what that is costs more, and for most rows there is nothing. Damaged is
 * a row whose e-mail is the same by its text and another by its fingerprint: its number and its batch.
 */
const selectWhetherShared = ({ sameEmail }: Dialect): string => `
SELECT CAST((${['person_print', 'email_print', 'phone_print'].map(another).join(' OR ')}) AS integer) AS shared,
  (SELECT row_number || ' ' || batch_id FROM submissions
    WHERE ${sameEmail('email', ':email')} AND fingerprint IS NOT NULL AND email_print IS DISTINCT FROM :email_print
    LIMIT 1) AS damaged`

/** Each account sees its own people and those of no account; without an account everybody is seen. */
const isSeen = `s.state IN ${sqlList(statesThatMatch)} AND (CAST(:account AS text) = '' OR b.account IN ('', :account))`

/** Of conflicts that are alike the earliest order is shown. */
const inOrder = ({ serial }: Dialect): string => `ORDER BY b.${serial}, s.row_number`

/** Orders that share a fingerprint with a row. */
const selectCandidates = (dialect: Dialect): string => `${selectSubmissions}
WHERE (s.person_print = :person_print OR s.email_print = :email_print OR s.phone_print = :phone_print) AND ${isSeen}
  AND NOT (s.batch_id = :batch_id AND (s.row_number = :row_number
    OR (:skip_own = 1 AND s.person_print <> :person_print AND s.state <> 'unknown')))
${inOrder(dialect)}`

/** The same for many rows that are not in the store yet. */
const selectCandidatesOfMany = (dialect: Dialect): string => `${selectSubmissions}
WHERE (${dialect.isIn('s.person_print', 'persons')} OR ${dialect.isIn('s.email_print', 'emails')}
    OR ${dialect.isIn('s.phone_print', 'phones')}) AND ${isSeen}
${inOrder(dialect)}`

/** When the order that a row is in conflict with was sent, also where a results file alone tells of it. */
const sentAt = ({ json }: Dialect): string => `coalesce(a.began_at, m.changed_at, CASE WHEN ${isResult} THEN
  CAST(${json('s.witnesses')} -> CAST(s.matches_row - 1 AS integer) ->> 'at' AS bigint) END)`

const isResult = `s.matches_batch = '${resultsBatch}'`

export const matchingStatements = perDialect((dialect) => ({
  /** No other transaction changes it until the end of this one. */
  lockRow: `${selectToCompare(dialect)} AND s.row_number = :row_number ${dialect.lockRows('s')}`,

  /** The first pending row that no other runner is about to send. */
  lockNext: `${selectToCompare(dialect)} AND s.state = 'pending'
ORDER BY ${dialect.pendingOrder('s')} LIMIT 1 ${dialect.lockRows('s', 'skip locked')}`,

  selectWhetherShared: selectWhetherShared(dialect),
  selectCandidates: selectCandidates(dialect),
  selectCandidatesOfMany: selectCandidatesOfMany(dialect),

  /** What the duplicates and held rows of a batch match, as that stands now. */
  selectConflicts: `
SELECT s.state, s.held_for, CASE WHEN ${isResult} THEN 'accepted' ELSE m.state END AS other_state,
  m.batch_id AS other_batch, count(*) AS count, min(${sentAt(dialect)}) AS first_at, max(${sentAt(dialect)}) AS last_at
FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
LEFT JOIN attempts a ON a.id = m.attempt_id
WHERE s.batch_id = :batch_id AND s.state IN ('duplicate', 'held')
GROUP BY s.state, s.held_for, ${isResult}, m.state, m.batch_id`,
}))

export const selectJoinedPackages = 'SELECT service, package_id, successor_id, how FROM joined_packages'

export const selectJoinedServices = 'SELECT one, other, same FROM joined_services'

/** A release of one row for another is one of the other for it: a person said that they are two people. */
export const selectReleases = `
SELECT other_batch AS batch, other_row AS number FROM releases WHERE batch_id = :batch_id AND row_number = :row_number
UNION
SELECT batch_id, row_number FROM releases WHERE other_batch = :batch_id AND other_row = :row_number`

export const updateConflict = `
UPDATE submissions SET state = :state, changed_at = :at, reason = NULL, field = NULL,
  matches_batch = :matches_batch, matches_row = :matches_row, held_for = :held_for, shares = :shares
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from
  AND (state, matches_batch, matches_row, held_for, shares)
    IS DISTINCT FROM (CAST(:state AS text), CAST(:matches_batch AS text), CAST(:matches_row AS bigint),
      CAST(:held_for AS text), CAST(:shares AS text))`

export const clearConflict = `
UPDATE submissions SET state = 'pending', changed_at = :at, reason = NULL, field = NULL,
  matches_batch = NULL, matches_row = NULL, held_for = NULL, shares = NULL
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from`

export const insertRelease = `
INSERT INTO releases (batch_id, row_number, other_batch, other_row, made_at, made_by)
VALUES (:batch_id, :row_number, :other_batch, :other_row, :at, :by) ON CONFLICT DO NOTHING`

export const insertJoinedPackage = `
INSERT INTO joined_packages (service, package_id, successor_id, how, since)
VALUES (:service, :package_id, :successor_id, :how, :at) ON CONFLICT DO NOTHING`

export const upsertJoinedService = `
INSERT INTO joined_services (one, other, same, said_at, said_by) VALUES (:one, :other, :same, :at, :by)
ON CONFLICT (one, other) DO UPDATE SET same = excluded.same, said_at = excluded.said_at, said_by = excluded.said_by`

/** In place of what results files say of a row, once a person said that they are to be ignored. */
export const ignoredResults = '[]'

export const ignoreResults = `
UPDATE submissions SET witnesses = '${ignoredResults}'
WHERE batch_id = :batch_id AND witnesses IS DISTINCT FROM '${ignoredResults}' AND state IN ${sqlList(waitingStates)}`

export const selectResults = `
SELECT row_number, state, witnesses FROM submissions
WHERE batch_id = :batch_id AND state IN ${sqlList(waitingStates)} AND body IS NOT NULL ORDER BY row_number`

export const updateResults = `
UPDATE submissions SET witnesses = :witnesses WHERE batch_id = :batch_id AND row_number = :row_number`

export const selectHeldRows = `
SELECT row_number, state, held_for, matches_batch, matches_row FROM submissions
WHERE batch_id = :batch_id AND state IN ('held', 'duplicate') AND body IS NOT NULL ORDER BY row_number`

export const selectAllowed = 'SELECT allow_similar, shared FROM batches WHERE id = :id'

export const updateAllowed =
  'UPDATE batches SET allow_similar = :allow_similar, shared = :shared WHERE id = :id'

export const cancelRow = `
UPDATE submissions SET state = 'cancelled', changed_at = :at, reason = :reason
WHERE batch_id = :batch_id AND row_number = :row_number AND state IN ('pending', 'held', 'duplicate')`

/** What is left of a batch when its package is replaced. */
export const selectMovable = `
SELECT row_number, state, package_id, first_name, last_name, email, phone, body FROM submissions
WHERE batch_id = :batch_id AND state IN ('pending', 'held', 'duplicate', 'rejected') AND body IS NOT NULL
ORDER BY row_number`

export const moveRow = `
UPDATE submissions SET package_id = :package_id, body = :body, body_sha256 = :body_sha256, fingerprint = :fingerprint
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :state`

export const moveBatch = `
UPDATE batches SET package_id = :package_id, identity = CASE
  WHEN EXISTS (SELECT 1 FROM batches o WHERE o.identity = CAST(:identity AS text) AND o.id <> :id) THEN identity
  ELSE CAST(:identity AS text) END
WHERE id = :id`
