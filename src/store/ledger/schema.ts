/**
 * The SQL of format 1: the tables of a store. They differ between the two engines only in the names of types. Times are
 * milliseconds of wall time. `store migrate` and the first use of a file run this SQL once; later formats add to it.
 *
 * The words in braces are members of `Dialect`:
 * - `text`: the type of texts that are compared byte by byte, so that the locale of a server has no effect.
 * - `serial`: the definition of a column that numbers the rows in the order in which they are added, with the comma
 *   after it. Empty for SQLite, whose rowid is such a number.
 * - `newNumber`: the type of a primary key that the database generates; a number is never used again.
 * - `end`: the options of a table.
 * - `submissionColumns`: the columns that only one engine has, each with the comma after it.
 * - `pendingOrder COLUMN`: the column as the query for the next pending row sorts by it.
 * - `foldedEmail`: the expression of an index in which upper and lower case of e-mail addresses are equal.
 *
 * Tables, columns and indexes whose names do not explain them:
 * - accounts: the accounts that order with this store, each with the number and id of its newest attempt (its head).
 * - attempt_logs: the register of every log in which an attempt was recorded (src/docs/ordering.md, section 6);
 *   a store that may lack attempts is closed until each log was compared with it, and `reported_for` is the id of the
 *   closing for which this log was compared last. `host` is the name of the machine, and `machine` the id of the
 *   installation of its operating system, '' if there is none.
 * - batches: `shared` lists the e-mails and phones that, according to the user, many people of the file share.
 * - joined_packages: packages that count as one when people are compared. "moved" in `how`: a user replaced one by the
 *   other; "likely": the service seems to have replaced it.
 * - joined_services: the answers of a user to the question whether two URLs are one service.
 * - request_rows: the row of each request id; a service's request id belongs to one row.
 * - submissions: `fingerprint` identifies the order (account, service, package and person), and the columns `*_print` are
 *   keyed hashes of the person's data; `held_for` is the reason why the row is or was held; `shares` is what the row has
 *   in common with the order that it matches; `external_results` are rows of results files about the same person, as
 *   JSON; `offered_id` is the request id that an answer named although the order failed.
 * - submissions_sending: the index that allows only one row of each order to be `sending`, even if the comparison found
 *   no conflict.
 * - unmatched_requests: the requests that webhook events name and that belong to no row, with the data that was read
 *   from the service. `reader` is the key (a fingerprint) and user for which the service did not find the request, and
 *   `created_at` is then when its event was received; `reader` is '' if the request was read.
 */
