/** A sentence of the ordering protocol, and the tests that hold it: a file, and words of a title in it. */
interface Promised {
  section: string
  says: string
  by: readonly (readonly [file: string, title: string])[]
}

type Row = readonly [says: string, ...by: (readonly [file: string, title: string])[]]

const of = (section: string, rows: readonly Row[]): Promised[] =>
  rows.map(([says, ...by]) => ({ section, says, by }))

const ordering = 'usecases/request/create.test.ts'
const unknown = 'usecases/request/unknown.test.ts'
const outcome = 'domain/submission/outcome.test.ts'
const weigh = 'domain/batch/run-policy.test.ts'
const sent = 'http/sent.test.ts'
const answers = 'commands/batch-answers.test.ts'
const reconcile = 'commands/batch-reconcile.test.ts'
const twice = 'commands/ordered-once.test.ts'
const rules = 'commands/batch-rules.test.ts'
const others = 'commands/external-results.test.ts'
const mixed = 'commands/mixed-answers.test.ts'
const replaced = 'commands/replaced-package.test.ts'
const move = 'commands/batch-move.test.ts'
const forgotten = 'commands/store-rollback.test.ts'
const rollback = 'store/ledger/sqlite/rollback.test.ts'
const recording = 'store/ledger/sqlite/recording.test.ts'
const rollbackShared = 'store/ledger/postgres/rollback.test.ts'
const logged = 'commands/store-list.test.ts'
const lost = 'commands/store-names-lost.test.ts'
const purge = 'commands/store-purge.test.ts'
const orphans = 'commands/batch-second-orders.test.ts'
const quota = 'commands/quota.test.ts'
const states = 'store/ledger/states.test.ts'
const runners = 'commands/postgres/runners.test.ts'

