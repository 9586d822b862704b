import type { CaseRun } from './case-run.ts'

export interface ExamCase {
  id: string
  /** What is tried, for people. */
  title: string
  /** The sentence of the document it follows from. */
  rule: string
  run(sitting: CaseRun): Promise<void>
}
