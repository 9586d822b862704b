/** A statement of src/docs/ordering.md, and its tests: each a file, and a part of a title in the file. */
interface ProtocolStatement {
  section: string
  statement: string
  tests: readonly (readonly [file: string, title: string])[]
}

type StatementRow = readonly [statement: string, ...tests: (readonly [file: string, title: string])[]]

const statementsOf = (section: string, rows: readonly StatementRow[]): ProtocolStatement[] =>
  rows.map(([statement, ...tests]) => ({ section, statement, tests }))

const create = 'usecases/request/create.test.ts'
const unknown = 'usecases/request/unknown.test.ts'
const outcome = 'domain/submission/outcome.test.ts'
const batchRun = 'usecases/batch/run.test.ts'
const runPolicy = 'domain/batch/run-policy.test.ts'
const sent = 'http/sent.test.ts'
const answers = 'commands/batch-answers.test.ts'
const reconcile = 'commands/batch-reconcile.test.ts'
const once = 'commands/ordered-once.test.ts'
const rules = 'commands/batch-rules.test.ts'
const results = 'commands/external-results.test.ts'
const mixed = 'commands/mixed-answers.test.ts'
const replaced = 'commands/replaced-package.test.ts'
const move = 'commands/batch-move.test.ts'
const restored = 'commands/store-rollback.test.ts'
const rollback = 'store/ledger/sqlite/rollback.test.ts'
const recording = 'store/ledger/sqlite/recording.test.ts'
const shared = 'store/ledger/postgres/rollback.test.ts'
const storeList = 'commands/store-list.test.ts'
const namesLost = 'commands/store-names-lost.test.ts'
const purge = 'commands/store-purge.test.ts'
const secondOrders = 'commands/batch-second-orders.test.ts'
const quota = 'commands/quota.test.ts'
const states = 'store/ledger/states.test.ts'
const runners = 'commands/postgres/runners.test.ts'

