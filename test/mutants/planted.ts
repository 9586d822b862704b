/** Bugs that were planted by hand once and that no test noticed, and others of their size. */
export interface Plant {
  what: string
  path: string
  /** What stands there, and what is planted in its place. */
  edits: readonly (readonly [from: string, to: string])[]
  /** Tests that may notice it. */
  tests: readonly string[]
}

const ledger = 'src/store/ledger'

export const plants: readonly Plant[] = [
  {
    what: 'rows of a file are compared before the transaction that adds them',
    path: 'src/store/ledger/batches.ts',
    edits: [
      [
        'const list = [...rows]\n    const lock',
        'const list = [...rows]\n    const before = [...(await this.#engine.snapshot(() => this.#compare(batch, list)))]\n    const lock',
      ],
      ['this.#add(batch, list)', 'this.#add(batch, list, before)'],
      [
        '*#add(batch: NewFileBatch, rows: readonly NewRow[])',
        '*#add(batch: NewFileBatch, rows: readonly NewRow[], before: ComparedRow[])',
      ],
      [
        'const compared = yield* this.#compare(batch, rows)\n    let page',
        'const compared = before\n    let page',
      ],
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
    path: 'src/store/ledger/claim.ts',
    edits: [['const stop = firstToTell(stops)', 'const stop = firstToTell(stops.slice(stops.length))']],
    tests: ['test/store/ledger', 'test/mutants/storms.test.ts'],
  },
  {
    what: 'attempts are not recorded outside the store',
    path: `${ledger}/rollback-detection.ts`,
    edits: [
      [
        "log.append({ kind: 'entry', generation: this.#begun?.generation ?? '', ...attempt })",
        'void attempt',
      ],
    ],
    tests: ['test/mutants/storms.test.ts', 'test/commands/store-forgotten.test.ts'],
  },
  {
    what: 'the attempt log is not flushed',
    path: `${ledger}/rollback-detection.ts`,
    edits: [['await log.flush()\n  }\n\n  /** Not flushed', '}\n\n  /** Not flushed']],
    tests: ['test/store/ledger/sqlite/recording.test.ts'],
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