export const schema = `
CREATE TABLE meta (
  name {text} PRIMARY KEY,
  value {bytes} NOT NULL
){end};

CREATE TABLE batches (
  id {text} PRIMARY KEY,
  {serial}kind {text} NOT NULL CHECK (kind IN ('single', 'file')),
  base_url {text} NOT NULL,
  user_email {text} NOT NULL,
  added_at {integer} NOT NULL,
  name {text},
  identity {text},
  sha256 {text},
  package_id {integer},
  path {text},
  results_file {text},
  reading {text},
  allow_duplicate {integer} NOT NULL DEFAULT 0,
  halted_at {integer},
  halt_code {text},
  halt_message {text},
  halt_hint {text},
  account {text} NOT NULL DEFAULT '',
  allow_similar {integer} NOT NULL DEFAULT 0,
  shared {text} NOT NULL DEFAULT '[]',
  queued_at {integer}
){end};

CREATE UNIQUE INDEX batches_by_identity ON batches (identity) WHERE identity IS NOT NULL;
CREATE INDEX batches_by_kind ON batches (kind, added_at);
CREATE INDEX batches_queued ON batches (queued_at) WHERE queued_at IS NOT NULL;

CREATE TABLE submissions (
  batch_id {text} NOT NULL REFERENCES batches (id),
  row_number {integer} NOT NULL CHECK (row_number >= 1),
  state {text} NOT NULL CHECK (
    state IN ('pending', 'sending', 'accepted', 'rejected', 'unknown', 'dropped', 'held', 'invalid', 'duplicate', 'cancelled')
  ),
  attempt_id {text},
  changed_at {integer} NOT NULL,
  package_id {integer},
  first_name {text},
  last_name {text},
  email {text},
  phone {text},
  body {bytes},
  body_sha256 {text},
  fingerprint {text},
  request_id {text},
  request_status {text},
  request_status_at {integer},
  offered_id {text},
  reason {text},
  field {text},
  matches_batch {text},
  matches_row {integer},
  person_print {text},
  email_print {text},
  phone_print {text},
  name_print {text},
  held_for {text},
  shares {text},
  external_results {text},
  checks {text},
  acknowledged_at {integer},
  {submissionColumns}PRIMARY KEY (batch_id, row_number),
  CHECK ((state = 'accepted') = (request_id IS NOT NULL)),
  CHECK (state <> 'sending' OR attempt_id IS NOT NULL),
  CHECK (
    state IN ('invalid', 'duplicate', 'cancelled')
    OR (package_id IS NOT NULL AND body_sha256 IS NOT NULL AND fingerprint IS NOT NULL)
  ),
  CHECK ((matches_batch IS NULL) = (matches_row IS NULL)),
  CHECK (held_for IS NULL OR state IN ('held', 'cancelled'))
){end};

CREATE INDEX submissions_by_request ON submissions (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX submissions_by_state ON submissions (batch_id, state, changed_at);
CREATE INDEX submissions_pending ON submissions (batch_id, {pendingOrder row_number}) WHERE state = 'pending';
CREATE INDEX submissions_by_email ON submissions ({foldedEmail}) WHERE email IS NOT NULL;
CREATE INDEX submissions_by_person ON submissions (person_print) WHERE person_print IS NOT NULL;
CREATE INDEX submissions_by_email_print ON submissions (email_print) WHERE email_print IS NOT NULL;
CREATE INDEX submissions_by_phone_print ON submissions (phone_print) WHERE phone_print IS NOT NULL;
CREATE INDEX submissions_by_name_print ON submissions (name_print) WHERE name_print IS NOT NULL;
CREATE UNIQUE INDEX submissions_sending ON submissions (fingerprint) WHERE state = 'sending';

CREATE TABLE attempts (
  id {text} PRIMARY KEY,
  {serial}batch_id {text} NOT NULL,
  row_number {integer} NOT NULL,
  user_email {text} NOT NULL,
  body_sha256 {text} NOT NULL,
  began_at {integer} NOT NULL,
  began_monotonic {real} NOT NULL,
  ended_at {integer},
  became {text},
  answer_status {integer},
  reason {text},
  account {text} NOT NULL,
  number {integer} NOT NULL,
  log_id {text},
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
){end};

CREATE INDEX attempts_by_submission ON attempts (batch_id, row_number);
CREATE INDEX attempts_doubtful ON attempts (batch_id, row_number) WHERE coalesce(became, 'unknown') = 'unknown';
CREATE UNIQUE INDEX attempts_by_number ON attempts (account, number);
CREATE INDEX attempts_by_log ON attempts (log_id, began_at);

CREATE TABLE request_rows (
  service {text} NOT NULL,
  request_id {text} NOT NULL,
  batch_id {text} NOT NULL,
  row_number {integer} NOT NULL,
  PRIMARY KEY (service, request_id)
){end};

CREATE TABLE decisions (
  id {newNumber},
  batch_id {text} NOT NULL,
  row_number {integer} NOT NULL,
  attempt_id {text} NOT NULL REFERENCES attempts (id),
  became {text} NOT NULL,
  made_at {integer} NOT NULL,
  made_by {text} NOT NULL,
  why {text} NOT NULL,
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
){end};

CREATE TABLE releases (
  batch_id {text} NOT NULL,
  row_number {integer} NOT NULL,
  other_batch {text} NOT NULL,
  other_row {integer} NOT NULL,
  made_at {integer} NOT NULL,
  made_by {text} NOT NULL,
  PRIMARY KEY (batch_id, row_number, other_batch, other_row),
  FOREIGN KEY (batch_id, row_number) REFERENCES submissions (batch_id, row_number)
){end};

CREATE INDEX releases_by_other ON releases (other_batch, other_row);

CREATE TABLE joined_packages (
  service {text} NOT NULL,
  package_id {integer} NOT NULL,
  successor_id {integer} NOT NULL,
  how {text} NOT NULL CHECK (how IN ('moved', 'likely')),
  since {integer} NOT NULL,
  PRIMARY KEY (service, package_id, successor_id, how)
){end};

CREATE TABLE joined_services (
  one {text} NOT NULL,
  other {text} NOT NULL,
  same {integer} NOT NULL,
  said_at {integer} NOT NULL,
  said_by {text} NOT NULL,
  PRIMARY KEY (one, other)
){end};

CREATE TABLE unmatched_requests (
  service {text} NOT NULL,
  request_id {text} NOT NULL,
  reader {text} NOT NULL DEFAULT '',
  read_at {integer} NOT NULL,
  created_at {integer},
  package_id {integer},
  status {text},
  person_print {text},
  email_print {text},
  phone_print {text},
  acknowledged_at {integer},
  acknowledged_by {text},
  PRIMARY KEY (request_id, service, reader),
  CHECK ((reader = '') = (package_id IS NOT NULL))
){end};

CREATE INDEX unmatched_requests_by_person ON unmatched_requests (person_print) WHERE person_print IS NOT NULL;
CREATE INDEX unmatched_requests_by_email ON unmatched_requests (email_print) WHERE email_print IS NOT NULL;
CREATE INDEX unmatched_requests_by_phone ON unmatched_requests (phone_print) WHERE phone_print IS NOT NULL;

CREATE TABLE quota (
  account {text} PRIMARY KEY,
  state {text} NOT NULL
){end};

CREATE TABLE events (
  id {newNumber},
  identity {text} NOT NULL UNIQUE,
  received_at {integer} NOT NULL,
  body {bytes} NOT NULL,
  signature {text} NOT NULL,
  request_id {text},
  status {text},
  event {text},
  oddity {text},
  base_url {text},
  repeats {integer} NOT NULL DEFAULT 0,
  forward {text} NOT NULL CHECK (forward IN ('none', 'waiting', 'done')),
  due_at {integer} NOT NULL DEFAULT 0,
  attempts {integer} NOT NULL DEFAULT 0,
  last_answer {text},
  forwarded_at {integer}
){end};

CREATE INDEX events_by_request ON events (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX events_by_time ON events (received_at);
CREATE INDEX events_waiting ON events (request_id, id) WHERE forward = 'waiting';

CREATE TABLE accounts (
  name {text} PRIMARY KEY,
  added_at {integer} NOT NULL,
  head_number {integer} NOT NULL DEFAULT 0,
  head_attempt_id {text}
){end};

CREATE TABLE attempt_logs (
  id {text} PRIMARY KEY,
  host {text} NOT NULL,
  machine {text} NOT NULL,
  path {text} NOT NULL,
  last_attempt_at {integer} NOT NULL DEFAULT 0,
  reported_for {text},
  is_excluded {integer} NOT NULL DEFAULT 0
){end};
`

