import { isExpired, parsePlanCode } from '../../domain/approval/order-plan.ts'
import type { Services } from '../services.ts'

export interface PlanState {
  code: string
  state: 'waiting' | 'expired' | 'approved' | 'not_found'
  request_id: string | null
  batch_id: string | null
}

/** What became of the plan of a code; UsageError for what is no code. */
export async function planState(plans: Services['plans'], typed: string, now: number): Promise<PlanState> {
  const code = parsePlanCode(typed)
  const found = await plans.find(code)
  if (found === undefined) return { code, state: 'not_found', request_id: null, batch_id: null }
  if ('used_at' in found) {
    return { code, state: 'approved', request_id: found.request_id, batch_id: found.batch_id }
  }
  const state = isExpired(found, now) ? 'expired' : 'waiting'
  return { code, state, request_id: null, batch_id: null }
}
