import { fileIdentity } from '../../../../domain/batch/new-row.ts'
import { orderIdentity } from '../../../../domain/submission/identity.ts'
import type { Database } from '../connection.ts'
import { fingerprinting } from '../fingerprints.ts'
import { personPrints } from '../../fingerprints.ts'
import { submissionOf } from '../../submission-rows.ts'

/**
 * What tells that two orders are for one person, past their spelling: the states `held` and `dropped`, a keyed
 * fingerprint each of the person, the e-mail and the phone, why a row is held, whose people a batch is about, what
 * was released, and which packages and services were said to be one. A row that is a duplicate keeps its
 * body, since it may be sent once what stood in its way does no more.
 */
const tables = `
ALTER TABLE batches ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE batches ADD COLUMN allow_similar INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN shared TEXT NOT NULL DEFAULT '[]';

CREATE TABLE new_submissions (
  batch_id TEXT NOT NULL REFERENCES batches (id),
  row_number INTEGER NOT NULL CHECK (row_number >= 1),
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'sending', 'accepted', 'rejected', 'unknown', 'dropped', 'held', 'invalid', 'duplicate', 'cancelled')
  ),
  attempt_id TEXT,
  changed_at INTEGER NOT NULL,
  package_id INTEGER,
  first_name TEXT,
  last_name TEXT,
  email TEXT,
  phone TEXT,
  body BLOB,
  body_sha256 TEXT,
  fingerprint TEXT,
  request_id TEXT,
  request_status TEXT,
  request_status_at INTEGER,
  offered_id TEXT,
  reason TEXT,
  field TEXT,
  matches_batch TEXT,
  matches_row INTEGER,
  person_print TEXT,
  email_print TEXT,
  phone_print TEXT,
  held_for TEXT,
  shares TEXT,
  PRIMARY KEY (batch_id, row_number),
  CHECK ((state = 'accepted') = (request_id IS NOT NULL)),
  CHECK (state <> 'sending' OR attempt_id IS NOT NULL),
  CHECK (
    state IN ('invalid', 'duplicate', 'cancelled')
    OR (package_id IS NOT NULL AND body_sha256 IS NOT NULL AND fingerprint IS NOT NULL)
  ),
  CHECK ((matches_batch IS NULL) = (matches_row IS NULL)),
  CHECK (held_for IS NULL OR state IN ('held', 'cancelled'))
) STRICT;

CREATE TABLE new_attempts (
  id TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL,
  row_number INTEGER NOT NULL,
  user_email TEXT NOT NULL,
  body_sha256 TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  began_monotonic REAL NOT NULL,
  ended_at INTEGER,
  became TEXT,
  answer_status INTEGER,
  reason TEXT,
  FOREIGN KEY (batch_id, row_number) REFERENCES new_submissions (batch_id, row_number)
) STRICT;

CREATE TABLE new_decisions (
  id INTEGER PRIMARY KEY,
  batch_id TEXT NOT NULL,
  row_number INTEGER NOT NULL,
  attempt_id TEXT NOT NULL REFERENCES new_attempts (id),
  became TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  why TEXT NOT NULL,
  FOREIGN KEY (batch_id, row_number) REFERENCES new_submissions (batch_id, row_number)
) STRICT;

INSERT INTO new_submissions SELECT *, NULL, NULL, NULL, NULL, NULL FROM submissions;
INSERT INTO new_attempts SELECT * FROM attempts;
INSERT INTO new_decisions SELECT * FROM decisions;

DROP TABLE decisions;
DROP TABLE attempts;
DROP TABLE submissions;
ALTER TABLE new_submissions RENAME TO submissions;
ALTER TABLE new_attempts RENAME TO attempts;
ALTER TABLE new_decisions RENAME TO decisions;

CREATE INDEX submissions_by_request ON submissions (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX submissions_by_state ON submissions (batch_id, state, changed_at);
CREATE INDEX submissions_pending ON submissions (batch_id, row_number) WHERE state = 'pending';
CREATE INDEX submissions_by_email ON submissions (email COLLATE NOCASE) WHERE email IS NOT NULL;
CREATE INDEX attempts_by_submission ON attempts (batch_id, row_number);

CREATE INDEX submissions_by_person ON submissions (person_print) WHERE person_print IS NOT NULL;
CREATE INDEX submissions_by_email_print ON submissions (email_print) WHERE email_print IS NOT NULL;
CREATE INDEX submissions_by_phone_print ON submissions (phone_print) WHERE phone_print IS NOT NULL;

-- Rows of people that 0.1.0 forgot: known by its own fingerprint alone.
CREATE INDEX submissions_first_form ON submissions (fingerprint)
  WHERE person_print IS NULL AND fingerprint IS NOT NULL;

-- One order a person in flight, whatever was compared.
CREATE UNIQUE INDEX submissions_sending ON submissions (fingerprint) WHERE state = 'sending';

CREATE TABLE releases (
  batch_id TEXT NOT NULL,
  row_number INTEGER NOT NULL,
  other_batch TEXT NOT NULL,
  other_row INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  PRIMARY KEY (batch_id, row_number, other_batch, other_row),
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
) STRICT, WITHOUT ROWID;

CREATE INDEX releases_by_other ON releases (other_batch, other_row);

CREATE TABLE joined_packages (
  service TEXT NOT NULL,
  package_id INTEGER NOT NULL,
  successor_id INTEGER NOT NULL,
  how TEXT NOT NULL CHECK (how IN ('moved', 'likely')),
  since INTEGER NOT NULL,
  PRIMARY KEY (service, package_id, successor_id, how)
) STRICT, WITHOUT ROWID;

CREATE TABLE joined_services (
  one TEXT NOT NULL,
  other TEXT NOT NULL,
  same INTEGER NOT NULL,
  said_at INTEGER NOT NULL,
  said_by TEXT NOT NULL,
  PRIMARY KEY (one, other)
) STRICT, WITHOUT ROWID;
`

/** The tables, and the fingerprints of everybody who is still named; a forgotten person keeps the old one. */
export function matching(database: Database): void {
  database.exec(tables)
  const rows = database.all(
    `SELECT s.*, b.base_url, b.user_email, b.added_at, NULL AS attempted_at, 0 AS attempts
      FROM submissions s JOIN batches b ON b.id = s.batch_id
      WHERE s.fingerprint IS NOT NULL AND s.package_id IS NOT NULL AND s.first_name IS NOT NULL`,
  )
  if (rows.length > 0) {
    const fingerprint = fingerprinting(database)
    for (const { batchId, row, baseUrl, packageId, recipient } of rows.map(submissionOf)) {
      if (recipient === undefined) continue
      database.run(
        `UPDATE submissions SET fingerprint = :fingerprint, person_print = :person_print, email_print = :email_print,
          phone_print = :phone_print WHERE batch_id = :batch_id AND row_number = :row_number`,
        {
          batch_id: batchId,
          row_number: row,
          fingerprint: fingerprint(orderIdentity({ account: '', baseUrl, packageId, recipient })),
          ...personPrints(fingerprint, recipient),
        },
      )
    }
  }
  for (const each of database.all(
    'SELECT id, base_url, sha256, package_id FROM batches WHERE identity IS NOT NULL AND sha256 IS NOT NULL',
  )) {
    const { id, base_url, sha256, package_id } = each as Record<'id' | 'base_url' | 'sha256', string> & {
      package_id: number | null
    }
    const identity = fileIdentity({ account: '', baseUrl: base_url }, sha256, package_id ?? undefined)
    database.run('UPDATE batches SET identity = :identity WHERE id = :id', { id, identity })
  }
}
