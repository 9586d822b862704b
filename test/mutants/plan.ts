import type { Backend } from './targets.ts'

/** What a worker is to do with which mutants. */
export interface Plan {
  /** Tests of it are run, and none of the other. */
  store: Backend
  sources: { path: string; text: string }[]
  /** Where it writes what came of it, a line each. */
  results: string
  /** Where it says what it is at, so that one that hangs is noticed. */
  heartbeat: string
  /** Mutants that nothing has killed yet. */
  alive: number[]
  /** Which of them to try with which test, by its name; undefined: whatever it comes across. */
  chosen: Record<string, number[]> | undefined
  /** Only tell what each test comes across. */
  looksOnly: boolean
}

/** A line of the results. */
export type Told =
  /** A test passes on the program as it is, and came across these. */
  | { test: string; ms: number; touched: number[]; atLoad: number[] }
  /** `ends`: and the worker with it, since the test timed out. */
  | { test: string; killed: number; ends?: boolean }
  | { test: string; survived: number }
  /** It fails on the program as it is. */
  | { test: string; broken: string }
