import { Readable } from 'node:stream'

import type { App } from './app.ts'
import { type PlanContent, type PlanOwner, startedByAgentError } from '../domain/approval/order-plan.ts'
import { UsageError } from '../errors/kinds.ts'
import { agentVariable, variable } from '../host/process.ts'
import type { Approval } from '../usecases/approval/plans.ts'
import { openPlannedFile, type FileToOrder } from '../usecases/batch/order-file.ts'
import type { AllowFlags } from '../domain/batch/file-command.ts'

/** Returns the service, user, profile and account that plans are made for. */
export async function planOwner(app: App): Promise<PlanOwner> {
  const { resolveSession } = await import('../usecases/session/resolve.ts')
  const { baseUrl, email, profile } = await resolveSession(await app.sessionSources())
  return { baseUrl, userEmail: email, profile, account: await app.accountInUse() }
}

/**
 * Returns the services for approving plans. Throws UsageError without a terminal, or if the environment shows that an
 * agent started this process; no flag or setting overrides that.
 */
export async function createApproval(app: App, code: string | undefined): Promise<Approval> {
  const { env, streams } = app.context
  if (variable(env, agentVariable) !== undefined) throw startedByAgentError(code ?? '')
  const otherStream = (['stdin', 'stdout', 'stderr'] as const).find((name) => !streams[name].isTTY)
  const prompter = app.prompter()
  if (otherStream !== undefined || prompter === undefined) {
    throw new UsageError(`a person has to approve in a terminal, and ${otherStream ?? 'stdin'} is not one`, {
      hint: `Nothing was sent. Type in a terminal, without a pipe: refcheck approve ${code ?? ''}`.trim(),
    })
  }
  // Throws if the account in use was not added to the store.
  await app.service('account')
  return { ...(await app.services('plans', 'clock')), owner: await planOwner(app), prompter }
}

/** Opens the file that a batch plan was made from. Throws if it has changed since. */
export async function openFileOfPlan(
  app: App,
  code: string,
  { plan, rows }: Extract<PlanContent, { kind: 'batch' }>,
  allowances: AllowFlags,
): Promise<FileToOrder> {
  const planSource = { text: plan, name: `plan ${code}`, replanHint: 'Have it planned again.' }
  const service = await app.service('api')
  if (rows === null) return openPlannedFile(await app.service('files'), service, planSource, allowances)
  const { cwd } = app.context
  const memoryFiles = { cwd, stdin: { isTTY: false, stream: Readable.from([Buffer.from(rows)]) } }
  const fileToOrder = await openPlannedFile(memoryFiles, service, planSource, allowances)
  return { ...fileToOrder, file: { ...fileToOrder.file, name: planSource.name } }
}
