import {
  alreadyUsedError,
  isExpired,
  type OrderPlan,
  type PlanContent,
  type PlanOwner,
  requireApprovable,
  type UsedPlan,
  maxWaitingPlans,
  newOrderPlan,
  planCode,
  planCodeBytes,
} from '../../domain/approval/order-plan.ts'
import { localTime } from '../../domain/wording/time.ts'
import { NotFoundError, InternalError, InvalidInputError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { Services } from '../services.ts'

/** The services for approving plans, and the user who approves. */
export interface Approval extends Pick<Services, 'plans' | 'clock'> {
  prompter: Prompter
  owner: PlanOwner
}

/**
 * Returns the plan with this code, or the plan that the user chooses if `code` is undefined. Throws
 * NotFoundError if there is no such plan, and UsageError or InvalidInputError if the plan is for another user
 * or profile, or has expired.
 */
export async function findApprovablePlan(approval: Approval, code: string | undefined): Promise<OrderPlan> {
  const { plans, clock, owner } = approval
  await plans.removeExpired(clock.now())
  const found = code === undefined ? await choosePlan(approval) : await plans.find(code)
  if (found === undefined) {
    throw new NotFoundError(`there is no plan ${code ?? ''}`.trim(), {
      hint: 'Choose among the plans that wait with: refcheck approve',
    })
  }
  if ('used_at' in found) throw alreadyUsedError(found)
  requireApprovable(found, owner, clock.now())
  return found
}

/** Claims an approved plan, so that it is used once. Throws if it was claimed before or has expired meanwhile. */
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
    ? alreadyUsedError(found)
    : new NotFoundError(`plan ${code} was removed meanwhile`, {
        hint: 'Nothing was sent. Have it planned again.',
      })
}

async function choosePlan({ plans, clock, prompter }: Approval): Promise<OrderPlan> {
  const waiting = await findWaitingPlans({ plans, clock })
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

/** Returns the plans that wait and have not expired; files that are not plans are ignored. */
export async function findWaitingPlans({
  plans,
  clock,
}: Pick<Approval, 'plans' | 'clock'>): Promise<OrderPlan[]> {
  const found: OrderPlan[] = []
  for (const code of await plans.listWaiting()) {
    const plan = await plans.find(code).catch(() => undefined)
    if (plan !== undefined && !('used_at' in plan) && !isExpired(plan, clock.now())) found.push(plan)
  }
  return found
}

export interface AddPlanServices extends Pick<Services, 'plans' | 'clock' | 'random'> {
  owner: PlanOwner
}

/** Maximum number of random codes that are tried. It cannot be by chance that all of them are in use. */
const maxTries = 20

/** Stores a plan for approval. Nothing is ordered. `title` is shown in the list of waiting plans. */
export async function addPlan(
  services: AddPlanServices,
  contents: PlanContent,
  title: string,
): Promise<OrderPlan> {
  const { plans, clock, random, owner } = services
  const now = clock.now()
  await plans.removeExpired(now)
  const isFull = (await plans.listWaiting()).length >= maxWaitingPlans
  if (isFull && (await findWaitingPlans(services)).length >= maxWaitingPlans) {
    throw new InvalidInputError(`${maxWaitingPlans} plans wait for approval already`, {
      hint: 'A person approves them, or they expire after 24 hours. List them with: refcheck approve',
    })
  }
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const code = planCode(random.bytes(planCodeBytes))
    const plan = newOrderPlan(owner, { code, now, what: contents, title })
    if (await plans.add(plan)) return plan
  }
  throw new InternalError('no free code for a plan was found')
}
