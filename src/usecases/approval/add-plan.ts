import {
  maxWaiting,
  newOrderPlan,
  type OrderPlan,
  type PlanOwner,
  planCode,
  planCodeBytes,
} from '../../domain/approval/order-plan.ts'
import { InternalError, InvalidInputError } from '../../errors/kinds.ts'
import type { Services } from '../services.ts'
import { waitingPlans } from './find-plan.ts'

export interface AddPlanServices extends Pick<Services, 'plans' | 'clock' | 'random'> {
  owner: PlanOwner
}

/** Codes that another plan has, one after the other: that is no chance. */
const maxTries = 20

/** Keeps a plan for a person to approve; nothing is ordered. `title` is for the list of what waits. */
export async function addPlan(
  services: AddPlanServices,
  what: OrderPlan['what'],
  title: string,
): Promise<OrderPlan> {
  const { plans, clock, random, owner } = services
  const now = clock.now()
  await plans.sweep(now)
  const isFull = (await plans.waiting()).length >= maxWaiting
  if (isFull && (await waitingPlans(services)).length >= maxWaiting) {
    throw new InvalidInputError(`${maxWaiting} plans wait for approval already`, {
      hint: 'A person approves them, or they expire after 24 hours. List them with: refcheck approve',
    })
  }
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const code = planCode(random.bytes(planCodeBytes))
    const plan = newOrderPlan(owner, { code, now, what, title })
    if (await plans.add(plan)) return plan
  }
  throw new InternalError('no free code for a plan was found')
}
