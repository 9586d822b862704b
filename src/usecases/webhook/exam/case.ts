import type { Sitting } from './sitting.ts'

export interface ExamCase {
  id: string
  /** What is tried, for people. */
  title: string
  /** The sentence of the document it follows from. */
  rule: string
  run(sitting: Sitting): Promise<void>
}