/** The statements in the order of the sections of the document. */
export const protocolStatements: readonly ProtocolStatement[] = [
  ...statementsOf('States of a row', [
    [
      'the table of states',
      [
        'domain/submission/states.test.ts',
        'the transitions are those of the table in src/docs/ordering.md, section 1',
      ],
    ],
    [
      'compared in the transaction that takes it to sending',
      ['store/ledger/compared-at-sending.test.ts', 'is compared in the step that takes it to sending'],
    ],
    [
      'a release covers the matches that were shown',
      ['domain/submission/release.test.ts', 'a release by row covers the listed order'],
    ],
    [
      'cancelling takes held and duplicate rows too',
      [move, 'cancelling a batch cancels its held and duplicate'],
    ],
    [
      'a compare-and-set on state and attempt',
      [states, 'a change is made only if the row still has the state and attempt'],
    ],
    [
      'an answer for a row that has changed meanwhile is recorded and reported',
      [unknown, 'an answer is recorded even if another process has made the row unknown'],
    ],
  ]),
  ...statementsOf('One attempt', [
    [
      'the attempt is on disk before the first byte is sent',
      [create, 'another process reads the state "sending"'],
      ['store/ledger/sqlite/journal.test.ts', 'a commit is flushed before it returns'],
    ],
    [
      'nothing is sent more than 5 s after the commit of the attempt',
      [create, 'a journal entry that is more than 5 s old'],
      ['domain/submission/attempt.test.ts', 'more than five seconds after it was journaled'],
    ],
    [
      'each create has its own connection',
      ['http/connections.test.ts', 'each create has a connection of its own'],
    ],
    [
      'an interim 1xx answer is no answer',
      ['http/answers.test.ts', 'informational answers before the final answer'],
    ],
    ['an outcome is recorded before it is reported', [batchRun, 'reported once it is on disk']],
    ['a busy store is waited for', ['usecases/request/busy.test.ts', 'a store that is busy for 90 s']],
    ['201 with a UUID: accepted', [outcome, '201 with a UUID is accepted']],
    [
      'a UUID that is another order’s: unknown, and the batch halts',
      [outcome, 'an answer with the request of another order'],
      [batchRun, 'with the id of another order halts the run at once'],
    ],
    ['400: rejected, with its field', [outcome, '400 in the envelope is rejected']],
    [
      'a 400 for a field reads the schema again',
      [rules, 'a 400 for a missing field'],
      [batchRun, 'halt the run if the schema has changed'],
    ],
    [
      '404 (package gone) halts',
      [runPolicy, 'a 404 leads to a check of the package'],
      [batchRun, 'halt the run if the package is gone'],
    ],
    [
      '401 and 403 halt, and the row is pending again',
      [runPolicy, 'a 403 for the key halts the run at once'],
      [batchRun, 'a 403 for the key halts the run, and the row stays pending'],
    ],
    [
      '429 waits as Retry-After says',
      [create, 'after the Retry-After of a 429'],
      [create, 'after a minute if the Retry-After of a 429 is invalid'],
      [batchRun, 'after a 429 the run waits for the stated time'],
    ],
    [
      'a failure before the connection is open: not sent',
      [sent, 'a closed port: the create is not sent'],
      [outcome, 'a failure before'],
    ],
    ['a page of a firewall is no answer of the service', [outcome, 'that may come from a firewall']],
    [
      'an id found in a 5xx body is read',
      [unknown, 'a read with the same package and person is evidence'],
      [unknown, 'the id of another order is no evidence'],
      [batchRun, 'with an id is resolved by reading the request'],
    ],
    [
      'after an unknown outcome nothing is sent until a ping and a read succeed',
      ['commands/batch-outage.test.ts', 'an outage makes one row unknown'],
      [batchRun, 'nothing is sent until the health check succeeds'],
    ],
    [
      'three unknown outcomes in a row halt the batch',
      ['commands/batch-outage.test.ts', 'three unknown outcomes in a row halt the batch'],
    ],
    [
      'a row found in sending at start-up becomes unknown',
      [unknown, 'an order in flight whose process died becomes unknown'],
    ],
    [
      'a read has to return the request that was asked for',
      [mixed, 'a read of a request that returns another request'],
    ],
    [
      'a report is filed under the check its URL names',
      [mixed, 'of another check is not filed under this person'],
    ],
  ]),
  ...statementsOf('Which process may send', [
    [
      'one runner per batch, whose lock the kernel releases',
      ['disk/lock.test.ts', 'the kernel releases it when its holder is killed'],
      ['disk/lock.test.ts', 'keeps the lock through garbage collection'],
      [rules, 'while a runner has the lease of the batch, no other process sends'],
    ],
    [
      'a second name of the store is refused',
      [storeList, 'a store with a second name (hard link)'],
      ['domain/store/second-name.test.ts', 'a store with two names, or that is a mount point, is refused'],
    ],
    ['PostgreSQL: any number of runners', [runners, 'three machines share a file']],
    [
      'one unknown outcome pauses all runners',
      [runners, 'every machine pings the service before its next order'],
    ],
    [
      'a row in flight whose lease has expired becomes unknown',
      ['store/ledger/postgres/sharing.test.ts', 'when the lease expires, and not before'],
    ],
    [
      'after a lost COMMIT nothing is sent',
      ['store/ledger/postgres/lost-commit.test.ts', 'is not sent, and may begin again'],
    ],
  ]),
  ...statementsOf('Conflict detection', [
    [
      'people who were ordered at a renamed gateway are found',
      ['store/ledger/relations.test.ts', 'two services that are declared to be one are compared as one'],
    ],
    [
      'store same-service',
      ['commands/store-same-service.test.ts', 'records that two base URLs are the same service'],
    ],
    [
      'an account does not see another’s people',
      [once, 'a person ordered under one account can be ordered under another account'],
    ],
    [
      'an account that the store does not have is refused',
      ['commands/accounts.test.ts', 'an order under an account that the store does not have is refused'],
      ['commands/accounts.test.ts', 'shows how many people are known under the old account'],
    ],
    [
      'other additional information does not make a new order',
      [create, 'is refused even if the additional information is different'],
    ],
    [
      'a person who is pending in another batch is reported as pending',
      [once, 'are reported as pending in the halted batch, not as ordered'],
    ],
    [
      'a person whose request ended in ERROR is held',
      [rules, 'a person whose request ended in ERROR is held'],
    ],
    [
      'the same content is the same batch',
      ['commands/batch-run.test.ts', 'the same content under another file name is the same batch'],
    ],
    [
      'a file that is read with other settings is another batch',
      ['commands/similar-shown.test.ts', 'a file that is read with another mapping is another batch'],
    ],
    ['--allow-duplicate after 7 days', [rules, 'a person ordered 8 days ago is ordered']],
    ['batch move', [move, 'only batch move lets the other rows be sent, with the new package']],
    [
      'a pair of related packages stays related',
      ['store/ledger/relations.test.ts', 'stays related to its earlier package, in both directions'],
    ],
    [
      'ordered under a predecessor: held',
      [replaced, 'a person ordered under the old package is held under the successor'],
    ],
    [
      'resume on a package that is gone sends nothing',
      [replaced, 'resume sends nothing under a replaced package'],
    ],
    [
      'similar people are held',
      [once, 'a corrected phone, a similar name (Anne) or a new e-mail'],
      [once, 'three rows of one file'],
    ],
    [
      'a couple’s phone is mentioned',
      [
        'domain/submission/shared-phone.test.ts',
        'an order of another person with the same phone is reported',
      ],
    ],
    [
      'request create asks once, default No',
      ['commands/similar-shown.test.ts', 'request create names the similar order in its final question'],
    ],
    [
      '--shared releases the people of an agency',
      ['domain/batch/compare.test.ts', 'releases 500 people with the e-mail of an agency'],
    ],
    [
      'a person similar to one with an unknown outcome is held until that is settled or dropped',
      ['store/ledger/compared-at-sending.test.ts', 'held until that is settled or dropped'],
      ['domain/submission/match.test.ts', 'holds the rows of its own file whatever is allowed'],
    ],
    [
      'of 1,000 typical people no person is held',
      ['domain/batch/compare.test.ts', 'among 1,000 typical people'],
    ],
    [
      'the results file next to the file is read',
      [results, 'each person who was ordered according to the results file is a duplicate'],
    ],
    [
      'rows that are pending in the results file are held',
      [results, 'rows that are pending in the results file are held'],
    ],
    ['results of other people in the same rows are not used', [results, 'other people in the same rows']],
    ['an id without digests is read once', [results, 'a request id without digests']],
    ['the results of a rehearsal are not used', [results, 'of a rehearsal on another loopback service']],
    [
      'a request id that another row has: one read shows which row it belongs to',
      ['commands/mixed-answers.test.ts', 'person’s row gets the id; the batch halts'],
    ],
    [
      'a request that no row ordered holds a new order of its person',
      [secondOrders, 'holds a row of its person when the row is about to be sent'],
      ['store/ledger/unmatched-requests.test.ts', 'holds a row at its claim'],
    ],
    ['a possible second order is reported', [secondOrders, 'reported as a possible second order']],
    [
      'at most 30 calls an hour',
      ['domain/batch/second-orders.test.ts', 'idsToRead returns at most 30 ids per hour'],
    ],
  ]),
  ...statementsOf('Rollback detection', [
    ['request sent, log entry flushed, attempt committed', [recording, 'is recorded by the next process']],
    ['several processes of one machine do not close the store', [shared, 'several processes of one machine']],
    ['a number with another attempt id fails the fence', [shared, 'is no evidence: the ids of the attempts']],
    ['the path still leads to the open file', [recording, 'while it is in use sends nothing more']],
    [
      'a server session other than the last one is a start',
      [shared, 'the log is checked as when the store is opened'],
    ],
    ['a copied log is evidence, and no report', [shared, 'is evidence, but no report of that machine']],
    [
      'a recovered attempt has the outcome that its log states',
      [rollback, 'recovers the outcomes that the log has'],
    ],
    ['an attempt of an accepted row: a separate row', [rollback, 'as a separate row, a possible duplicate']],
    ['the packages in the log count', [rollback, 'reads the related packages from the log']],
    [
      'a store restored to before it was accepted is an older copy',
      [rollback, 'restored once more, to a state before it was accepted'],
    ],
    ['every registered log has to report', [shared, 'every log has to report']],
    ['store check --restored', [shared, 'a restore that only a user reports']],
    ['store check --without', [shared, 'is excluded by its id, and the waiting rows are held']],
    [
      'another store at the path of a log',
      [recording, 'of a lost store closes a new store at the same path'],
    ],
    ['a log from before 1.0.0 is refused', [recording, 'with an attempt log from before 1.0.0 is refused']],
    ['a restored backup is detected', [restored, 'a backup made at order 16 of a running batch is restored']],
    ['a data folder restored', [restored, 'a data folder from before the first order is restored']],
    [
      'an incomplete last line is skipped',
      ['domain/store/attempt-log.test.ts', 'an incomplete last line is skipped'],
    ],
    ['a store without a log is closed', [storeList, 'a store with attempts and no attempt log']],
    [
      'a backup opened as a store sends nothing',
      [restored, 'a backup sends nothing when it is opened as a store'],
    ],
    [
      'no folder outside the store: refused',
      [storeList, 'without a folder for the attempt log nothing is sent'],
    ],
    [
      'a purge keeps attempts',
      [
        'commands/store.test.ts',
        'a purged person is in no file of the store, and is still not ordered twice',
      ],
    ],
    [
      'PostgreSQL: a standby that lacks commits',
      ['store/ledger/postgres/failover.test.ts', 'a standby that the last commits did not reach'],
    ],
    [
      'doctor names the replication of the store',
      ['commands/postgres/store.test.ts', 'doctor names the replication of the store'],
    ],
  ]),
  ...statementsOf('Unknown outcomes', [
    [
      'a match that is unique in both directions is evidence',
      [reconcile, 'an event names a request that fits only the unknown row, the row is accepted'],
    ],
    [
      'matches that are not unique are shown',
      [reconcile, 'two requests that fit a row are shown, and a person has to decide'],
    ],
    [
      'a match of all but the time is shown',
      [answers, 'matches a row in all but the time (a clock 5 minutes off)'],
    ],
    [
      'clock differences are allowed for',
      ['domain/batch/reconciliation.test.ts', 'a known clock difference'],
    ],
    ['no event: no evidence', [reconcile, 'if no event names a request for the row, the row stays unknown']],
    [
      'the service has the order: its id is recorded',
      [answers, 'the request is read once and its id recorded at once'],
    ],
    ['a row whose name is gone', [namesLost, 'accepts only the id of its own person’s request']],
    ['the order is dropped', [answers, '--drop is recorded at once']],
    ['the possible answers are shown together', [answers, 'the message lists the three possible answers']],
    [
      'an order is sent again only after 15 minutes, and with its e-mail typed',
      [reconcile, 'an unknown row is sent again only 15 minutes after the attempt'],
    ],
  ]),
  ...statementsOf('A change of the user who orders', [
    ['a key that cannot read is refused', [answers, 'a key that cannot read the batch’s accepted requests']],
    [
      'a batch whose starter has left can be continued',
      [answers, 'a batch whose starter has left the organisation continues'],
    ],
  ]),
  ...statementsOf('Quota', [
    ['a call of the quota is claimed before a create', [batchRun, 'a wait for the quota is reported']],
    ['REFCHECK_QUOTA on loopback only', [quota, 'REFCHECK_QUOTA is for a service on this machine']],
    ['a read succeeds even if it cannot be counted', [quota, 'a read succeeds even if it cannot be counted']],
    ['a 429 overrides the counted calls', [quota, 'later commands wait for the Retry-After of a 429']],
  ]),
  ...statementsOf('Erasing a person', [
    ['rows that wait are cancelled', [purge, 'pending rows of a purged person are cancelled']],
    [
      '--completely',
      ['store/ledger/removed.test.ts', 'is no longer recognised after the fingerprints are erased too'],
    ],
    [
      'an erased person is not stored again',
      ['store/ledger/removed.test.ts', 'is not stored again by an event'],
    ],
  ]),
]
