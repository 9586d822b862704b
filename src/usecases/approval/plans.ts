import {
  alreadyUsed,
  isExpired,
  type OrderPlan,
  type PlanOwner,
  requireApprovable,
  type UsedPlan,
  maxWaitingPlans,
  newOrderPlan,
} from '../../domain/approval/order-plan.ts'
import { localTime } from '../../domain/wording/time.ts'
import { NotFoundError, InternalError, InvalidInputError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Services } from '../services.ts'
import { planCode, planCodeBytes } from '../../domain/approval/order-plan.ts'

/** What approving works with, and who approves. */
export interface Approval extends Pick<Services, 'plans' | 'clock'> {
  prompter: Prompter
  owner: PlanOwner
}

/**
 * The plan of a code, or the one that a person chooses, which may be approved here and now. Throws NotFoundError where
 * there is none, and UsageError or InvalidInputError where it is for another user or profile, or has expired.
 */
export async function approvablePlan(approval: Approval, code: string | undefined): Promise<OrderPlan> {
  const { plans, clock, owner } = approval
  await plans.sweep(clock.now())
  const found = code === undefined ? await chosenPlan(approval) : await plans.find(code)
  if (found === undefined) {
    throw new NotFoundError(`there is no plan ${code ?? ''}`.trim(), {
      hint: 'Choose among the plans that wait with: refcheck approve',
    })
  }
  if ('used_at' in found) throw alreadyUsed(found)
  requireApprovable(found, owner, clock.now())
  return found
}

/** Takes a plan that was approved; throws where it was approved before, or has expired meanwhile. */
export async function claimPlan(
  { plans, clock, owner }: Pick<Approval, 'plans' | 'clock' | 'owner'>,
  plan: OrderPlan,
): Promise<UsedPlan> {
  requireApprovable(plan, owner, clock.now())
  const { code } = plan
  const claimed = await plans.claim(code, clock.now())
  if (claimed !== undefined) return claimed
  const found = await plans.find(code)
  throw found !== undefined && 'used_at' in found
    ? alreadyUsed(found)
    : new NotFoundError(`plan ${code} was removed meanwhile`, {
        hint: 'Nothing was sent. Have it planned again.',
      })
}

async function chosenPlan({ plans, clock, prompter }: Approval): Promise<OrderPlan> {
  const waiting = await waitingPlans({ plans, clock })
  if (waiting.length === 0) {
    throw new NotFoundError('no plan waits for approval', {
      hint: 'Plans are made by agents, for 24 hours. How that works: refcheck help agents',
    })
  }
  return prompter.select({
    message: 'Which plan?',
    choices: waiting.map((plan) => ({
      value: plan,
      label: `${plan.code}  ${plan.title}`,
      detail: `For ${plan.base_url} as ${plan.user_email}, until ${localTime(plan.expires_at)}`,
    })),
  })
}

/** What waits and has not expired; a file that is none is passed over. */
export async function waitingPlans({
  plans,
  clock,
}: Pick<Approval, 'plans' | 'clock'>): Promise<OrderPlan[]> {
  const found: OrderPlan[] = []
  for (const code of await plans.waiting()) {
    const plan = await plans.find(code).catch(() => undefined)
    if (plan !== undefined && !('used_at' in plan) && !isExpired(plan, clock.now())) found.push(plan)
  }
  return found
}

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
  const isFull = (await plans.waiting()).length >= maxWaitingPlans
  if (isFull && (await waitingPlans(services)).length >= maxWaitingPlans) {
    throw new InvalidInputError(`${maxWaitingPlans} plans wait for approval already`, {
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
