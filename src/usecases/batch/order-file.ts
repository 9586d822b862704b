import type { Batch } from '../../domain/batch/batch.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { AboutToOrder } from '../../domain/submission/confirmation.ts'
import { aboutToOrder, type Plan, unsent } from '../../domain/batch/plan.ts'
import type { RefcheckError } from '../../errors/base.ts'
import { StoreClosedError } from '../../errors/kinds.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import { applyToKnown, knownBatch, readAsSaid } from './known.ts'
import type { BatchFile } from './open-file.ts'
import { notOrderable } from './linked-packages.ts'
import { planBatch, type Planned, type PlanPorts } from './plan.ts'
import type { Allowances, FilePlace, ReadingPorts } from './ports.ts'
import { packageFor, readOrders } from './read-orders.ts'
import { claimedResults, noteLeftOut, noteLostLook, resultsPlace } from './results-file.ts'
import { findToRun, leftToOrder } from './standing.ts'
import { hearAgain } from './witnesses.ts'

export interface OrderFilePorts
  extends ReadingPorts, Omit<PlanPorts, 'api' | 'batches' | 'waiting'>, Pick<FilePlace, 'cwd'> {
  batches: Batches
  ledger: Ledger
  waiting: HeldRows
  packageSetting: number | undefined
  signal: AbortSignal
}

/** Who is shown what before anything is sent. */
export interface OrderFileTalk {
  /** The file is a batch already, which goes on. */
  onKnown: (batch: Batch) => void
  onPlan: (plan: Plan) => void
  /** Throws where the person does not want these orders. */
  confirm: (about: AboutToOrder) => Promise<void>
}

export interface OrderFileChoices {
  columns: ColumnChoices
  /** Whether somebody said now how the file is to be read: one that was read otherwise is another batch. */
  isReadingSaid: boolean
  allowances: Allowances
  /** Whether invalid rows are left out; undefined where they cannot be. */
  skipInvalid: boolean | undefined
  isDryRun: boolean
  results: string | undefined
  /** What writes invalid rows to a file, as the file was read in the end. */
  errorsCommand: () => string | undefined
}

/** What there is to run, or why nothing is. */
export type OrderFileEnd =
  | { kind: 'unstarted'; plan: Plan; packageId: number | undefined; failure: RefcheckError | undefined }
  | { kind: 'known'; batch: Batch }
  | { kind: 'taken-in'; batchId: string; isPlanned: boolean }

/** Takes a file in as a batch to be run, or finds the batch that it is already; sends nothing. */
export async function orderFile(
  ports: OrderFilePorts,
  talk: OrderFileTalk,
  file: BatchFile,
  choices: OrderFileChoices,
): Promise<OrderFileEnd> {
  const { columns, allowances, isDryRun } = choices
  const packageId = await packageFor(ports, file, columns)
  // Asked once, should the file have to be read again.
  columns.packageId = packageId
  const goOn = (known: Batch): Promise<OrderFileEnd> => goOnWith(ports, talk, known, { file, choices })
  const found = await knownBatch(ports, file, packageId)
  const known =
    found !== undefined && choices.isReadingSaid ? await readAsSaid(ports, file, columns, found) : found
  if (known !== undefined && known !== 'another') return goOn(known)
  const orders = await readOrders(ports, file, columns, packageId)
  const resultsFile = await resultsPlace(ports, file, choices.results)
  const planned = await planBatch(ports, file, orders, {
    choices: columns,
    allowances,
    packageId,
    resultsFile,
    isReadOtherwise: known === 'another',
  })
  const meanwhile = await ports.batches.findByIdentity(planned.batch.identity)
  if (meanwhile !== undefined) return goOn(meanwhile)
  const { plan } = planned
  const failure =
    unsent(plan, file.name, {
      skip: choices.skipInvalid,
      errorsCommand: choices.errorsCommand(),
    }) ??
    (isDryRun
      ? undefined
      : await notOrderable(
          ports,
          planned.packages,
          plan.packages.map(({ package_id }) => package_id),
        ))
  if (failure !== undefined || isDryRun) return { kind: 'unstarted', plan, packageId, failure }
  await requireOpenStore(ports, planned.batch)
  talk.onPlan(plan)
  if (resultsFile !== undefined) {
    noteLostLook(ports, resultsFile, file.sheet)
    noteLeftOut(ports, resultsFile, plan.check)
  }
  if (plan.counts.pending > 0) await talk.confirm(aboutToOrder(plan))
  return takenIn(ports, file, choices.results, planned, goOn)
}

/** A store that orders nothing says so before anybody reads a plan. */
async function requireOpenStore({ batches }: OrderFilePorts, { id }: Pick<Batch, 'id'>): Promise<void> {
  const hold = await batches.hold(id)
  await hold?.release()
}

/** Another process may have taken the same file in while this one looked at it. */
async function takenIn(
  ports: OrderFilePorts,
  file: BatchFile,
  results: string | undefined,
  { batch, intake }: Planned,
  goOn: (known: Batch) => Promise<OrderFileEnd>,
): Promise<OrderFileEnd> {
  const claimed = await claimedResults(ports, file, results, batch.resultsFile)
  const there = await ports.batches.add({ ...batch, resultsFile: claimed.place }, intake.rows)
  if (there === undefined) return { kind: 'taken-in', batchId: batch.id, isPlanned: true }
  await claimed.giveUp()
  return goOn(there)
}

async function goOnWith(
  ports: OrderFilePorts,
  talk: OrderFileTalk,
  found: Batch,
  { file, choices }: { file: BatchFile; choices: OrderFileChoices },
): Promise<OrderFileEnd> {
  // A dry run hears and compares too: it would name rows that a run does not send.
  if (!choices.allowances.ignoreResults) await hearAgain(ports, ports.place, found, file)
  else if (!choices.isDryRun) await ports.waiting.ignoreResults(found.id)
  if (!choices.isDryRun) {
    try {
      await requireOpenStore(ports, found)
    } catch (error) {
      if (!(error instanceof StoreClosedError) || found.counts.unknown === 0) throw error
      // The run sends nothing either, and says first that rows are unknown.
      return { kind: 'taken-in', batchId: found.id, isPlanned: false }
    }
  }
  const known = await findToRun(ports, found.id)
  talk.onKnown(known)
  if (choices.isDryRun) return { kind: 'known', batch: known }
  const { pending } = known.counts
  if (pending > 0) await talk.confirm(await leftToOrder(ports, known))
  const { results, allowances } = choices
  await applyToKnown(ports, file, known, { results, allowDuplicate: allowances.allowDuplicate })
  return { kind: 'taken-in', batchId: known.id, isPlanned: false }
}
