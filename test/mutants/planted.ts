import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Edit } from '../campaign/fleet/mutated.ts'
import type { ChangedSource } from './load.ts'

export const root = join(import.meta.dirname, '..', '..')

/** A bug that no test detected when it was planted by hand, or a similar one. */
export interface PlantedBug {
  /** What the bug changes in the program. */
  title: string
  edits: readonly Edit[]
  /** Parts of the paths of the tests that have to detect it. */
  tests: readonly string[]
}

const ledger = 'src/store/ledger'

/** Edits of one file: each replaces the text `from` by `to`. */
const editsOf = (path: string, ...edits: readonly (readonly [from: string, to: string])[]): Edit[] =>
  edits.map(([from, to]) => ({ path, from, to }))

/**
 * Rows are compared outside the transaction that adds them, so that another process may add the same person meanwhile.
 */
const compareBeforeTransaction = editsOf(
  `${ledger}/batches.ts`,
  [
    'return this.#toBatch(await this.addOnce(',
    'const before: ComparedRow[][] = []\n    await this.engine.snapshot(() => this.#compare(batch, rows, (page) => { before.push(page); return undefined }))\n    return this.#toBatch(await this.addOnce(',
  ],
  ['this.#addBatch(batch, rows)', 'this.#addBatch(batch, before)'],
  [
    '*#addBatch(batch: NewFileBatch, rows: RowList)',
    '*#addBatch(batch: NewFileBatch, before: ComparedRow[][])',
  ],
  [
    'yield* this.#compare(batch, rows, (page) =>\n      insertRows(',
    'for (const page of before)\n      yield* insertRows(',
  ],
  ['fingerprint)),\n      ),\n    )\n', 'fingerprint)),\n      )\n'],
)

