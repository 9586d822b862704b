import { globSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** Ordering, matching, age, settling and the runner: what decides whether somebody is ordered twice. */
const patterns = [
  'src/domain/submission/{attempt,backoff,change,identity,joined-packages,likeness,match,outcome,recovery,release,service-relation,settlement,states,witness}.ts',
  'src/domain/batch/{compare,duplicates,moving,new-row,reconciliation,run-policy,second-orders,verdict,who-orders}.ts',
  'src/domain/store/{attempt-log,closing,rollback}.ts',
  // What others send, what they may ask of us, and what is shown and filed of it.
  'src/contract/{date-format,envelope,event,issue-words,loopback,mask-url,package,package-schema,request,request-body,request-json-schema,retry-after,signature,statuses,user}.ts',
  'src/domain/agent/mask.ts',
  'src/domain/quota/*.ts',
  'src/domain/report/*.ts',
  'src/domain/webhook/verify.ts',
  'src/{domain/wording/redact-argument,host/environment-secrets,host/secrets,http/flight,http/limits}.ts',
  'src/store/reports/*.ts',
  'src/usecases/request/{attempt,create,prove,settle}.ts',
  'src/usecases/batch/{cancel,carry-out,decide,move,reconcile,record-answer,release,retry,run,same-organisation,schema-watch,second-orders,settle,standing,until-well}.ts',
  'src/store/ledger/{batches,claim,examine-store,held-rows,ledger,matching,new-rows,quota}.ts',
  'src/store/ledger/{attempt-log,rollback-detection,store-logs,store-state}.ts',
  'src/store/ledger/sqlite/holds.ts',
]

/** What keeps the ledger: the mutants are of one, and tests of the other have nothing to say of them. */
export type Backend = 'SQLite' | 'PostgreSQL'

const ofPostgres = ['src/store/ledger/postgres/{engine,holds}.ts']

/** Modules whose constants are made of a target's, and are made anew with them. */
const derived = ['src/store/ledger/{purge,maintenance}.ts']
const derivedOfPostgres = ['src/store/ledger/{purge,maintenance}.ts']

/** Tests by how soon they tell: the rules first, then use cases and the store without a command line around them. */
const tests = [
  [
    'test/domain/{submission,batch,store,quota,report}/*.test.ts',
    'test/domain/webhook/{verify,diagnose,mutations}.test.ts',
    'test/contract/{date-format,issue-words,loopback,mask-url,package-schema,request-json-schema,retry-after,signature,statuses}.test.ts',
    'test/domain/agent/mask.test.ts',
    'test/{api/answers,domain/wording/redact-argument,host/environment-secrets,host/secrets,http/exchange-report,http/giving-up,http/limits}.test.ts',
    'test/store/reports/*.test.ts',
  ],
  [
    'test/store/ledger/*.test.ts',
    'test/store/ledger/sqlite/*.test.ts',
    'test/usecases/batch/*.test.ts',
    'test/usecases/request/{asked,busy,create,interrupt,unknown}.test.ts',
  ],
  [
    'test/commands/{batch,nobody,report,request-create,request-refused,store,quota}*.test.ts',
    'test/commands/{later-witnesses,mixed-answers,other-witnesses,replaced-package,similar-shown}.test.ts',
    'test/acceptance/ordering/command.test.ts',
    'test/mutants/*.test.ts',
  ],
] as const

const testsOfPostgres = [
  [],
  ['test/store/ledger/*.test.ts', 'test/store/ledger/postgres/*.test.ts'],
  ['test/commands/postgres/*.test.ts', 'test/commands/nobody-twice.test.ts'],
] as const

/** Paths from the root, in one order. */
export const targets = (store: Backend): string[] => found(store === 'SQLite' ? patterns : ofPostgres)
export const derivedModules = (store: Backend): string[] =>
  found(store === 'SQLite' ? derived : derivedOfPostgres)
export const testStages = (store: Backend): string[][] =>
  (store === 'SQLite' ? tests : testsOfPostgres).map((stage) => found(stage))

function found(globs: readonly string[]): string[] {
  return globs.flatMap((glob) => globSync(glob, { cwd: root })).sort()
}
