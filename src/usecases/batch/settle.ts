import type { Batch } from '../../domain/batch/batch.ts'
import { requireDecidable } from '../../domain/batch/decision.ts'
import type { Reconciliation } from '../../domain/batch/proof.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { RefcheckError } from '../../errors/base.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import type { CarriedOut } from './carry-out.ts'
import { decide } from './decide.ts'
import type { Noticing } from './ports.ts'
import { reconcile } from './reconcile.ts'
import { fileOfBatch, writeResults } from './results-file.ts'
import { findBatch } from './standing.ts'
import { startBatch, type StartPorts } from './start.ts'

/** Looks for proof among requests: `ids` of captured events, or what the inbox tells of where undefined. */
export async function reconcileFrom(
  ports: StartPorts,
  { batchId, ids }: { batchId: string | undefined; ids: readonly string[] | undefined },
): Promise<Reconciliation> {
  const { ledger, batches, inbox, clock } = ports
  const batch = batchId === undefined ? undefined : await findBatch(ports, batchId)
  await ledger.recover(clock.now())
  const unknown = await ledger.list({ states: ['unknown'], batchId: batch?.id })
  const found = await reconcile(ports, unknown, ids ?? (await inbox.unclaimed()))
  for (const each of new Set(found.settled.map(({ submission }) => submission.batchId))) {
    const settled = await batches.find(each)
    if (settled !== undefined) await renewResults(ports, settled)
  }
  return found
}

/** What was settled is told by the results file too, where there is one and its file of people is as it was. */
async function renewResults({ batches, place, onNotice }: StartPorts, batch: Batch): Promise<void> {
  const file = await fileOfBatch(place, batch)
  if (file === undefined) return
  try {
    await writeResults(batches, batch, file)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    onNotice({ name: 'results-unwritten', why: error.message, batchId: undefined })
  }
}

export interface ManualSettlement {
  batchId: string
  row: number
  drop: boolean
  confirmedEmail: string | undefined
  reason: string | undefined
}

/** A person's word on one row: it is sent again at once, or never. */
export async function settleManually(
  ports: StartPorts,
  prompter: Prompter | undefined,
  hand: ManualSettlement,
): Promise<CarriedOut> {
  const { batches, ledger, clock } = ports
  const batch = await findBatch(ports, hand.batchId)
  const { value: row } = await batches.rows(batch.id, { after: hand.row - 1, limit: 1 }).next()
  if (row?.row !== hand.row) {
    throw new UsageError(`batch ${batch.id} has no row ${hand.row}`, {
      hint: `Rows to settle: refcheck batch rows ${batch.id} --state unknown`,
    })
  }
  requireDecidable(row, clock.now())
  const confirmedEmail = hand.confirmedEmail ?? (await typedEmail(ports, prompter, hand))
  const by = ports.api.userEmail
  const why = hand.reason ?? (hand.drop ? 'a person decided to drop it' : 'a person decided to send it again')
  const hold = await ledger.hold(batch)
  if (hold === undefined) throw heldElsewhere(batch)
  try {
    await decide(ports, row, { to: hand.drop ? 'cancelled' : 'pending', confirmedEmail, by, why })
    if (hand.drop) return { batch: await findBatch(ports, batch.id), failure: undefined }
  } finally {
    if (batch.kind === 'file') await hold.release()
  }
  const held = batch.kind === 'single' ? hold : undefined
  return startBatch(ports, batch.id, { only: hand.row, held })
}

async function typedEmail(
  { onNotice }: Noticing,
  prompter: Prompter | undefined,
  { row, drop }: ManualSettlement,
): Promise<string> {
  if (prompter === undefined) {
    throw new UsageError('there is no terminal to type the recipient’s e-mail on', {
      hint: 'Nothing was done. Add --confirm-email EMAIL.',
    })
  }
  if (!drop) onNotice({ name: 'may-order-again', row })
  return prompter.text({
    message: `Type the e-mail of row ${row}’s recipient to ${drop ? 'drop it' : 'send it again'}:`,
  })
}
