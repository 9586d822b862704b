import { appendFileSync } from 'node:fs'

import { afterAll, afterEach } from 'vitest'

import { variable } from '../../../src/host/process.ts'
import type { FaultId } from '../../resilience/rows.ts'

/** What the tests of one file came to, for one row of the table. */
export interface Recorded {
  row: FaultId
  cases: number
  held: number
  figure: string
  /** Why none of it could be tried here. */
  notTried?: string | undefined
}

export interface FaultRow {
  /** The running test counts as so many cases, not as one; so many of them passed, all by default. */
  cases(count: number, held?: number): void
  /** What the figure is, where it is more than a count of what fell short. */
  note(figure: string): void
  /** The means is not at hand (root, strace, a second processor): nothing held, and nothing fell short. */
  notTried(why: string): void
}

interface Options {
  /** Tests of this file that show it, by their names; all by default. */
  of?: RegExp
}

/**
 * States at the top of a test file which row of test/resilience/rows.ts its tests show. `short`: what there are none of
 * where the row holds, such as "sent again". `npm run resilience` reads what is recorded here.
 */
export function faultRow(row: FaultId, short: string, { of = /(?:)/ }: Options = {}): FaultRow {
  const total = { cases: 0, held: 0 }
  const notes: string[] = []
  let counted: { count: number; held: number } | undefined
  let why: string | undefined
  let isTried = true
  afterEach(({ task }) => {
    const { count, held } = counted ?? { count: 1, held: 1 }
    const wasTried = isTried
    counted = undefined
    isTried = true
    if (!of.test(task.name) || !wasTried) return
    total.cases += count
    total.held += task.result?.state === 'fail' ? Math.min(held, count - 1) : held
  })
  afterAll(() => {
    const { cases, held } = total
    const figure = [`${cases - held} of ${cases} ${short}`, ...notes].join('; ')
    const recorded: Recorded = { row, cases, held, figure, notTried: why }
    const file = variable(process.env, 'REFCHECK_RESILIENCE')
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(recorded)}\n`)
  })
  return {
    cases: (count, held = count) => {
      counted = { count, held }
    },
    note: (figure) => void notes.push(figure),
    notTried: (reason) => {
      why = reason
      isTried = false
    },
  }
}
