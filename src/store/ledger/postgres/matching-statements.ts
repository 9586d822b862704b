import { statesThatMatch } from '../../../domain/submission/match.ts'
import { waitingStates } from '../../../domain/submission/states.ts'
import { resultsBatch } from '../../../domain/submission/witness.ts'
import { sqlList } from '../sql.ts'
import { selectSubmissions } from '../submission-rows.ts'

/** What is told first of several that are alike. */
const inOrder = 'ORDER BY b.serial, s.row_number'

/** With what an attempt is made of, since both are done at once, and with where the server has it. */
const selectToCompare = `
SELECT s.ctid::text AS place, s.batch_id, s.row_number, s.state, s.attempt_id, s.package_id, s.first_name, s.last_name, s.email, s.phone, s.body,
  s.body_sha256, s.person_print, s.email_print, s.phone_print, s.witnesses,
  b.base_url, b.added_at, b.kind, b.account, b.allow_duplicate, b.allow_similar, b.shared
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.batch_id = :batch_id`

/** Nobody else changes it until the end of the transaction. */
export const lockRow = `${selectToCompare} AND s.row_number = :row_number FOR UPDATE OF s`

/** The first pending row that nobody else is about to send. */
export const lockNext = `${selectToCompare} AND s.state = 'pending'
ORDER BY (s.row_number + 0) LIMIT 1 FOR UPDATE OF s SKIP LOCKED`

const another = (print: string): string => `EXISTS (
  SELECT 1 FROM submissions WHERE ${print} = :${print} AND NOT (batch_id = :batch_id AND row_number = :row_number)
)`

/** Whether anything stands beside a row at all: what the answer is costs more, and for most rows there is nothing. */
export const selectBeside = `
SELECT (${['person_print', 'email_print', 'phone_print'].map(another).join(' OR ')})::int AS shared,
  EXISTS (SELECT 1 FROM submissions WHERE person_print IS NULL AND fingerprint IS NOT NULL)::int AS first_form,
  d.batch_id AS damaged_batch, d.row_number AS damaged_row
FROM (SELECT 1) one LEFT JOIN LATERAL (
  SELECT batch_id, row_number FROM submissions
  WHERE lower(email COLLATE "C") = lower(CAST(:email AS text) COLLATE "C") AND fingerprint IS NOT NULL
    AND email_print IS DISTINCT FROM :email_print LIMIT 1
) d ON true`

/**
 * Orders that share a fingerprint with a row. Each account sees its own people and those of nobody's; without an account
 * everybody is seen.
 */
export const selectCandidates = `${selectSubmissions}
WHERE (s.person_print = :person_print OR s.email_print = :email_print OR s.phone_print = :phone_print)
  AND s.state IN ${sqlList(statesThatMatch)}
  AND (CAST(:account AS text) = '' OR b.account IN ('', :account))
  AND NOT (s.batch_id = :batch_id AND (s.row_number = :row_number
    OR (:skip_own AND s.person_print <> :person_print AND s.state <> 'unknown')))
${inOrder}`

/** The same for many rows that are not in the store yet. */
export const selectCandidatesOfMany = `${selectSubmissions}
WHERE (s.person_print = ANY(CAST(:persons AS text[])) OR s.email_print = ANY(CAST(:emails AS text[]))
    OR s.phone_print = ANY(CAST(:phones AS text[])))
  AND s.state IN ${sqlList(statesThatMatch)}
  AND (CAST(:account AS text) = '' OR b.account IN ('', :account))
${inOrder}`

export const selectFirstForm = `${selectSubmissions}
WHERE s.person_print IS NULL AND s.fingerprint = ANY(CAST(:forms AS text[])) AND s.state IN ${sqlList(statesThatMatch)}`

export const selectWhetherFirstForm = `
SELECT EXISTS (SELECT 1 FROM submissions WHERE person_print IS NULL AND fingerprint IS NOT NULL) AS found`

export const selectJoinedPackages = 'SELECT service, package_id, successor_id, how FROM joined_packages'

export const selectJoinedServices = 'SELECT one, other, same FROM joined_services'

