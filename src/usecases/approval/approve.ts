import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { parseBodyFile } from '../../domain/form/json-text.ts'
import { refusedOrder } from '../../domain/submission/duplicate.ts'
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

export interface ApproveOrderOptions extends Omit<PrepareOptions, 'yes' | 'isFixed' | 'doubt' | 'repair'> {
  prompter: Prompter
  similar: SimilarQuestion
  /** What ordering needs, made once a person has said yes. */
  placing: () => Promise<Omit<OrderAndWaitOptions, 'wait' | 'onSimilar'>>
}

/**
 * Shows a planned order as `request create` does, asks, and orders it as it is, at most once. Throws as prepareOrder and
 * placeOrder do; a plan that was not confirmed stays open.
 */
export async function approveOrder(
  approval: Approval,
  plan: OrderPlan,
  body: string,
  { similar, placing, ...preparing }: ApproveOrderOptions,
): Promise<FollowedOrder> {
  const order = await prepareOrder(
    { packageId: undefined, body: parseBodyFile(Buffer.from(body)), flags: {} },
    {
      ...preparing,
      yes: false,
      isFixed: true,
      similarityWarning: (each) => findImplausible(each, similar, preparing.api.baseUrl),
    },
  )
  const used = await claimPlan(approval, plan)
  const outcome = await placeOrder(order, {
    ...(await placing()),
    onSimilar: (stop) => similar.isConfirmed(stop),
    wait: false,
  })
  await approval.plans.record({ ...used, request_id: outcome.answer.request_id })
  return outcome
}

/** What a yes could not order is refused before it is asked for, so that the plan is not used up. */
async function findImplausible(
  body: Parameters<SimilarQuestion['previewConflict']>[0],
  similar: SimilarQuestion,
  baseUrl: string,
): Promise<string | undefined> {
  const stop = await similar.previewConflict(body)
  if (stop !== undefined && !canBeConfirmed(stop)) throw refusedOrder(stop, baseUrl)
  return similar.similarityWarning(body)
}

export interface ApproveFileOptions {
  planning: OrderFileServices
  /** Who is shown what; `confirm` throws where the person does not want these orders. */
  prompts: OrderFilePrompts
  /** What sending needs, made once a person has said yes. */
  sending: () => Promise<StartServices>
}

export type ApprovedFile = { kind: 'sent'; done: RunOutcome } | Extract<OrderFileEnd, { kind: 'unstarted' }>

/**
 * Shows the planned orders of several people as `batch run` does, asks, and orders them; a plan that was not confirmed
 * stays open.
 */
export async function approveFile(
  approval: Approval,
  plan: OrderPlan,
  { file, columns, allowances }: FileToOrder,
  { planning, prompts, sending }: ApproveFileOptions,
): Promise<ApprovedFile> {
  let used: UsedPlan | undefined
  const claiming: OrderFilePrompts = {
    ...prompts,
    async confirm(about) {
      await prompts.confirm(about)
      used = await claimPlan(approval, plan)
    },
  }
  const end = await orderFile(planning, claiming, file, {
    columns,
    allowances,
    isReadingChosen: true,
    skipInvalid: undefined,
    isDryRun: false,
    results: undefined,
    errorsCommand: () => undefined,
  })
  if (end.kind === 'unstarted') return end
  if (end.kind === 'known') throw new InternalError('a plan was run dry')
  const { batchId, isPlanned } = end
  // Where nothing was left to send, nothing was asked.
  used ??= await claimPlan(approval, plan)
  await approval.plans.record({ ...used, batch_id: batchId })
  return { kind: 'sent', done: await startBatch(await sending(), batchId, { file, isPlanned }) }
}
