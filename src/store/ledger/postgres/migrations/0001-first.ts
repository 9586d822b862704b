/**
 * The whole format as SQLite's has come to be, in the same words; times are milliseconds of wall time. Ids and what is
 * compared by range are of COLLATE "C", so that no locale of the server orders or folds them. `serial` stands for the order
 * in which rows were added.
 *
 * Runners: who orders, on which machine; `lock` is the key of the lock that each holds as long as its connection stands.
 * `runs`: which batches each goes through. `pauses`: the last order of a service whose outcome nobody knows. `epoch`: the
 * server that the store was last accepted on.
 */
export const first = `
CREATE TABLE meta (
  name text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

CREATE TABLE batches (
  id text COLLATE "C" PRIMARY KEY,
  serial bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (kind IN ('single', 'file')),
  base_url text NOT NULL,
  user_email text NOT NULL,
  added_at bigint NOT NULL,
  name text,
  identity text COLLATE "C",
  sha256 text COLLATE "C",
  package_id bigint,
  path text,
  results_file text,
  reading text,
  allow_duplicate integer NOT NULL DEFAULT 0,
  halted_at bigint,
  halt_code text,
  halt_message text,
  halt_hint text,
  account text COLLATE "C" NOT NULL DEFAULT '',
  allow_similar integer NOT NULL DEFAULT 0,
  shared text NOT NULL DEFAULT '[]',
  queued_at bigint
);

CREATE UNIQUE INDEX batches_by_identity ON batches (identity) WHERE identity IS NOT NULL;
CREATE INDEX batches_by_kind ON batches (kind, added_at);

CREATE TABLE runners (
  id text COLLATE "C" PRIMARY KEY,
  lock bigint NOT NULL,
  machine text NOT NULL,
  pid bigint NOT NULL,
  list text COLLATE "C",
  began_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  leased_until bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  reported text
);

CREATE TABLE runs (
  batch_id text COLLATE "C" NOT NULL,
  runner text COLLATE "C" NOT NULL REFERENCES runners (id) ON DELETE CASCADE,
  since bigint NOT NULL,
  PRIMARY KEY (batch_id, runner)
);

CREATE INDEX runs_by_runner ON runs (runner);

CREATE TABLE submissions (
  batch_id text COLLATE "C" NOT NULL REFERENCES batches (id),
  row_number bigint NOT NULL CHECK (row_number >= 1),
  state text COLLATE "C" NOT NULL CHECK (
    state IN ('pending', 'sending', 'accepted', 'rejected', 'unknown', 'dropped', 'held', 'invalid', 'duplicate', 'cancelled')
  ),
  attempt_id text COLLATE "C",
  changed_at bigint NOT NULL,
  package_id bigint,
  first_name text,
  last_name text,
  email text,
  phone text,
  body bytea,
  body_sha256 text COLLATE "C",
  fingerprint text COLLATE "C",
  request_id text COLLATE "C",
  request_status text COLLATE "C",
  request_status_at bigint,
  offered_id text COLLATE "C",
  reason text,
  field text,
  matches_batch text COLLATE "C",
  matches_row bigint,
  person_print text COLLATE "C",
  email_print text COLLATE "C",
  phone_print text COLLATE "C",
  held_for text COLLATE "C",
  shares text COLLATE "C",
  witnesses text,
  runner text COLLATE "C",
  PRIMARY KEY (batch_id, row_number),
  CHECK ((state = 'accepted') = (request_id IS NOT NULL)),
  CHECK (state <> 'sending' OR attempt_id IS NOT NULL),
  CHECK (
    state IN ('invalid', 'duplicate', 'cancelled')
    OR (package_id IS NOT NULL AND body_sha256 IS NOT NULL AND fingerprint IS NOT NULL)
  ),
  CHECK ((matches_batch IS NULL) = (matches_row IS NULL)),
  CHECK (held_for IS NULL OR state IN ('held', 'cancelled'))
);

CREATE INDEX submissions_by_request ON submissions (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX submissions_by_state ON submissions (batch_id, state, changed_at);
-- Only this one is in the order of the claim, so that no other is chosen for it.
CREATE INDEX submissions_pending ON submissions (batch_id, (row_number + 0)) WHERE state = 'pending';
-- Orders of one that wait for their runner.
CREATE INDEX submissions_alone ON submissions (batch_id) WHERE state = 'pending' AND runner IS NOT NULL;
CREATE INDEX submissions_by_email ON submissions (lower(email COLLATE "C")) WHERE email IS NOT NULL;
CREATE INDEX submissions_by_person ON submissions (person_print) WHERE person_print IS NOT NULL;
CREATE INDEX submissions_by_email_print ON submissions (email_print) WHERE email_print IS NOT NULL;
CREATE INDEX submissions_by_phone_print ON submissions (phone_print) WHERE phone_print IS NOT NULL;
CREATE INDEX submissions_first_form ON submissions (fingerprint)
  WHERE person_print IS NULL AND fingerprint IS NOT NULL;
-- One order a person in flight, whatever was compared.
CREATE UNIQUE INDEX submissions_sending ON submissions (fingerprint) WHERE state = 'sending';

CREATE TABLE attempts (
  id text COLLATE "C" PRIMARY KEY,
  serial bigint GENERATED ALWAYS AS IDENTITY,
  batch_id text COLLATE "C" NOT NULL,
  row_number bigint NOT NULL,
  user_email text NOT NULL,
  body_sha256 text COLLATE "C" NOT NULL,
  began_at bigint NOT NULL,
  began_monotonic double precision NOT NULL,
  ended_at bigint,
  became text,
  answer_status integer,
  reason text,
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
);

CREATE INDEX attempts_by_submission ON attempts (batch_id, row_number);

CREATE TABLE decisions (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  batch_id text COLLATE "C" NOT NULL,
  row_number bigint NOT NULL,
  attempt_id text COLLATE "C" NOT NULL REFERENCES attempts (id),
  became text NOT NULL,
  made_at bigint NOT NULL,
  made_by text NOT NULL,
  why text NOT NULL,
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
);

CREATE TABLE releases (
  batch_id text COLLATE "C" NOT NULL,
  row_number bigint NOT NULL,
  other_batch text COLLATE "C" NOT NULL,
  other_row bigint NOT NULL,
  made_at bigint NOT NULL,
  made_by text NOT NULL,
  PRIMARY KEY (batch_id, row_number, other_batch, other_row),
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
);

CREATE INDEX releases_by_other ON releases (other_batch, other_row);

CREATE TABLE joined_packages (
  service text COLLATE "C" NOT NULL,
  package_id bigint NOT NULL,
  successor_id bigint NOT NULL,
  how text NOT NULL CHECK (how IN ('moved', 'likely')),
  since bigint NOT NULL,
  PRIMARY KEY (service, package_id, successor_id, how)
);

CREATE TABLE joined_services (
  one text COLLATE "C" NOT NULL,
  other text COLLATE "C" NOT NULL,
  same integer NOT NULL,
  said_at bigint NOT NULL,
  said_by text NOT NULL,
  PRIMARY KEY (one, other)
);

CREATE TABLE quota (
  account text COLLATE "C" PRIMARY KEY,
  state text NOT NULL
);

CREATE TABLE events (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  identity text COLLATE "C" NOT NULL UNIQUE,
  received_at bigint NOT NULL,
  body bytea NOT NULL,
  signature text NOT NULL,
  request_id text COLLATE "C",
  status text COLLATE "C",
  event text,
  oddity text,
  repeats bigint NOT NULL DEFAULT 0,
  forward text NOT NULL CHECK (forward IN ('none', 'waiting', 'done')),
  due_at bigint NOT NULL DEFAULT 0,
  attempts bigint NOT NULL DEFAULT 0,
  last_answer text,
  forwarded_at bigint
);

CREATE INDEX events_by_request ON events (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX events_by_time ON events (received_at);
CREATE INDEX events_waiting ON events (request_id, id) WHERE forward = 'waiting';

CREATE TABLE pauses (
  service text COLLATE "C" PRIMARY KEY,
  attempt_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL
);

CREATE TABLE epoch (
  one integer PRIMARY KEY CHECK (one = 1),
  system text COLLATE "C" NOT NULL,
  timeline text COLLATE "C" NOT NULL,
  accepted_at bigint NOT NULL
);
`
