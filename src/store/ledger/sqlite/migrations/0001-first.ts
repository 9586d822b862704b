/**
 * Orders and how they came about. What names a person (the recipient's columns and the body) can be
 * emptied; the keyed fingerprint stays, so that a forgotten person is still not ordered twice.
 */
export const first = `
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;

CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('single', 'file')),
  base_url TEXT NOT NULL,
  user_email TEXT NOT NULL,
  added_at INTEGER NOT NULL
) STRICT;

CREATE TABLE submissions (
  batch_id TEXT NOT NULL REFERENCES batches (id),
  row_number INTEGER NOT NULL CHECK (row_number >= 1),
  state TEXT NOT NULL CHECK (
    state IN ('pending', 'sending', 'accepted', 'rejected', 'unknown', 'invalid', 'duplicate', 'cancelled')
  ),
  attempt_id TEXT,
  changed_at INTEGER NOT NULL,
  package_id INTEGER NOT NULL,
  first_name TEXT,
  last_name TEXT,
  email TEXT,
  phone TEXT,
  body BLOB,
  body_sha256 TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  request_id TEXT,
  request_status TEXT,
  request_status_at INTEGER,
  offered_id TEXT,
  reason TEXT,
  field TEXT,
  PRIMARY KEY (batch_id, row_number),
  CHECK ((state = 'accepted') = (request_id IS NOT NULL)),
  CHECK (state <> 'sending' OR attempt_id IS NOT NULL)
) STRICT;

CREATE INDEX submissions_by_fingerprint ON submissions (fingerprint);
CREATE INDEX submissions_by_request ON submissions (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX submissions_sending ON submissions (batch_id) WHERE state = 'sending';
CREATE INDEX submissions_pending ON submissions (batch_id) WHERE state = 'pending';

-- One order a person in a batch, whatever happens elsewhere.
CREATE UNIQUE INDEX submissions_once_a_batch ON submissions (batch_id, fingerprint)
  WHERE state NOT IN ('invalid', 'duplicate');

CREATE TABLE attempts (
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
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
) STRICT;

CREATE INDEX attempts_by_submission ON attempts (batch_id, row_number);

CREATE TABLE decisions (
  id INTEGER PRIMARY KEY,
  batch_id TEXT NOT NULL,
  row_number INTEGER NOT NULL,
  attempt_id TEXT NOT NULL REFERENCES attempts (id),
  became TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  made_by TEXT NOT NULL,
  why TEXT NOT NULL,
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
) STRICT;
`
