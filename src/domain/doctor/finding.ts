import { RefcheckError } from '../../errors/base.ts'

/** What a look at one thing came to: as it should be, to be looked after, or in the way. */
export type Level = 'ok' | 'warn' | 'fail'

export interface Finding {
  check: string
  level: Level
  message: string
  /** What to do; null where there is nothing. */
  hint: string | null
}

/** The result of a check; default `ok`. */
export interface Remark {
  level?: Exclude<Level, 'fail'>
  message: string
  hint?: string | undefined
}

export interface MachineReport {
  findings: Finding[]
  /** The first failure, whose code the whole ends with. */
  failure: RefcheckError | undefined
}
