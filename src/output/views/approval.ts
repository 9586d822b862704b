import type { OrderPlan } from '../../domain/approval/order-plan.ts'
import type { WindowStanding } from '../../domain/quota/book.ts'
import { localTime } from '../../domain/wording/local-time.ts'
import { durationInWords } from './batches.ts'

/** Said before the review of what an agent planned. */
export function plannedText({ code, made_at, expires_at, base_url, user_email, profile }: OrderPlan): string {
  const as = profile === null ? '' : ` (profile "${profile}")`
  return [
    `Plan ${code}, prepared by an agent on ${localTime(made_at)}, valid until ${localTime(expires_at)}.`,
    `It is for ${base_url} as ${user_email}${as}.`,
  ].join('\n')
}

/** What one order takes of the quota. */
export function orderCostText(windows: readonly WindowStanding[]): string {
  const left = windows.map((each) => `${each.left} of ${each.calls} in ${durationInWords(each.seconds)}`)
  return `It uses 1 call of the quota. Left: ${left.join(', ')}`
}
