import type { RefcheckError } from '../../errors/base.ts'
import type { Plan } from './plan.ts'
import { nothingSent } from './verdict.ts'
import { badRows } from './check.ts'

/** Why a planned file is not begun; undefined where there is something to send. */
export function unsent(plan: Plan, name: string, { skip }: { skip: boolean }): RefcheckError | undefined {
  const bad = badRows(plan.check, name)
  if (bad !== undefined && !skip) return bad
  return plan.counts.pending > 0 ? undefined : nothingSent(undefined, plan.counts)
}
