import { appendFileSync } from 'node:fs'

import { afterAll, afterEach } from 'vitest'

import { variable } from '../../../src/host/process.ts'
import type { FaultId } from '../../resilience/rows.ts'

/** The results of one test file for one row of the fault table (test/resilience/rows.ts). */
export interface RecordedRow {
  row: FaultId
  cases: number
  passedCount: number
  figure: string
  /** Why the cases could not be run on this machine. */
  notTried?: string | undefined
}

export interface FaultRow {
  /** Counts the running test as `count` cases, of which `passed` passed; all by default. */
  countCases(count: number, passed?: number): void
  /** Adds a text to the figure, which is otherwise only the number of failed cases. */
  addNote(figure: string): void
  /**
   * Records that the test cannot run here (it needs root, strace or a second processor): it counts neither as
   * passed nor as failed.
   */
  markNotTried(reason: string): void
}

interface Options {
  /** What must not happen, in the words of the figure in the table, such as "sent again". */
  mustNotHappen: string
  /** Matches the titles of the tests of this file that belong to the row; all by default. */
  titles?: RegExp
}

/**
 * Called at the top of a test file: its tests belong to this row of test/resilience/rows.ts. `npm run resilience`
 * reads the recorded results.
 */
export function recordForFaultTable(row: FaultId, { mustNotHappen, titles = /(?:)/ }: Options): FaultRow {
  const total = { cases: 0, passed: 0 }
  const notes: string[] = []
  let counted: { count: number; passed: number } | undefined
  let notTriedReason: string | undefined
  let wasAttempted = true
  afterEach(({ task }) => {
    const { count, passed } = counted ?? { count: 1, passed: 1 }
    const wasTried = wasAttempted
    counted = undefined
    wasAttempted = true
    if (!titles.test(task.name) || !wasTried) return
    total.cases += count
    total.passed += task.result?.state === 'fail' ? Math.min(passed, count - 1) : passed
  })
  afterAll(() => {
    const { cases, passed: passedCount } = total
    const figure = [`${cases - passedCount} of ${cases} ${mustNotHappen}`, ...notes].join('; ')
    const recorded: RecordedRow = { row, cases, passedCount, figure, notTried: notTriedReason }
    const file = variable(process.env, 'REFCHECK_RESILIENCE')
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(recorded)}\n`)
  })
  return {
    countCases: (count, passed = count) => {
      counted = { count, passed }
    },
    addNote: (figure) => void notes.push(figure),
    markNotTried: (reason) => {
      notTriedReason = reason
      wasAttempted = false
    },
  }
}