export const plantedBugs: readonly PlantedBug[] = [
  {
    title: 'rows of a file are compared before the transaction that adds them',
    edits: compareBeforeTransaction,
    tests: [`test/store/ledger/sqlite/one-step.test.ts`],
  },
  {
    title: 'rows of a file are compared before the transaction that adds them, PostgreSQL',
    edits: compareBeforeTransaction,
    tests: ['test/store/ledger/postgres/one-step.test.ts'],
  },
  {
    title: 'a single order is compared before the transaction that adds it, PostgreSQL',
    edits: editsOf(
      `${ledger}/ledger.ts`,
      ['return this.addOnce(', 'const before = await this.look(batch, guard)\n    return this.addOnce('],
      ['this.#addUnlessConflict(batch, guard)', 'this.#addUnlessConflict(batch, guard, before)'],
      [
        '*#addUnlessConflict(batch: NewBatch, guard: AddGuard)',
        '*#addUnlessConflict(batch: NewBatch, guard: AddGuard, conflict?: Conflict)',
      ],
      ['const conflict = yield* findConflictOfNew(matching, batch, guard)', ''],
    ),
    tests: ['test/store/ledger/postgres/one-step.test.ts'],
  },
  {
    title: 'a row is compared before the transaction that takes it to sending, PostgreSQL',
    edits: [
      ...editsOf(`${ledger}/ledger.ts`, [
        'await this.rollbacks.ensureCompared()\n    const claims = this.#claims',
        'await this.rollbacks.ensureCompared()\n    const claims = this.#claims\n    claims.before = await this.engine.transaction(() => claims.compare(from))',
      ]),
      ...editsOf(
        `${ledger}/claim.ts`,
        [
          '  *insertAttempt(',
          '  *compare(from: RowVersion) {\n    const matching = new Matching(this.key)\n    return yield* matching.findConflictsOrDamage(yield* matching.lockRow(from))\n  }\n\n  before: never | undefined\n\n  *insertAttempt(',
        ],
        [
          'yield* matching.findConflictsOrDamage(stored)\n    if',
          'this.before ?? (yield* matching.findConflictsOrDamage(stored))\n    if',
        ],
      ),
    ],
    tests: ['test/store/ledger/postgres/one-step.test.ts'],
  },
  {
    title: 'the lease of a runner is compared with the clock of the machine, PostgreSQL',
    edits: [
      ...editsOf(`${ledger}/ledger.ts`, [
        'this.leases.abandoned(this.engine)',
        'this.leases.abandoned(this.engine, at)',
      ]),
      ...editsOf(
        `${ledger}/postgres/leases.ts`,
        ['abandoned(engine: Engine)', 'abandoned(engine: Engine, at = 0)'],
        ['(selectAbandoned))', '(selectAbandoned.replaceAll(databaseNow, String(at))))'],
        ['lock: lockAbandoned }', 'lock: lockAbandoned.replaceAll(databaseNow, String(at)) }'],
      ),
    ],
    tests: ['test/store/ledger/postgres/sharing.test.ts'],
  },
  {
    title: 'a store without the key of its fingerprints is given a new one',
    edits: editsOf(
      `${ledger}/fingerprints.ts`,
      [
        'const bytes = yield* metaBytes(fingerprintKeyName)',
        'const bytes = (yield* metaBytes(fingerprintKeyName)) ?? crypto().randomBytes(fingerprintKeyBytes)\n    yield* setMeta(fingerprintKeyName, bytes)',
      ],
      ['import { metaBytes,', 'import { setMeta, metaBytes,'],
    ),
    tests: ['test/store/ledger/damaged.test.ts'],
  },
  {
    title: 'reconciliation ignores the end of the time in which a request can fit',
    edits: editsOf('src/domain/batch/reconciliation.ts', [
      ' && createdAt <= endedAt + aheadMs + clockSkewMs',
      '',
    ]),
    tests: ['test/domain/batch/reconciliation.test.ts'],
  },
  {
    title: 'a row is not compared again in the transaction that takes it to sending',
    edits: editsOf(`${ledger}/claim.ts`, [
      'const conflict = highestPrecedence(conflicts)',
      'const conflict = highestPrecedence(conflicts.slice(conflicts.length))',
    ]),
    tests: ['test/store/ledger', 'test/mutants/random-faults.test.ts'],
  },
  {
    title: 'attempts are not recorded outside the store',
    edits: editsOf(`${ledger}/rollback-detection.ts`, [
      "log.append({ kind: 'entry', ...attempt })",
      'void attempt',
    ]),
    tests: ['test/mutants/random-faults.test.ts', 'test/commands/store-rollback.test.ts'],
  },
  {
    title: 'the attempt log is not flushed',
    edits: editsOf(`${ledger}/rollback-detection.ts`, [
      'await log.flush()\n  }\n\n  /**\n   * Appends an outcome',
      '}\n\n  /**\n   * Appends an outcome',
    ]),
    tests: ['test/store/ledger/sqlite/recording.test.ts'],
  },
  {
    title: 'a row in flight whose process is gone is sent again',
    edits: editsOf('src/domain/submission/states.ts', [
      "return { to: 'unknown', at,",
      "return { to: 'pending', at,",
    ]),
    tests: ['test/domain/submission/recovery.test.ts'],
  },
  {
    title: 'a release covers every order that is similar, shown or not',
    edits: editsOf('src/domain/submission/conflicts.ts', [
      "release.kind !== 'rows' ||",
      "release.kind === 'rows' ||",
    ]),
    tests: ['test/domain/submission/release.test.ts', 'test/usecases/batch/steering.test.ts'],
  },
]

/** Returns the changed sources of a bug. Throws if a source does not contain the text to replace any more. */
export function applyEdits({ edits }: Pick<PlantedBug, 'edits'>): ChangedSource[] {
  const texts = new Map<string, string>()
  for (const { path, from, to } of edits) {
    const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8')
    if (!text.includes(from)) throw new Error(`${path} no longer contains "${from}"`)
    texts.set(
      path,
      text.replace(from, () => to),
    )
  }
  return [...texts].map(([path, text]) => ({ path: join(root, path), text }))
}