/** From its first section to its last. */
export const promises: readonly Promised[] = [
  ...of('States of a submission', [
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
      'an answer for a row that has moved on is kept and told',
      [unknown, 'an answer is recorded even if another process has made the row unknown'],
    ],
  ]),
  ...of('One submission', [
    [
      'on disk before the first byte leaves',
      [ordering, 'another process reads the state "sending"'],
      ['store/ledger/sqlite/journal.test.ts', 'a commit is flushed before it returns'],
    ],
    [
      'not sent more than 5 s after that commit',
      [ordering, 'a journal entry that is more than 5 s old'],
      ['domain/submission/attempt.test.ts', 'more than five seconds after it was journaled'],
    ],
    [
      'a connection of its own for each create',
      ['http/connections.test.ts', 'each create has a connection of its own'],
    ],
    [
      'an interim 1xx answer is no answer',
      ['http/answers.test.ts', 'informational answers before the final answer'],
    ],
    ['the outcome before it is told', ['usecases/batch/run.test.ts', 'reported once it is on disk']],
    ['a busy store is waited for', ['usecases/request/busy.test.ts', 'a store that is busy for 90 s']],
    ['201 with a UUID: accepted', [outcome, '201 with a UUID is accepted']],
    [
      'a UUID that is another order’s: unknown, and the batch halts',
      [outcome, 'an answer with the request of another order'],
      ['usecases/batch/run.test.ts', 'with the id of another order halts the run at once'],
    ],
    ['400: rejected, with its field', [outcome, '400 in the envelope is rejected']],
    [
      'a 400 for a field reads the schema again',
      [rules, 'a 400 for a missing field'],
      ['usecases/batch/run.test.ts', 'halt the run if the schema has changed'],
    ],
    [
      '404 (package gone) halts',
      [weigh, 'a 404 leads to a check of the package'],
      ['usecases/batch/run.test.ts', 'halt the run if the package is gone'],
    ],
    [
      '401 and 403 halt, and the row is pending again',
      [weigh, 'a 403 for the key halts the run at once'],
      ['usecases/batch/run.test.ts', 'a 403 for the key halts the run, and the row stays pending'],
    ],
    [
      '429 waits as Retry-After says',
      [ordering, 'after the Retry-After of a 429'],
      [ordering, 'after a minute if the Retry-After of a 429 is invalid'],
      ['usecases/batch/run.test.ts', 'after a 429 the run waits for the stated time'],
    ],
    [
      'before the connection stood: not sent',
      [sent, 'a closed port: the create is not sent'],
      [outcome, 'a failure before'],
    ],
    ['a firewall’s own page is no word of the service', [outcome, 'that may come from a firewall']],
    [
      'an id found in a 5xx body is read',
      [unknown, 'a read with the same package and person is evidence'],
      [unknown, 'the id of another order is no evidence'],
      ['usecases/batch/run.test.ts', 'with an id is resolved by reading the request'],
    ],
    [
      'after any unknown nothing more until a ping and a read answer well',
      ['commands/batch-outage.test.ts', 'an outage makes one row unknown'],
      ['usecases/batch/run.test.ts', 'nothing is sent until the health check succeeds'],
    ],
    [
      'three unknowns in a row halt',
      ['commands/batch-outage.test.ts', 'three unknown outcomes in a row halt the batch'],
    ],
    [
      'found in sending at start-up: unknown',
      [unknown, 'an order in flight whose process died becomes unknown'],
    ],
    ['a read answers what was asked', [mixed, 'a read of a request that returns another request']],
    [
      'a report is filed under the check its URL names',
      [mixed, 'of another check is not filed under this person'],
    ],
  ]),
  ...of('Who may run a batch', [
    [
      'one runner a batch, freed by the kernel',
      ['disk/lock.test.ts', 'the kernel releases it when its holder is killed'],
      ['disk/lock.test.ts', 'keeps the lock through garbage collection'],
      [rules, 'while a runner has the lease of the batch, no other process sends'],
    ],
    [
      'a second name of the store is refused',
      [logged, 'a store with a second name (hard link)'],
      ['domain/store/second-name.test.ts', 'a store with two names, or that is a mount point, is refused'],
    ],
    ['PostgreSQL: any number of runners', [runners, 'three machines share a file']],
    ['one unknown pauses all of them', [runners, 'every machine pings the service before its next order']],
    [
      'a lease past its end is unknown',
      ['store/ledger/postgres/sharing.test.ts', 'when the lease expires, and not before'],
    ],
    [
      'a lost COMMIT sends nothing',
      ['store/ledger/postgres/lost-commit.test.ts', 'is not sent, and may begin again'],
    ],
  ]),
  ...of('The same order twice', [
    [
      'a gateway that was renamed holds',
      ['store/ledger/relations.test.ts', 'two services that are declared to be one are compared as one'],
    ],
    [
      'store same-service',
      ['commands/store-same-service.test.ts', 'records that two base URLs are the same service'],
    ],
    [
      'an account does not see another’s people',
      [twice, 'a person ordered under one account can be ordered under another account'],
    ],
    [
      'an account that the store does not have is refused',
      ['commands/accounts.test.ts', 'an order under an account that the store does not have is refused'],
      ['commands/accounts.test.ts', 'shows how many people are known under the old account'],
    ],
    [
      'additional information makes nobody new',
      [ordering, 'with other additional information is the same order'],
    ],
    [
      'waiting in another batch is told so',
      [twice, 'are reported as pending in the halted batch, not as ordered'],
    ],
    ['whose request ended in ERROR is held', [rules, 'a person whose request ended in ERROR is held']],
    [
      'the same content is the same batch',
      ['commands/batch-run.test.ts', 'the same content under another file name is the same batch'],
    ],
    [
      'read otherwise it is another',
      ['commands/similar-shown.test.ts', 'a file that is read with another mapping is another batch'],
    ],
    ['--allow-duplicate after 7 days', [rules, 'a person ordered 8 days ago is ordered']],
    ['batch move', [move, 'a move continues the other rows, and the 16 stay duplicates']],
    [
      'a pair of packages is remembered for good',
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
      [twice, 'a corrected phone, a similar name (Anne) or a new e-mail'],
      [twice, 'three rows of one file'],
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
      '--shared lets an agency’s people go',
      ['domain/batch/compare.test.ts', 'releases 500 people with the e-mail of an agency'],
    ],
    [
      'similar to one whose outcome is unknown: held until settled or dropped',
      ['store/ledger/compared-at-sending.test.ts', 'held until that is settled or dropped'],
      ['domain/submission/match.test.ts', 'holds the rows of its own file whatever is allowed'],
    ],
    ['1,000 ordinary people: nobody held', ['domain/batch/compare.test.ts', 'among 1,000 typical people']],
    [
      'results beside the file are heard',
      [others, 'each person who was ordered by the results file is a duplicate'],
    ],
    ['what waits there is held', [others, 'rows that are pending in the results file are held']],
    ['last year’s file is no witness', [others, 'other people in the same rows']],
    ['an id without digests is read once', [others, 'an id without digests']],
    ['a rehearsal is no witness', [others, 'of a rehearsal on another loopback service']],
    [
      'a request id that is taken: one read shows whose it is',
      ['commands/mixed-answers.test.ts', 'whose row gets the id; the batch halts'],
    ],
    [
      'a request that no row ordered holds a new order of its person',
      [orphans, 'holds a row of its person when the row is about to be sent'],
      ['store/ledger/unmatched-requests.test.ts', 'holds a row at its claim'],
    ],
    ['a possible second order is told of', [orphans, 'reported as a possible second order']],
    [
      'at most ten calls an hour',
      ['domain/batch/second-orders.test.ts', 'idsToRead returns at most ten ids per hour'],
    ],
  ]),
  ...of('Rollback detection', [
    ['request sent, log entry flushed, attempt committed', [recording, 'is recorded by the next process']],
    ['several processes of one machine close nothing', [rollbackShared, 'several processes of one machine']],
    [
      'a number under another attempt id fails the fence',
      [rollbackShared, 'is no evidence: the ids of the attempts'],
    ],
    ['the path still leads to the open file', [recording, 'while it is in use sends nothing more']],
    ['a server session other than the last one is a start', [rollbackShared, 'counts as a start']],
    ['a copy is evidence and no report', [rollbackShared, 'is evidence, but no report of that machine']],
    ['an entry becomes what its log tells', [rollback, 'recovers the outcomes that the log has']],
    ['beside an accepted row: a row of its own', [rollback, 'as a separate row, a possible duplicate']],
    ['the package in the log counts', [rollback, 'knows the related packages from the log']],
    ['the older store after accepting', [rollback, 'restored once more, to a state before it was accepted']],
    ['every registered log has to report', [rollbackShared, 'every log has to report']],
    ['store check --restored', [rollbackShared, 'a restore that only a user reports']],
    ['store check --without', [rollbackShared, 'is excluded by its id, and the waiting rows are held']],
    [
      'another store at the path of a log',
      [recording, 'of a lost store closes a new store at the same path'],
    ],
    ['a log from before 1.0.0 is refused', [recording, 'with an attempt log from before 1.0.0 is refused']],
    ['a backup put back is noticed', [forgotten, 'a backup made at order 16 of a running batch is restored']],
    ['a data folder restored', [forgotten, 'a data folder from before the first order is restored']],
    [
      'an incomplete last line is skipped',
      ['domain/store/attempt-log.test.ts', 'an incomplete last line is skipped'],
    ],
    ['a store without a log is closed', [logged, 'a store with attempts and no log']],
    [
      'a backup opened as a store sends nothing',
      [forgotten, 'a backup sends nothing when it is opened as a store'],
    ],
    ['no place outside: refused', [logged, 'without a folder for the attempt log nothing is sent']],
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
      'doctor says which replication holds',
      ['commands/postgres/store.test.ts', 'doctor names the replication of the store'],
    ],
  ]),
  ...of('Settling an unknown', [
    [
      'a match that is unique both ways is proof',
      [reconcile, 'an event names a request that fits the row alone, the row is accepted'],
    ],
    ['not unique: shown', [reconcile, 'two requests that fit a row are shown, and a person has to decide']],
    ['all but the time: shown', [answers, 'in all but the time (a clock 5 minutes off)']],
    [
      'clock differences are allowed for',
      ['domain/batch/reconciliation.test.ts', 'a known clock difference'],
    ],
    ['silence proves nothing', [reconcile, 'if no event names a request for the row, the row stays unknown']],
    ['they have it', [answers, 'its id is read once and recorded at once']],
    ['a row whose name is gone', [lost, 'accepts only the id of its own person’s request']],
    ['leave it', [answers, '--drop is recorded at once']],
    ['side by side', [answers, 'the message lists the three possible answers']],
    [
      'fifteen minutes, and the e-mail typed',
      [reconcile, 'an unknown row is sent again only 15 minutes after the attempt'],
    ],
  ]),
  ...of('A change of who orders', [
    ['a key that cannot read is refused', [answers, 'a key that cannot read the batch’s accepted requests']],
    ['a starter who has left', [answers, 'a batch whose starter has left the organisation continues']],
  ]),
  ...of('The quota', [
    ['a place is taken before a create', ['usecases/batch/run.test.ts', 'a wait for the quota is reported']],
    ['REFCHECK_QUOTA on loopback only', [quota, 'REFCHECK_QUOTA is for a service on this machine']],
    ['a read is never at fault for its count', [quota, 'a read succeeds even if it cannot be counted']],
    ['a 429 wins over what was counted', [quota, 'later commands wait for the Retry-After of a 429']],
  ]),
  ...of('Forgetting a person', [
    ['rows that wait are cancelled', [purge, 'pending rows of a purged person are cancelled']],
    [
      '--completely',
      ['store/ledger/removed.test.ts', 'is no longer recognised after the fingerprints are erased too'],
    ],
    ['nothing brings them back', ['store/ledger/removed.test.ts', 'is not stored again by an event']],
  ]),
]
