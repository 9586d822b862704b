import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { parseBodyFile } from '../../domain/form/json-text.ts'
import { duplicateError } from '../../domain/submission/duplicate.ts'
import { canBeConfirmed } from '../../domain/submission/conflicts.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { type FollowedOrder, type OrderAndWaitOptions, placeOrder } from '../request/order-and-wait.ts'
import { prepareOrder, type PrepareOptions } from '../request/prepare-order.ts'
import type { SimilarQuestion } from '../request/create.ts'
import { type Approval, claimPlan } from './plans.ts'
import { InternalError } from '../../errors/kinds.ts'
import {
  type FileToOrder,
  orderFile,
  type OrderFileEnd,
  type OrderFileServices,
  type OrderFilePrompts,
} from '../batch/order-file.ts'
import { type RunOutcome, startBatch, type StartServices } from '../batch/start.ts'

export interface ApproveOrderOptions extends Omit<PrepareOptions, 'yes' | 'isFixed' | 'repair'> {
  prompter: Prompter
  similarQuestion: SimilarQuestion
  /** Creates the services for ordering; called after the user has confirmed. */
  createOrderingServices: () => Promise<Omit<OrderAndWaitOptions, 'shouldWait' | 'onSimilar'>>
}

/**
 * Shows a planned order as `request create` does, asks for confirmation and orders it unchanged, at most once. Throws
 * as prepareOrder and placeOrder do; a plan that was not confirmed can still be approved.
 */
export async function approveOrder(
  approval: Approval,
  plan: OrderPlan,
  body: string,
  { similarQuestion, createOrderingServices, ...preparing }: ApproveOrderOptions,
): Promise<FollowedOrder> {
  const order = await prepareOrder(
    { packageId: undefined, body: parseBodyFile(Buffer.from(body)), flags: {} },
    {
      ...preparing,
      yes: false,
      isFixed: true,
      orderWarning: (orderBody) => checkBeforeClaim(orderBody, similarQuestion, preparing.api.baseUrl),
    },
  )
  const usedPlan = await claimPlan(approval, plan)
  const outcome = await placeOrder(order, {
    ...(await createOrderingServices()),
    onSimilar: (conflict) => similarQuestion.isConfirmed(conflict, order.body),
    shouldWait: false,
  })
  await approval.plans.record({ ...usedPlan, request_id: outcome.result.request_id })
  return outcome
}

/**
 * Throws if the order would be refused, before the user is asked: a confirmation would use up the plan. Returns the
 * warning about similar people.
 */
async function checkBeforeClaim(
  body: Parameters<SimilarQuestion['previewConflict']>[0],
  similarQuestion: SimilarQuestion,
  baseUrl: string,
): Promise<string | undefined> {
  const conflict = await similarQuestion.previewConflict(body)
  if (conflict !== undefined && !canBeConfirmed(conflict)) throw duplicateError(conflict, baseUrl)
  return similarQuestion.orderWarning(body)
}

export interface ApproveFileOptions {
  planning: OrderFileServices
  /** Shows the plan and asks; `confirm` throws if the user does not want these orders. */
  prompts: OrderFilePrompts
  /** Creates the services for sending; called after the user has confirmed. */
  createSendingServices: () => Promise<StartServices>
}

export type ApprovedFile = { kind: 'sent'; run: RunOutcome } | Extract<OrderFileEnd, { kind: 'unstarted' }>

/**
 * Shows the planned orders of several people as `batch run` does, asks for confirmation and orders them. A plan that
 * was not confirmed can still be approved.
 */
export async function approveFile(
  approval: Approval,
  plan: OrderPlan,
  { file, columns, allowances }: FileToOrder,
  { planning, prompts, createSendingServices }: ApproveFileOptions,
): Promise<ApprovedFile> {
  let usedPlan: UsedPlan | undefined
  const claimingPrompts: OrderFilePrompts = {
    ...prompts,
    async confirm(orders) {
      await prompts.confirm(orders)
      usedPlan = await claimPlan(approval, plan)
    },
  }
  const end = await orderFile(planning, claimingPrompts, file, {
    columns,
    allowances,
    isReadingChosen: true,
    skipInvalid: undefined,
    isDryRun: false,
    results: undefined,
    errorsCommand: () => undefined,
  })
  if (end.kind === 'unstarted') return end
  if (end.kind === 'existing-batch') throw new InternalError('a plan was run dry')
  const { batchId, isPlanned } = end
  // If no rows were left to send, the user was not asked, and the plan is claimed here.
  usedPlan ??= await claimPlan(approval, plan)
  await approval.plans.record({ ...usedPlan, batch_id: batchId })
  const options = { file, isPlanned, reportsUnreadResults: false }
  return { kind: 'sent', run: await startBatch(await createSendingServices(), batchId, options) }
}
