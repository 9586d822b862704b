/** A way by which 0.1.0 ordered somebody twice, lost an order or said what was not so; and the tests that are named by it. */
interface WentAround {
  /** What it goes around the journal by. */
  by: string
  case: string
  tests: readonly (readonly [file: string, title: string])[]
}

type Row = readonly [what: string, ...tests: (readonly [file: string, title: string])[]]

const around = (by: string, rows: readonly Row[]): WentAround[] =>
  rows.map(([what, ...tests]) => ({ by, case: what, tests }))

const twice = 'commands/nobody-twice.test.ts'
const spellings = 'commands/spellings.test.ts'
const shown = 'commands/similar-shown.test.ts'
const forgotten = 'commands/store-forgotten.test.ts'
const listed = 'commands/store-list.test.ts'
const killed = 'acceptance/ordering/forgotten.test.ts'
const others = 'commands/other-witnesses.test.ts'
const answers = 'commands/batch-answers.test.ts'
const mixed = 'commands/mixed-answers.test.ts'
const rules = 'commands/batch-rules.test.ts'
const purge = 'commands/store-purge.test.ts'
const compare = 'domain/batch/compare.test.ts'
const match = 'domain/submission/match.test.ts'
const age = 'store/ledger/sqlite/age.test.ts'

/** The twelve ways, with each case that was tried. */
export const ways: readonly WentAround[] = [
  ...around('a replaced package', [
    [
      '60 rows, replaced after 16: resume sends nothing',
      ['commands/batch-move.test.ts', '60 rows under 102, replaced after 16'],
    ],
    [
      'a move takes the rest over',
      ['commands/batch-move.test.ts', 'a move takes the rest over, the 16 are known'],
    ],
    [
      'a new run under the successor knows the 16',
      ['commands/replaced-package.test.ts', 'whoever it was ordered for is held under the successor'],
    ],
  ]),
  ...around('a store that has forgotten', [
    [
      'a backup made at row 16 of a running batch and put back',
      [forgotten, 'a backup made at order 16 of a running batch and put back'],
    ],
    ['a -wal removed after SIGKILL', [killed, 'its -wal is removed']],
    ['a -wal cut in half after SIGKILL', [killed, 'its -wal is cut in half']],
    [
      'a data folder restored',
      [forgotten, 'a data folder restored from before the first order'],
      [forgotten, 'a data folder copied between two runs and restored'],
    ],
    ['a data folder that is lost', [forgotten, 'a data folder that is lost']],
    [
      'entries that the store lacks come back as unknown, by name',
      [forgotten, 'then those two are unknown'],
      [age, 'entries that it lacks are put back as unknown, by name'],
    ],
    ['a backup knows that it is one', [forgotten, 'a backup sends nothing when it is opened as a store']],
  ]),
  ...around('a colleague’s file', [
    [
      'results beside the file, of a store of somebody else’s',
      [others, 'everybody whom they say was ordered is a duplicate'],
    ],
    ['our own results file given as input', [others, 'our own results as %s, given as input']],
    [
      'a rehearsal on the sandbox does not block',
      [others, 'of a rehearsal on another loopback service: the real run goes'],
    ],
    [
      'last year’s file as a template does not block',
      [others, 'other people in the same places (last year’s file as a template) go'],
    ],
    ['another package’s results do not block', [others, 'of another package: the run of this one goes']],
    [
      'results written since the file was taken in',
      ['commands/later-witnesses.test.ts', 'results that a colleague wrote beside the input since'],
    ],
  ]),
  ...around('another spelling', [
    ['a corrected phone', [twice, 'a corrected phone, Ann and Anne'], [spellings, 'a corrected phone']],
    ['Ann and Anne', [spellings, 'Ann and Anne']],
    ["’ and '", [spellings, 'another apostrophe']],
    ['Zoë and Zoe', [spellings, 'without the accent']],
    ['+610400…', [spellings, 'a zero after the country']],
    ['swapped names', [spellings, 'names swapped']],
    ['a new e-mail with the same phone', [spellings, 'a new e-mail, the same phone']],
    [
      'past an unknown',
      [spellings, 'nor past an unknown'],
      ['usecases/batch/steering.test.ts', 'similar to one whose outcome is unknown: held until'],
    ],
    ['three rows of one file with one e-mail', [twice, 'three rows of one file with one e-mail']],
    ['asked in request create', [shown, 'request create names the similar order in its one final question']],
    ['said in validate', [shown, 'batch validate names similar people']],
    ['said in plan and run', [shown, 'batch plan and the plan of batch run say the same']],
    [
      'the confirmation names who is ordered when they are few',
      ['domain/submission/confirmation.test.ts', 'few people are named, many are counted'],
    ],
    ['a table of 60 pairs', ['domain/submission/likeness.test.ts', 'there are sixty pairs']],
    ['1,000 real-looking people: nobody held', [compare, 'of 1,000 ordinary people']],
    ['500 rows with one agency’s e-mail, one --shared', [compare, '500 people of one agency’s e-mail']],
    ['--yes implies none of it', [twice, 'not ordered again without a word']],
  ]),
  ...around('what the provider said', [
    ['they have it, its id is X', [answers, 'its id is read once and recorded at once']],
    ['the three answers side by side', [answers, 'the three are offered side by side']],
    ['asked by name on a terminal', [answers, 'on a terminal the person is asked by name']],
    [
      'a dropped unknown goes on blocking',
      ['commands/batch-move.test.ts', '--drop: nobody runs the batch, and the person stays blocked'],
    ],
    [
      'an order that could not be recorded is handed back',
      ['usecases/batch/settle.test.ts', 'could not be recorded is handed back by its id'],
    ],
  ]),
  ...around('a near-fit', [
    [
      'all but the time, a clock 5 minutes off',
      [answers, 'in all but the time (a clock 5 minutes off) is shown'],
    ],
    ['clock differences are allowed for', [answers, 'a clock %i minutes off is allowed for']],
    [
      'the upper bound of the time',
      ['domain/batch/fit.test.ts', 'its upper bound is a minute after the attempt ended'],
    ],
    [
      'an orphan of a proxy that repeats POSTs',
      [
        'commands/batch-second-orders.test.ts',
        'a POST that a proxy repeated is reported as a possible second order',
      ],
    ],
  ]),
  ...around('the service’s identity', [
    ['staging and production on one gateway', [match, 'staging on one gateway is not production']],
    ['loopback names are one', ['domain/submission/identity.test.ts', 'by any name of this machine']],
    [
      'a store of 0.1.0 is migrated',
      ['store/ledger/sqlite/first-release.test.ts', 'whom 0.1.0 ordered is known by today’s rules'],
    ],
    [
      'whom 0.1.0 purged, in the old form',
      ['store/ledger/sqlite/first-release.test.ts', 'whom 0.1.0 forgot is known in its own form'],
    ],
    ['a renamed gateway holds', [match, 'a gateway that may be renamed holds until somebody said']],
    ['accounts', [twice, 'whoever is under one account is not seen by another']],
  ]),
  ...around('a second name of the store', [
    ['a hard link', [listed, 'a store with a second name (hard link) is refused']],
    [
      'a single file bind-mounted',
      ['system/mounted-store.test.ts', 'a store that is mounted by itself is refused'],
    ],
  ]),
  ...around('a duplicate of what was never ordered', [
    [
      'it is looked at again',
      [twice, 'a duplicate of a row that was never ordered is looked at again, and ordered'],
    ],
    [
      '700 people of a halted file, fixed and run again',
      [
        twice,
        'people of a halted file, fixed and run again: told to wait in that batch, and never believed ordered',
      ],
    ],
    [
      'compared by intake, in one step',
      ['store/ledger/sqlite/one-step.test.ts', 'no other process adds one'],
    ],
    [
      'compared by a release',
      ['usecases/batch/steering.test.ts', 'covers what was shown: another order that is similar holds again'],
    ],
    [
      'compared by a retry',
      [
        'usecases/batch/steering.test.ts',
        'compares again: somebody who was ordered meanwhile is a duplicate',
      ],
    ],
    ['compared by a move', ['store/ledger/waiting.test.ts', 'compares the others under the successor']],
    [
      'compared by another look',
      ['store/ledger/waiting.test.ts', 'at a duplicate whose order was refused or cancelled queues it again'],
    ],
    [
      'compared where it is taken to sending',
      ['store/ledger/compared-at-sending.test.ts', 'is compared in the step that takes it to sending'],
    ],
    [
      '--allow-duplicate and this morning’s people',
      [rules, 'who was ordered this morning is held, who was ordered 8 days ago goes'],
    ],
  ]),
  ...around('answers about another request', [
    ['request get shows nothing of it', [mixed, 'request get exits 7 and shows nothing of it']],
    [
      'report download and sync file nothing under a wrong name',
      [
        mixed,
        'report download and report sync file nothing under a wrong name, and fetch the right one later',
      ],
    ],
    ['a report URL of another check', [mixed, 'of another check is not filed under this person']],
    [
      'one request id for two orders',
      [mixed, 'one request id for two orders is no two orders'],
      [mixed, 'the second person is not told as ordered'],
    ],
  ]),
  ...around('another organisation midway', [
    [
      'refused before anything is sent',
      [answers, 'a key that cannot read the batch’s accepted requests is refused before anything is sent'],
    ],
    ['a starter who has left', [answers, 'a starter who has left does not strand the batch']],
  ]),
  ...around('small things', [
    [
      'a rerun’s results keep earlier ids',
      [
        'commands/batch-results.test.ts',
        'results of a file that was fixed and run again keep the request ids of before',
      ],
    ],
    ['a damaged fingerprint', [shown, 'is found by store check, and orders nobody again']],
    ['SQLITE_BUSY while recording', ['usecases/request/busy.test.ts', 'a store that is busy for 90 s']],
    [
      'an unsolicited 100 Continue',
      ['http/interim.test.ts', 'an unsolicited 100 Continue %s does not end an exchange'],
    ],
    [
      '--dry-run tells of a duplicate',
      [shown, 'request create --dry-run tells of a duplicate and of somebody similar'],
    ],
    [
      'a 401, 403 or 429 of a firewall',
      ['domain/submission/outcome.test.ts', 'of a firewall’s own page is no word of the service: unknown'],
    ],
    ['wal_checkpoint’s result', [purge, 'while another process reads, older pages stay: exit 10']],
    ['file names of batches', [purge, 'the name of a file that names the person goes']],
    [
      'a sync, an event or a re-read brings nobody back',
      [purge, 'a sync brings no report of a purged person'],
      [purge, 'a re-read of a purged person’s request, and an event of it again, bring nothing back'],
    ],
    ['help names what a purge does not reach', [purge, 'help names what a purge does not reach']],
  ]),
]
