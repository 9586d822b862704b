import { basename } from 'node:path'

import { isJsonObject } from '../../contract/parse-json.ts'
import { formatCount, personName } from '../../domain/wording/text.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import { isExpired, parsePlanCode, type PlanContent } from '../../domain/approval/order-plan.ts'
import { planForAgent, type PlanForAgent, planOfRows, planTitle } from '../../domain/agent/calls.ts'
import { addPlan, type AddPlanServices } from '../approval/plans.ts'
import type { Services } from '../services.ts'
import type { CommandResult, RunReadOnly } from './calls.ts'

/** The services that store a plan of an agent; the title of a plan contains the package's name. */
export type StorePlanServices = AddPlanServices & Pick<Services, 'packageNames'>

export interface PlanningServices {
  run: RunReadOnly
  /** Opens the services that store a plan. */
  openPlanServices: () => Promise<StorePlanServices>
  signal: AbortSignal
}

/** A stored plan, or the output of the command that refused to plan. */
export type PlanEnd = { planned: PlanForAgent } | { refused: CommandResult }

/** Checks an order as `request create --dry-run` does, and stores it as a plan for the user to approve. */
export async function planOrder(
  { run, openPlanServices, signal }: PlanningServices,
  body: Readonly<Record<string, unknown>>,
): Promise<PlanEnd> {
  const argv = ['request', 'create', '--file', '-', '--dry-run']
  const result = await run(argv, { stdin: JSON.stringify(body), signal })
  const { error, ...checked } = fieldsOf(result)
  // The approval asks about a similar person. An identical order is not stored as a plan.
  const isSimilar = fields(error)['match'] === 'similar'
  if (typeof checked['package_id'] !== 'number' || (result.code !== 0 && !isSimilar))
    return { refused: result }
  const { first_name: first, last_name: last } = fields(checked['recipient'])
  const recipientName = personName({ first_name: String(first), last_name: String(last) })
  const contents = { kind: 'order', body: JSON.stringify(checked) } as const
  const about = { orders: 1, packageId: checked['package_id'], review: result.document }
  signal.throwIfAborted()
  return storePlan(await openPlanServices(), contents, about, recipientName)
}

/** Plans orders for several people, each given as the body of a request without its package. */
export async function planPeople(
  { run, openPlanServices, signal }: PlanningServices,
  packageId: number,
  people: readonly Readonly<Record<string, unknown>>[],
): Promise<PlanEnd> {
  const rows = JSON.stringify(people)
  const result = await run(['batch', 'run', '-', '--dry-run', `--package=${packageId}`], {
    stdin: rows,
    signal,
  })
  const orders = pendingCount(result)
  if (result.code !== 0 || orders === 0) return { refused: withReason(result) }
  const services = await openPlanServices()
  const contents = { kind: 'batch', plan: planOfRows(rows, services.owner.baseUrl, packageId), rows } as const
  signal.throwIfAborted()
  return storePlan(services, contents, { orders, packageId, review: result.document })
}

/** Plans the orders of a file. `planArguments`: the arguments of `batch plan` after the file; `file`: its real path. */
export async function planFile(
  { run, openPlanServices, signal }: PlanningServices,
  file: string,
  planArguments: readonly string[],
): Promise<PlanEnd> {
  const result = await run(['batch', 'plan', file, ...planArguments], { signal })
  const { error: _, ...checked } = fieldsOf(result)
  const orders = pendingCount(result)
  if (result.code !== 0 || orders === 0) return { refused: withReason(result) }
  const packageId = typeof checked['package_id'] === 'number' ? checked['package_id'] : null
  const contents = { kind: 'batch', plan: JSON.stringify(checked), rows: null } as const
  signal.throwIfAborted()
  const about = { orders, packageId, review: result.document }
  return storePlan(await openPlanServices(), contents, about, basename(file))
}

/** Stores a plan. `source`: the person or the file that the title of the plan names. */
async function storePlan(
  services: StorePlanServices,
  contents: PlanContent,
  about: { orders: number; packageId: number | null; review: unknown },
  source?: string,
): Promise<PlanEnd> {
  const { orders, packageId } = about
  const names = await services.packageNames.get(services.owner)
  const orderedPackage = packageId === null ? undefined : { id: packageId, name: names.get(packageId) }
  const plan = await addPlan(services, contents, planTitle(orders, orderedPackage, source))
  return { planned: planForAgent(plan, about) }
}

const pendingCount = (result: CommandResult): number => countOf(result, 'pending')

const countOf = (result: CommandResult, state: SubmissionState): number =>
  Number(fields(fieldsOf(result)['counts'])[state] ?? 0)

/** Adds an error with the reason to the document of a plan without orders, for which `batch plan` prints no error. */
function withReason(result: CommandResult): CommandResult {
  const document = fieldsOf(result)
  if (document['error'] !== undefined) return result
  const ordered = countOf(result, 'duplicate')
  const message = `nothing is left to order: ${formatCount(ordered, 'row')} ordered before, ${countOf(result, 'held')} held`
  const hint = 'A person decides about held rows, and about an order for the same person again.'
  return { ...result, document: { ...document, error: { code: 'duplicate', message, hint } } }
}

const fieldsOf = ({ document }: CommandResult): Record<string, unknown> => fields(document)

const fields = (value: unknown): Record<string, unknown> => (isJsonObject(value) ? value : {})

/** Returns the state of the plan with a code. Throws a UsageError if the text is not a code. */
export async function planState(plans: Services['plans'], typedCode: string, now: number) {
  const code = parsePlanCode(typedCode)
  const found = await plans.find(code)
  if (found === undefined) return { code, state: 'not_found', request_id: null, batch_id: null }
  if ('used_at' in found) {
    return { code, state: 'approved', request_id: found.request_id, batch_id: found.batch_id }
  }
  const state = isExpired(found, now) ? 'expired' : 'waiting'
  return { code, state, request_id: null, batch_id: null }
}
