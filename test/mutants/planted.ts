/** Bugs that were planted by hand once and that no test noticed, and others of their size. */
export interface Plant {
  what: string
  path: string
  /** What stands there, and what is planted in its place. */
  edits: readonly (readonly [from: string, to: string])[]
  /** Tests that may notice it. */
  tests: readonly string[]
}

const sqlite = 'src/store/ledger/sqlite'

export const plants: readonly Plant[] = [
  {
    what: 'rows of a file are compared before the transaction that adds them',
    path: `${sqlite}/batches.ts`,
    edits: [
      [
        'const there = this.#database.transaction(() => {',
        'const before = [...this.#compared(batch, rows)]\n    const there = this.#database.transaction(() => {',
      ],
      ['for (const compared of this.#compared(batch, rows)) {', 'for (const compared of before) {'],
    ],
    tests: ['test/store/ledger/sqlite/one-step.test.ts'],
  },
  {
    what: 'reconcile’s fit knows no end of the time',
    path: 'src/domain/batch/fit.ts',
    edits: [[' && createdAt <= endedAt + ahead + skewMs', '']],
    tests: ['test/domain/batch/fit.test.ts'],
  },
  {
    what: 'a row is not compared again in the transaction that takes it to sending',
    path: `${sqlite}/ledger.ts`,
    edits: [
      [
        'const stop = compared && this.#matching.stopOf(compared)',
        'const stop = undefined as Stop | undefined',
      ],
    ],
    tests: ['test/store/ledger', 'test/mutants/storms.test.ts'],
  },
  {
    what: 'attempts are not listed outside the store',
    path: `${sqlite}/listing.ts`,
    edits: [['this.#lists.append(own, listLine(attempt, digest))', 'void own']],
    tests: ['test/mutants/storms.test.ts', 'test/commands/store-forgotten.test.ts'],
  },
  {
    what: 'a row in flight whose process is gone is sent again',
    path: 'src/domain/submission/recovery.ts',
    edits: [["return { to: 'unknown', at,", "return { to: 'pending', at,"]],
    tests: ['test/domain/submission/recovery.test.ts'],
  },
  {
    what: 'a release covers every order that is similar, shown or not',
    path: 'src/domain/submission/release.ts',
    edits: [["release.kind !== 'rows' ||", "release.kind === 'rows' ||"]],
    tests: ['test/domain/submission/release.test.ts', 'test/usecases/batch/steering.test.ts'],
  },
]
