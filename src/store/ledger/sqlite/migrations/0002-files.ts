/**
 * Batches of files: what is known of the file, why a batch stands still, and rows that never were a
 * whole order (`invalid`, or the same as an earlier row). A row that is a duplicate says of what.
 */
export const files = `
ALTER TABLE batches ADD COLUMN name TEXT;
ALTER TABLE batches ADD COLUMN identity TEXT;
ALTER TABLE batches ADD COLUMN sha256 TEXT;
ALTER TABLE batches ADD COLUMN package_id INTEGER;
ALTER TABLE batches ADD COLUMN path TEXT;
ALTER TABLE batches ADD COLUMN results_file TEXT;
ALTER TABLE batches ADD COLUMN reading TEXT;
ALTER TABLE batches ADD COLUMN allow_duplicate INTEGER NOT NULL DEFAULT 0;
ALTER TABLE batches ADD COLUMN halted_at INTEGER;
ALTER TABLE batches ADD COLUMN halt_code TEXT;
ALTER TABLE batches ADD COLUMN halt_message TEXT;
ALTER TABLE batches ADD COLUMN halt_hint TEXT;

CREATE UNIQUE INDEX batches_by_identity ON batches (identity) WHERE identity IS NOT NULL;
CREATE INDEX batches_by_kind ON batches (kind, added_at);

CREATE TABLE new_submissions (
  batch_id TEXT NOT NULL REFERENCES batches (id),
  row_number INTEGER NOT NULL CHECK (row_number >= 1),
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'sending', 'accepted', 'rejected', 'unknown', 'invalid', 'duplicate', 'cancelled')
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
  PRIMARY KEY (batch_id, row_number),
  CHECK ((state = 'accepted') = (request_id IS NOT NULL)),
  CHECK (state <> 'sending' OR attempt_id IS NOT NULL),
  CHECK (
    state IN ('invalid', 'duplicate')
    OR (package_id IS NOT NULL AND body_sha256 IS NOT NULL AND fingerprint IS NOT NULL)
  ),
  CHECK ((matches_batch IS NULL) = (matches_row IS NULL)),
  CHECK (matches_batch IS NULL OR state = 'duplicate')
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

INSERT INTO new_submissions SELECT *, NULL, NULL FROM submissions;
INSERT INTO new_attempts SELECT * FROM attempts;
INSERT INTO new_decisions SELECT * FROM decisions;

DROP TABLE decisions;
DROP TABLE attempts;
DROP TABLE submissions;
ALTER TABLE new_submissions RENAME TO submissions;
ALTER TABLE new_attempts RENAME TO attempts;
ALTER TABLE new_decisions RENAME TO decisions;

CREATE INDEX submissions_by_fingerprint ON submissions (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX submissions_by_request ON submissions (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX submissions_by_state ON submissions (batch_id, state, row_number);
CREATE INDEX submissions_sending ON submissions (batch_id) WHERE state = 'sending';
CREATE INDEX submissions_pending ON submissions (batch_id, row_number) WHERE state = 'pending';

-- One order a person in a batch, whatever happens elsewhere.
CREATE UNIQUE INDEX submissions_once_a_batch ON submissions (batch_id, fingerprint)
  WHERE state NOT IN ('invalid', 'duplicate');

CREATE INDEX attempts_by_submission ON attempts (batch_id, row_number);
`