type ColumnType = 'text' | 'integer' | 'real' | 'bytes'
export type Columns = Readonly<Record<string, ColumnType>>

export interface Table {
  name: string
  /** The order in which the rows are read, page by page: that in which they were added, or that of these columns. */
  order: 'added' | readonly string[]
  /** The columns that the table has in both engines. */
  columns: Columns
}

/** The tables that a store has in both engines; each table comes after those that it refers to. */
export const tables: readonly Table[] = [...schema.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)^\)/gms)].map(
  ([, name = '', text = '']) => {
    const definitions = [...text.matchAll(/(?:^ {2}|\})(\w+) \{(\w+)\}/gm)]
    const key = /^ {2}(?:\{submissionColumns\})?PRIMARY KEY \((.*)\)/m.exec(text)?.[1]?.split(', ')
    return {
      name,
      order: text.includes('{serial}') ? 'added' : (key ?? [definitions[0]?.[1] ?? '']),
      columns: Object.fromEntries(
        definitions.map(([, column = '', type]) => [
          column,
          type === 'newNumber' ? 'integer' : (type as ColumnType),
        ]),
      ),
    }
  },
)

/**
 * The tables with data of people. `store move` fills them only if they are empty, and prevents new rows in those of the
 * former store. The existing rows may still be changed, so that people can be erased.
 */
export const peopleTables: readonly string[] = tables
  .map(({ name }) => name)
  .filter((name) => name !== 'meta' && name !== 'quota')

/** Returns the column of an object's field: `batch_id` for `batchId`, and `row_number` for `row`. */
export const columnOf = cacheResults((field) =>
  field === 'row' ? 'row_number' : field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
)

/** Returns the field of a column: `batchId` for `batch_id`, and `row` for `row_number`. */
export const fieldOf = cacheResults((column) =>
  column === 'row_number'
    ? 'row'
    : column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)

/** Returns `find` with a cache of its results: there are few names, and each is converted for every row. */
function cacheResults(find: (name: string) => string): (name: string) => string {
  const results = new Map<string, string>()
  return (name) => {
    const result = results.get(name) ?? find(name)
    if (!results.has(name)) results.set(name, result)
    return result
  }
}

/** Returns the types of a table's columns by their fields. The columns that only one engine has are texts. */
export function columnsOf(table: string, fields: readonly string[]): Columns {
  const columns = tables.find(({ name }) => name === table)?.columns ?? {}
  return Object.fromEntries(fields.map((field) => [field, columns[columnOf(field)] ?? 'text']))
}
