import { basename } from 'node:path'

import { personName } from '../../domain/wording/text.ts'
import { type OrderPlan, isExpired } from '../../domain/approval/order-plan.ts'
import { planForAgent, type PlanForAgent, planOfRows, planTitle } from '../../domain/agent/calls.ts'
import { addPlan, type AddPlanServices } from '../approval/plans.ts'
import type { Services } from '../services.ts'
import type { CommandResult, RunReadOnly } from './calls.ts'
import { parsePlanCode } from '../../domain/approval/order-plan.ts'

/** What storing a plan of an agent works with; its title names the package. */
export type StorePlanServices = AddPlanServices & Pick<Services, 'packageNames'>

export interface Planning {
  run: RunReadOnly
  /** Made once a plan is worth keeping. */
  planning: () => Promise<StorePlanServices>
  signal: AbortSignal
}

/** A plan, or what the command printed that found nothing to plan. */
export type PlanEnd = { planned: PlanForAgent } | { refused: CommandResult }

/** Checks an order as `request create --dry-run` does, and keeps it for a person to approve. */
export async function planOrder(
  { run, planning, signal }: Planning,
  body: Readonly<Record<string, unknown>>,
): Promise<PlanEnd> {
  const line = ['request', 'create', '--file', '-', '--dry-run']
  const ran = await run(line, { stdin: JSON.stringify(body), signal })
  const { error, ...checked } = fieldsOf(ran)
  // A similar person becomes a question of the approval; an identical order is no plan.
  const isAskedAbout = fields(error)['match'] === 'similar'
  if (typeof checked['package_id'] !== 'number' || (ran.code !== 0 && !isAskedAbout)) return { refused: ran }
  const { first_name: first, last_name: last } = fields(checked['recipient'])
  const who = personName({ first_name: String(first), last_name: String(last) })
  const packageId = checked['package_id']
  const what = { kind: 'order', body: JSON.stringify(checked) } as const
  const plan = await storePlan({ planning, signal }, what, { orders: 1, packageId, from: who })
  const answer = { packageId, orders: 1, review: ran.document }
  return { planned: planForAgent(plan, answer) }
}

/** The same for several people at once, each a request's body without its package. */
export async function planPeople(
  { run, planning, signal }: Planning,
  packageId: number,
  people: readonly Readonly<Record<string, unknown>>[],
): Promise<PlanEnd> {
  const rows = JSON.stringify(people)
  const ran = await run(['batch', 'run', '-', '--dry-run', `--package=${packageId}`], { stdin: rows, signal })
  const orders = pendingOf(ran)
  if (ran.code !== 0 || orders === 0) return { refused: ran }
  const services = await planning()
  const what = { kind: 'batch', plan: planOfRows(rows, services.owner.baseUrl, packageId), rows } as const
  const plan = await storePlan({ planning: async () => services, signal }, what, { orders, packageId })
  return { planned: planForAgent(plan, { packageId, orders, review: ran.document }) }
}

/** The same for a file: `line` is what `batch plan` is run with, `file` its real path. */
export async function planFile(
  { run, planning, signal }: Planning,
  file: string,
  line: readonly string[],
): Promise<PlanEnd> {
  const ran = await run(['batch', 'plan', file, ...line], { signal })
  const { error: _, ...checked } = fieldsOf(ran)
  const orders = pendingOf(ran)
  if (ran.code !== 0 || orders === 0) return { refused: ran }
  const packageId = typeof checked['package_id'] === 'number' ? checked['package_id'] : null
  const what = { kind: 'batch', plan: JSON.stringify(checked), rows: null } as const
  const plan = await storePlan({ planning, signal }, what, { orders, packageId, from: basename(file) })
  return { planned: planForAgent(plan, { packageId, orders, review: ran.document }) }
}

async function storePlan(
  { planning, signal }: Pick<Planning, 'planning' | 'signal'>,
  what: OrderPlan['what'],
  { orders, packageId, from }: { orders: number; packageId: number | null; from?: string },
): Promise<OrderPlan> {
  signal.throwIfAborted()
  const services = await planning()
  const names = await services.packageNames.get(services.owner)
  const ordered = packageId === null ? undefined : { id: packageId, name: names.get(packageId) }
  return addPlan(services, what, planTitle(orders, ordered, from))
}

const pendingOf = (ran: CommandResult): number => Number(fields(fieldsOf(ran)['counts'])['pending'] ?? 0)

const fieldsOf = ({ document }: CommandResult): Record<string, unknown> => fields(document)

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

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
