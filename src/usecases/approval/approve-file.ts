import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { InternalError } from '../../errors/kinds.ts'
import {
  type ToOrder,
  orderFile,
  type OrderFileEnd,
  type OrderFileServices,
  type OrderFilePrompts,
} from '../batch/order-file.ts'
import { type CarriedOut, startBatch, type StartServices } from '../batch/start.ts'
import { type Approval, claimPlan } from './find-plan.ts'

export interface ApproveFileOptions {
  planning: OrderFileServices
  /** Who is shown what; `confirm` throws where the person does not want these orders. */
  prompts: OrderFilePrompts
  /** What sending needs, made once a person has said yes. */
  sending: () => Promise<StartServices>
}

export type ApprovedFile = { kind: 'sent'; done: CarriedOut } | Extract<OrderFileEnd, { kind: 'unstarted' }>

/**
 * Shows the planned orders of several people as `batch run` does, asks, and orders them; a plan that was not confirmed
 * stays open.
 */
export async function approveFile(
  approval: Approval,
  plan: OrderPlan,
  { file, columns, allowances }: ToOrder,
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
