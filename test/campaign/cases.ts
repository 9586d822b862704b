import { rollbackCases } from './cases-rollback.ts'
import { orderCases } from './cases-order.ts'
import { unknownCases } from './cases-unknown.ts'
import { conflictCases } from './cases-conflict.ts'
import type { CampaignEnvironment } from './environment.ts'

/**
 * A rule of src/docs/ordering.md (`section`) that is checked with the built program. `run` throws if the
 * program breaks it.
 */
export interface Case {
  section: string
  title: string
  /** The case works on the files of an SQLite store, so it is not run with PostgreSQL. */
  isSqliteOnly?: boolean
  run: (environment: CampaignEnvironment) => Promise<void>
}

export const cases: readonly Case[] = [...orderCases, ...conflictCases, ...rollbackCases, ...unknownCases]
