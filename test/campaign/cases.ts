import { rollbackCases } from './cases-age.ts'
import { orderCases } from './cases-order.ts'
import { settlingCases } from './cases-settling.ts'
import { twiceCases } from './cases-twice.ts'
import type { Stage } from './stage.ts'

/** A sentence of src/docs/ordering.md, played by the built program. Throws where the program says something else. */
export interface Case {
  section: string
  what: string
  /** It is about the file that a store is. */
  isSqliteOnly?: boolean
  play: (stage: Stage) => Promise<void>
}

export const cases: readonly Case[] = [...orderCases, ...twiceCases, ...rollbackCases, ...settlingCases]
