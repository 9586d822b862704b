import { statesThatMatch } from '../../../domain/submission/match.ts'
import { resultsBatch } from '../../../domain/submission/witness.ts'
import { waitingStates } from '../../../domain/submission/states.ts'
import { sqlList } from '../sql.ts'
import { selectSubmissions } from '../submission-rows.ts'

/** With what an attempt is made of: both are done at once. */
export const selectToCompare = `
SELECT s.batch_id, s.row_number, s.state, s.attempt_id, s.package_id, s.first_name, s.last_name, s.email, s.phone, s.body, s.body_sha256,
  s.person_print, s.email_print, s.phone_print, s.witnesses,
  b.base_url, b.added_at, b.kind, b.account, b.allow_duplicate, b.allow_similar, b.shared
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.batch_id = :batch_id AND s.row_number = :row_number`

const another = (print: string): string => `EXISTS (
  SELECT 1 FROM submissions WHERE ${print} = :${print} AND NOT (batch_id = :batch_id AND row_number = :row_number)
)`

/** Whether the next two can find anything: they cost more, and for most rows there is nothing. */
export const selectWhetherShared = `
SELECT ${['person_print', 'email_print', 'phone_print'].map(another).join(' OR ')} AS shared,
  EXISTS (SELECT 1 FROM submissions WHERE person_print IS NULL AND fingerprint IS NOT NULL) AS first_form`

/**
 * Orders that share a fingerprint with a row. Each account sees its own people and those of nobody's; without an account
 * everybody is seen.
 */
export const selectCandidates = `${selectSubmissions}
WHERE (s.person_print = :person_print OR s.email_print = :email_print OR s.phone_print = :phone_print)
  AND s.state IN ${sqlList(statesThatMatch)}
  AND (:account = '' OR b.account IN ('', :account))
  AND NOT (s.batch_id = :batch_id AND (s.row_number = :row_number
    OR (:skip_own AND s.person_print <> :person_print AND s.state <> 'unknown')))`

export const selectFirstForm = `${selectSubmissions}
WHERE s.person_print IS NULL AND s.fingerprint IN (SELECT value FROM json_each(:forms))
  AND s.state IN ${sqlList(statesThatMatch)}`

/** A row whose e-mail is the same by its text and another by its fingerprint. */
export const selectDamaged = `
SELECT batch_id, row_number FROM submissions
WHERE email = :email COLLATE NOCASE AND fingerprint IS NOT NULL AND email_print IS NOT :email_print LIMIT 1`

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
  AND NOT (state = :state AND matches_batch IS :matches_batch AND matches_row IS :matches_row AND held_for IS :held_for
    AND shares IS :shares)`

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
WHERE batch_id = :batch_id AND witnesses IS NOT '${unheard}' AND state IN ${sqlList(waitingStates)}`

export const selectWitnesses = `
SELECT row_number, state, witnesses FROM submissions
WHERE batch_id = :batch_id AND state IN ${sqlList(waitingStates)} AND body IS NOT NULL ORDER BY row_number`

export const putWitnesses = `
UPDATE submissions SET witnesses = :witnesses WHERE batch_id = :batch_id AND row_number = :row_number`

export const insertRelease = `
INSERT INTO releases (batch_id, row_number, other_batch, other_row, made_at, made_by)
VALUES (:batch_id, :row_number, :other_batch, :other_row, :at, :by)
ON CONFLICT DO NOTHING`

export const insertJoinedPackage = `
INSERT INTO joined_packages (service, package_id, successor_id, how, since)
VALUES (:service, :package_id, :successor_id, :how, :at)
ON CONFLICT DO NOTHING`

export const putJoinedService = `
INSERT INTO joined_services (one, other, same, said_at, said_by) VALUES (:one, :other, :same, :at, :by)
ON CONFLICT (one, other) DO UPDATE SET same = :same, said_at = :at, said_by = :by`

/** What was said of a file's own rows, as a flag would have. */
export const allowOwn = `
UPDATE batches SET allow_similar = max(allow_similar, :all),
  shared = CASE WHEN :value IS NULL THEN shared ELSE json_insert(shared, '$[#]', :value) END
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
  WHEN EXISTS (SELECT 1 FROM batches o WHERE o.identity = :identity AND o.id <> :id) THEN identity ELSE :identity END
WHERE id = :id`

/** When the order that stands in a row's way was sent, also where a results file alone tells of it. */
const stoppedAt = `coalesce(a.began_at, m.changed_at, json_extract(s.witnesses, '$[' || (s.matches_row - 1) || '].at'))`

/** What the duplicates and held rows of a batch match, as that stands now. */
export const selectStops = `
SELECT s.state, s.held_for, iif(s.matches_batch = '${resultsBatch}', 'accepted', m.state) AS other_state,
  m.batch_id AS other_batch, m.row_number AS other_row, count(*) AS count, min(${stoppedAt}) AS first_at, max(${stoppedAt}) AS last_at
FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
LEFT JOIN attempts a ON a.id = m.attempt_id
WHERE s.batch_id = :batch_id AND s.state IN ('duplicate', 'held')
GROUP BY s.state, s.held_for, s.matches_batch = '${resultsBatch}', m.state, m.batch_id`
