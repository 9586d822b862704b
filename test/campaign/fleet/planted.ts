import type { Plan } from './fleet.ts'
import type { Edit } from './mutated.ts'

const ledger = 'src/store/ledger'
const postgres = `${ledger}/postgres`
const calm: Plan = {
  rows: 120,
  files: 3,
  kills: 0,
  pauses: 0,
  cuts: 0,
  restarts: 0,
  failovers: 0,
  losing: 0,
  quota: [{ calls: 10_000, seconds: 60 }],
  answerDelayMs: 100,
}
/** What a campaign goes through, so that it meets what a rule is there for. */
export const plans = {
  'a standby that lacks the last commits takes over': {
    ...calm,
    files: 1,
    rows: 44,
    losing: 1,
    failsOverAtRest: true,
    quota: [{ calls: 40, seconds: 12 }],
    answerDelayMs: 10,
  },
  'runners are killed': { ...calm, kills: 12 },
  'runners stand still past their lease': { ...calm, files: 6, pauses: 6 },
  // A row that had to wait for the quota is claimed by itself, and another machine can take one that was released.
  'the network is lost at the COMMIT of a claim': {
    ...calm,
    files: 1,
    rows: 60,
    cuts: 20,
    cutsClaims: true,
    quota: [{ calls: 4, seconds: 1 }],
  },
  'all files hold the same people': { ...calm, rows: 45, shared: 1, isLockstep: true, commitDelayMs: 500 },
  'the quota is used up': {
    ...calm,
    rows: 90,
    quota: [{ calls: 60, seconds: 30 }],
    isQuotaClientOnly: true,
    answerDelayMs: 0,
  },
} satisfies Record<string, Plan>
export const receiving = 'two receivers are killed'

const resent: Edit = {
  path: 'src/domain/submission/states.ts',
  from: "return { to: 'unknown', at,",
  to: "return { to: 'pending', at,",
}
const unlocked: Edit = {
  path: `${postgres}/dialect.ts`,
  from: "pg_advisory_xact_lock(${lockKey('account', 'account')})",
  to: "CAST(${lockKey('account', 'account')} AS text)",
}
/** The fleet's rules, broken one at a time. */
export const mutants: readonly {
  what: string
  edits: readonly Edit[]
  plan: keyof typeof plans | typeof receiving
}[] = [
  {
    what: 'a claim does not compare the epoch of its server',
    edits: [
      {
        path: `${ledger}/claim.ts`,
        from: "isSameEpoch: textOf(fence.epoch) === (fence.epochNow ?? '')",
        to: 'isSameEpoch: true',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    what: 'attempts are not recorded on the machine',
    edits: [
      {
        path: `${ledger}/rollback-detection.ts`,
        from: "log.append({ kind: 'entry', ...attempt })",
        to: 'void attempt',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    what: 'a new server is accepted before all machines have reported',
    edits: [
      {
        path: 'src/domain/store/closing.ts',
        from: "if (unreportedLogs(closing, logs).length > 0) return 'reports'",
        to: '',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    what: 'a row in flight whose runner is gone is sent again',
    edits: [resent],
    plan: 'runners are killed',
  },
  {
    what: 'an order leaves though its attempt was not committed',
    edits: [
      {
        path: `${postgres}/connection.ts`,
        from: 'isCommitted ? this.#commit(client, queriesOf(asked))',
        to: `isCommitted ? (Math.random() < 0.9 ? this.#commit(client, queriesOf(asked))
          : this.#sendAll(client, queriesOf(asked)).then((answer) => this.#rollBack(client).then(() => answer)))`,
      },
    ],
    plan: 'runners are killed',
  },
  {
    what: 'a row whose lease is over is sent again, though its runner is there',
    edits: [
      resent,
      {
        path: `${postgres}/leases.ts`,
        from: 'AND (r.leased_until >= ${databaseNow} OR ${runnerIsThere})',
        to: 'AND r.leased_until >= ${databaseNow}',
      },
    ],
    plan: 'runners stand still past their lease',
  },
  {
    what: 'a claim whose COMMIT has no answer is sent',
    edits: [
      {
        path: `${ledger}/ledger.ts`,
        from: 'return yield* claims.claim(from, attempt, required, options)',
        to: 'return (claim = yield* claims.claim(from, attempt, required, options))',
      },
      {
        path: `${ledger}/ledger.ts`,
        from: 'await this.#takeBack(asked, attempt.at, unanswered)\n        return { waitMs: 0,',
        to: 'if (claim?.recorded !== undefined) return this.#recorded(claim)\n        return { waitMs: 0,',
      },
    ],
    plan: 'the network is lost at the COMMIT of a claim',
  },
  {
    // No one is ordered twice by that alone: a row is there, `pending` and visible to all, before it is claimed, so of two
    // claims at least the later one sees the other's row. Both may, and then neither goes out.
    what: 'nobody locks the account',
    edits: [unlocked],
    plan: 'all files hold the same people',
  },
  {
    what: 'nobody locks the account, a pending row is nobody’s match, and two of a person may be in flight',
    edits: [
      unlocked,
      { path: 'src/domain/submission/conflicts.ts', from: "  'pending',\n] as const", to: '] as const' },
      {
        path: `${ledger}/schema.ts`,
        from: 'CREATE UNIQUE INDEX submissions_sending',
        to: 'CREATE INDEX submissions_sending',
      },
    ],
    plan: 'all files hold the same people',
  },
  {
    what: 'the quota goes by the clocks of the machines',
    edits: [{ path: `${ledger}/quota.ts`, from: ', stored?.now)', to: ')' }],
    plan: 'the quota is used up',
  },
  {
    what: 'an event is acknowledged before it is kept',
    edits: [
      {
        path: 'src/usecases/webhook/listen.ts',
        from: 'waiting.push({ event, resolve, reject })',
        to: 'waiting.push({ event, resolve, reject })\n      resolve({ ...event, id: 0, repeated: false })',
      },
    ],
    plan: receiving,
  },
  {
    what: 'an event is forwarded though an earlier one of its request waits',
    edits: [
      {
        path: `${ledger}/inbox.ts`,
        from: 'AND p.id < e.id',
        to: 'AND p.id < 0',
      },
    ],
    plan: receiving,
  },
  {
    what: 'every receiver forwards',
    edits: [
      {
        path: `${ledger}/inbox.ts`,
        from: "return this.holds.acquire({ id: 'forwarding', kind: 'file' }, shortWait)",
        to: 'void shortWait\n    return Promise.resolve({ release: () => Promise.resolve() })',
      },
    ],
    plan: receiving,
  },
  {
    what: 'adds of events take no turns',
    edits: [
      {
        path: `${postgres}/dialect.ts`,
        from: "kind: 'run', sql: lockEvents",
        to: "kind: 'run', sql: 'SELECT 1'",
      },
    ],
    plan: receiving,
  },
]
