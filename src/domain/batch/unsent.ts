import type { RefcheckError } from '../../errors/base.ts'
import type { Plan } from './plan.ts'
import { stopsOf } from './stops.ts'
import { notBegun } from './verdict.ts'
import { badRows } from './check.ts'

/** Why a planned file is not begun; undefined where there is something to send. */
export function unsent(
  plan: Plan,
  name: string,
  { skip, errorsCommand }: { skip: boolean; errorsCommand?: string | undefined },
): RefcheckError | undefined {
  const bad = badRows(plan.check, name, errorsCommand)
  if (bad !== undefined && !skip) return bad
  return notBegun(plan.counts, stopsOf(plan.matches.map(({ stop }) => stop)))
}