/** A release of one row for another is one of the other for it: somebody said that they are two people. */
export const selectReleases = `
SELECT other_batch AS batch, other_row AS number FROM releases WHERE batch_id = :batch_id AND row_number = :row_number
UNION
SELECT batch_id, row_number FROM releases WHERE other_batch = :batch_id AND other_row = :row_number`

export const putMatch = `
UPDATE submissions SET state = :state, changed_at = :at, reason = NULL, field = NULL,
  matches_batch = :matches_batch, matches_row = :matches_row, held_for = :held_for, shares = :shares
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from
  AND (state, matches_batch, matches_row, held_for, shares)
    IS DISTINCT FROM (CAST(:state AS text), CAST(:matches_batch AS text), CAST(:matches_row AS bigint),
      CAST(:held_for AS text), CAST(:shares AS text))`

export const deleteMatch = `
UPDATE submissions SET state = 'pending', changed_at = :at, reason = NULL, field = NULL,
  matches_batch = NULL, matches_row = NULL, held_for = NULL, shares = NULL
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from`

export const selectWaitingRows = `
SELECT row_number, state, held_for, matches_batch, matches_row FROM submissions
WHERE batch_id = :batch_id AND state IN ('held', 'duplicate') AND body IS NOT NULL ORDER BY row_number`

/** In place of what results files say of a row, where a person said that they are not heard. */
export const unheard = '[]'

export const forgetWitnesses = `
UPDATE submissions SET witnesses = '${unheard}'
WHERE batch_id = :batch_id AND witnesses IS DISTINCT FROM '${unheard}' AND state IN ${sqlList(waitingStates)}`

export const selectWitnesses = `
SELECT row_number, state, witnesses FROM submissions
WHERE batch_id = :batch_id AND state IN ${sqlList(waitingStates)} AND body IS NOT NULL ORDER BY row_number`

export const putWitnesses = `
UPDATE submissions SET witnesses = :witnesses WHERE batch_id = :batch_id AND row_number = :row_number`

export const insertRelease = `
INSERT INTO releases (batch_id, row_number, other_batch, other_row, made_at, made_by)
VALUES (:batch_id, :row_number, :other_batch, :other_row, :at, :by) ON CONFLICT DO NOTHING`

export const insertJoinedPackage = `
INSERT INTO joined_packages (service, package_id, successor_id, how, since)
VALUES (:service, :package_id, :successor_id, :how, :at) ON CONFLICT DO NOTHING`

export const putJoinedService = `
INSERT INTO joined_services (one, other, same, said_at, said_by) VALUES (:one, :other, :same, :at, :by)
ON CONFLICT (one, other) DO UPDATE SET same = excluded.same, said_at = excluded.said_at, said_by = excluded.said_by`

/** What was said of a file's own rows, as a flag would have. */
export const allowOwn = `
UPDATE batches SET allow_similar = greatest(allow_similar, :all),
  shared = CASE WHEN CAST(:value AS text) IS NULL THEN shared
    ELSE (CAST(shared AS jsonb) || to_jsonb(CAST(:value AS text)))::text END
WHERE id = :id`

export const cancelWaitingRow = `
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

const isTold = `s.matches_batch = '${resultsBatch}'`

/** When the order that stands in a row's way was sent, also where a results file alone tells of it. */
const stoppedAt = `coalesce(a.began_at, m.changed_at,
  CASE WHEN ${isTold} THEN (CAST(s.witnesses AS jsonb) -> (s.matches_row - 1)::int ->> 'at')::bigint END)`

/** What the duplicates and held rows of a batch match, as that stands now. */
export const selectStops = `
SELECT s.state, s.held_for, CASE WHEN ${isTold} THEN 'accepted' ELSE m.state END AS other_state,
  m.batch_id AS other_batch, count(*) AS count, min(${stoppedAt}) AS first_at, max(${stoppedAt}) AS last_at
FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
LEFT JOIN attempts a ON a.id = m.attempt_id
WHERE s.batch_id = :batch_id AND s.state IN ('duplicate', 'held')
GROUP BY s.state, s.held_for, ${isTold}, m.state, m.batch_id`
