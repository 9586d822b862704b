import { Readable } from 'node:stream'

import type { App } from './app.ts'
import { type OrderPlan, type PlanOwner, startedByAgent } from '../domain/approval/order-plan.ts'
import { UsageError } from '../errors/kinds.ts'
import { agentMark } from '../host/agent-mark.ts'
import { variable } from '../host/env.ts'
import type { ApprovalPorts } from '../usecases/approval/find-plan.ts'
import { appliedPlan, type ToOrder } from '../usecases/batch/order-file.ts'
import type { Allowances } from '../usecases/batch/ports.ts'
import type { OrderPlans } from '../store/plans/order-plans.ts'
import { filePlace } from './batch.ts'

/** Plans of this machine. */
export async function orderPlans(app: App): Promise<OrderPlans> {
  const { openOrderPlans } = await import('../store/plans/order-plans.ts')
  return openOrderPlans({ paths: app.paths, random: app.context.random })
}

/** Whom orders are made for and as whom. */
export async function planOwner(app: App): Promise<PlanOwner> {
  const { resolveSession } = await import('../usecases/session/resolve.ts')
  const { baseUrl, email, profile } = await resolveSession(
    await app.services('settings', 'secrets', 'env', 'profile'),
  )
  return { baseUrl, userEmail: email, profile, account: await app.accountInUse() }
}

/**
 * What finding a plan needs. Throws UsageError where there is no terminal, or where the environment says that an agent
 * started this process; no flag or setting overrides that.
 */
export async function approvalPorts(app: App, code: string | undefined): Promise<ApprovalPorts> {
  const { env, streams, clock } = app.context
  if (variable(env, agentMark) !== undefined) throw startedByAgent(code ?? '')
  const missing = (['stdin', 'stdout', 'stderr'] as const).find((name) => !streams[name].isTTY)
  const prompter = app.prompter()
  if (missing !== undefined || prompter === undefined) {
    throw new UsageError(`a person has to approve in a terminal, and ${missing ?? 'stdin'} is not one`, {
      hint: `Nothing was sent. Type in a terminal, without a pipe: refcheck approve ${code ?? ''}`.trim(),
    })
  }
  await app.services('account')
  const [plans, owner] = [(await app.services('plans')).plans, await planOwner(app)]
  return { plans, owner, clock, prompter }
}

/** What a plan of several orders is to be made from, as it was when it was planned. */
export async function plannedFile(
  app: App,
  code: string,
  { plan, rows }: Extract<OrderPlan['what'], { kind: 'batch' }>,
  allowances: Allowances,
): Promise<ToOrder> {
  const named = { text: plan, name: `plan ${code}`, again: 'Have it planned again.' }
  const { api: service } = await app.services('api')
  if (rows === null) return appliedPlan(filePlace(app), service, named, allowances)
  const { cwd } = app.context
  const place = { cwd, stdin: { isTTY: false, stream: Readable.from([Buffer.from(rows)]) } }
  const applied = await appliedPlan(place, service, named, allowances)
  return { ...applied, file: { ...applied.file, name: named.name } }
}
