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

/** What a check saw; `ok` unless told. */
export interface Remark {
  level?: Exclude<Level, 'fail'>
  message: string
  hint?: string | undefined
}

export interface Check {
  name: string
  /** Not looked at where one of these failed. */
  after?: readonly string[]
  /** Undefined where there is nothing to say. A RefcheckError that it throws is a failure. */
  look: () => Promise<Remark | undefined>
}

export interface Examination {
  findings: Finding[]
  /** The first failure, whose code the whole ends with. */
  failure: RefcheckError | undefined
}

/** Makes each check in turn, whatever the others came to. Only what is no RefcheckError, and Ctrl-C, ends it. */
export async function examine(checks: readonly Check[]): Promise<Examination> {
  const findings: Finding[] = []
  const failed = new Set<string>()
  let failure: RefcheckError | undefined
  for (const { name, after = [], look } of checks) {
    const cause = after.find((each) => failed.has(each))
    if (cause !== undefined) {
      failed.add(name)
      findings.push({
        check: name,
        level: 'warn',
        message: `not looked at: "${cause}" comes first`,
        hint: null,
      })
      continue
    }
    try {
      const remark = await look()
      if (remark === undefined) continue
      const { level = 'ok', message, hint = null } = remark
      findings.push({ check: name, level, message, hint })
    } catch (error) {
      if (!(error instanceof RefcheckError) || error.code === 'interrupted') throw error
      failed.add(name)
      failure ??= error
      findings.push({ check: name, level: 'fail', message: error.message, hint: error.hint ?? null })
    }
  }
  return { findings, failure }
}
