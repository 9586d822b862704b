import type { Plan } from './fleet.ts'
import type { Edit } from './mutated.ts'

const ledger = 'src/store/ledger'
const postgres = `${ledger}/postgres`
const noFaults: Plan = {
  rows: 120,
  files: 3,
  kills: 0,
  pauses: 0,
  cuts: 0,
  restarts: 0,
  failovers: 0,
  lossyFailovers: 0,
  quota: [{ calls: 10_000, seconds: 60 }],
  answerDelayMs: 100,
}
/** Plans by name. Each plan injects the faults against which some of the rules protect. */
export const plans = {
  'a standby that lacks the last commits takes over': {
    ...noFaults,
    files: 1,
    rows: 44,
    lossyFailovers: 1,
    failsOverAtRest: true,
    quota: [{ calls: 40, seconds: 12 }],
    answerDelayMs: 10,
  },
  'runners are killed': { ...noFaults, kills: 12 },
  'runners are stopped for longer than their lease': { ...noFaults, files: 6, pauses: 6 },
  // With this small quota, each row is claimed in a transaction that claims nothing else, and another machine can
  // claim a row that was released.
  'the network is lost at the COMMIT of a claim': {
    ...noFaults,
    files: 1,
    rows: 60,
    cuts: 20,
    cutsClaims: true,
    quota: [{ calls: 4, seconds: 1 }],
  },
  'all files hold the same people': {
    ...noFaults,
    rows: 45,
    sharedFraction: 1,
    isLockstep: true,
    commitDelayMs: 500,
  },
  'the quota is used up': {
    ...noFaults,
    rows: 90,
    quota: [{ calls: 60, seconds: 30 }],
    isQuotaClientOnly: true,
    answerDelayMs: 0,
  },
} satisfies Record<string, Plan>
export const receiverPlan = 'two receivers are killed'

const resendUnknown: Edit = {
  path: 'src/domain/submission/states.ts',
  from: "return { to: 'unknown', at,",
  to: "return { to: 'pending', at,",
}
const removeAccountLock: Edit = {
  path: `${postgres}/dialect.ts`,
  from: "pg_advisory_xact_lock(${lockKey('account', 'account')})",
  to: "CAST(${lockKey('account', 'account')} AS text)",
}
/** The mutants: edits of the program, each of which breaks one rule. */
export const mutants: readonly {
  title: string
  edits: readonly Edit[]
  plan: keyof typeof plans | typeof receiverPlan
}[] = [
  {
    title: 'a claim does not compare the epoch of its server',
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
    title: 'attempts are not recorded on the machine',
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
    title: 'a new server is accepted before all machines have reported',
    edits: [
      {
        path: 'src/domain/store/closing.ts',
        from: "if (findUnreportedLogs(closing, logs).length > 0) return 'reports'",
        to: '',
      },
    ],
    plan: 'a standby that lacks the last commits takes over',
  },
  {
    title: 'a row in flight whose runner has ended is sent again',
    edits: [resendUnknown],
    plan: 'runners are killed',
  },
  {
    title: 'an order is sent though its attempt was not committed',
    edits: [
      {
        path: `${postgres}/connection.ts`,
        from: 'isCommitted ? this.#commit(client, queries)',
        to: `isCommitted ? (Math.random() < 0.9 ? this.#commit(client, queries)
          : this.#sendAll(client, queries).then((answer) => this.#rollBack(client).then(() => answer)))`,
      },
    ],
    plan: 'runners are killed',
  },
  {
    title: 'a row whose lease is over is sent again, though its runner still runs',
    edits: [
      resendUnknown,
      {
        path: `${postgres}/leases.ts`,
        from: 'AND (r.leased_until >= ${databaseNow} OR ${isRunnerConnected})',
        to: 'AND r.leased_until >= ${databaseNow}',
      },
    ],
    plan: 'runners are stopped for longer than their lease',
  },
  {
    title: 'a claim whose COMMIT has no answer is sent',
    edits: [
      {
        path: `${ledger}/ledger.ts`,
        from: '() => claims.claim(request), {',
        to: 'function* () { return (claim = yield* claims.claim(request)) }, {',
      },
      {
        path: `${ledger}/ledger.ts`,
        from: 'await this.#returnToPending(request.claimed, attempt.at, unansweredReason)\n        return { waitMs: 0,',
        to: 'if (claim?.recorded !== undefined) return this.#recordInLog(claim)\n        return { waitMs: 0,',
      },
    ],
    plan: 'the network is lost at the COMMIT of a claim',
  },
  {
    // This edit alone causes no second order: each row is stored as `pending`, and visible to all machines, before it is
    // claimed. So of two claims, at least the later one sees the other's row. If both do, neither row is sent.
    title: 'the account is not locked',
    edits: [removeAccountLock],
    plan: 'all files hold the same people',
  },
  {
    title:
      'the account is not locked, a pending row conflicts with no other, and two rows of a person may be in flight',
    edits: [
      removeAccountLock,
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
    title: 'the quota is computed with the clocks of the machines',
    edits: [{ path: `${ledger}/quota.ts`, from: ', stored?.now)', to: ')' }],
    plan: 'the quota is used up',
  },
  {
    title: 'an event is acknowledged before it is stored',
    edits: [
      {
        path: 'src/usecases/webhook/listen.ts',
        from: 'waitingEvents.push({ event, resolve, reject })',
        to: 'waitingEvents.push({ event, resolve, reject })\n      resolve({ ...event, id: 0, repeated: false })',
      },
    ],
    plan: receiverPlan,
  },
  {
    title: 'an event is forwarded though an earlier one of its request waits',
    edits: [
      {
        path: `${ledger}/inbox.ts`,
        from: 'AND p.id < e.id',
        to: 'AND p.id < 0',
      },
    ],
    plan: receiverPlan,
  },
  {
    title: 'two receivers forward events at the same time',
    edits: [
      {
        path: `${ledger}/inbox.ts`,
        from: "return this.leases.acquire({ id: 'forwarding', kind: 'file' }, shortWait)",
        to: 'void shortWait\n    return Promise.resolve({ release: () => Promise.resolve() })',
      },
    ],
    plan: receiverPlan,
  },
  {
    title: 'two receivers can add events at the same time',
    edits: [
      {
        path: `${postgres}/dialect.ts`,
        from: "kind: 'run', sql: lockEvents",
        to: "kind: 'run', sql: 'SELECT 1'",
      },
    ],
    plan: receiverPlan,
  },
]
