import type { RefcheckError } from '../../errors/base.ts'
import type { Plan } from './plan.ts'
import { stopsOf } from './stops.ts'
import { notBegun } from './verdict.ts'
import { orderInTheWay } from '../submission/duplicate.ts'
import { badRows } from './check.ts'

/** Why a planned file is not begun; undefined where there is something to send. */
export function unsent(
  plan: Plan,
  name: string,
  // `skip`: whether invalid rows are left out; undefined where they cannot be.
  { skip, errorsCommand }: { skip?: boolean | undefined; errorsCommand?: string | undefined },
): RefcheckError | undefined {
  const bad = badRows(plan.check, name, errorsCommand, skip !== undefined)
  if (bad !== undefined && skip !== true) return bad
  const stops = plan.matches.map(({ stop }) => stop)
  const [first] = stops
  return notBegun(plan.counts, stopsOf(stops), first && orderInTheWay(first))
}
