import type { RefcheckError } from '../../errors/base.ts'
import type { Plan } from './plan.ts'
import { stopsOf } from './stops.ts'
import { notBegun } from './verdict.ts'
import { badRows } from './check.ts'

/** Why a planned file is not begun; undefined where there is something to send. */
export function unsent(plan: Plan, name: string, { skip }: { skip: boolean }): RefcheckError | undefined {
  const bad = badRows(plan.check, name)
  if (bad !== undefined && !skip) return bad
  return notBegun(plan.counts, stopsOf(plan.matches.map(({ stop }) => stop)))
}
