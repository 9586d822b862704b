import { resolvePaths } from '../../src/host/paths.ts'
import { systemRandom } from '../../src/host/random.ts'
import type { OrderPlan } from '../../src/domain/approval/order-plan.ts'
import { type OrderPlans, openOrderPlans } from '../../src/store/plans/order-plans.ts'
import { addPlan, type AddPlanServices } from '../../src/usecases/approval/plans.ts'
import type { Session } from './session.ts'

/** Opens the stored plans of a session. */
export function openPlans({ env }: Pick<Session, 'env'>): OrderPlans {
  return openOrderPlans({ paths: resolvePaths(env), random: systemRandom })
}

/** Stores a plan as `refcheck mcp` does for an agent. By default it belongs to the user of the session. Returns its code. */
export async function addAgentPlan(
  here: Pick<Session, 'env' | 'clock' | 'url' | 'sandbox'>,
  what: OrderPlan['what'],
  overrides: Partial<AddPlanServices> = {},
): Promise<string> {
  const { userEmail } = here.sandbox.credentials
  const owner = { baseUrl: here.url, userEmail, profile: undefined, account: '' }
  const ports = { plans: openPlans(here), clock: here.clock, random: systemRandom, owner, ...overrides }
  return (await addPlan(ports, what, 'package 102')).code
}

/** Returns the body of an order for a person with the first name `first`, as a plan stores it. */
export function orderBody(first: string, packageId = 102): string {
  const email = `${first.toLowerCase()}@example.com`
  const recipient = { first_name: first, last_name: 'Example', email, phone: '+61412345678' }
  return JSON.stringify({ package_id: packageId, recipient })
}
