import type { MachineReport, Finding, Remark } from '../../domain/doctor/finding.ts'
import { redactKeys } from '../../domain/wording/redact-argument.ts'
import { RefcheckError } from '../../errors/base.ts'

export interface Check {
  name: string
  /** Not looked at where one of these failed. */
  after?: readonly string[]
  /** Undefined where there is nothing to say. A RefcheckError that it throws is a failure. */
  look: () => Promise<Remark | undefined>
}

/** Makes each check in turn, whatever the others came to. Only what is no RefcheckError, and Ctrl-C, ends it. */
export async function checkMachine(checks: readonly Check[]): Promise<MachineReport> {
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
        message: `not checked, because "${cause}" failed`,
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
      const { message, hint = '' } = error
      // A key may stand in a file or variable where something else belongs.
      findings.push({
        check: name,
        level: 'fail',
        message: redactKeys(message),
        hint: hint === '' ? null : redactKeys(hint),
      })
    }
  }
  return { findings, failure }
}
