import type { CarriedOut } from './carry-out.ts'
import type { Services } from '../../cli/services.ts'
import { batchRunning } from '../../compose/batch.ts'
import { readInput } from '../../compose/input.ts'
import type { Reconciliation } from '../../domain/batch/proof.ts'
import { RefcheckError } from '../../errors/base.ts'
import { UsageError } from '../../errors/kinds.ts'
import { fileOfBatch, writeResults } from './results-file.ts'
import { carryOutBatch } from './start.ts'

/** Looks for proof in the inbox, or in a file of captured events. */
export async function reconcileFrom(
  services: Services,
  signal: AbortSignal,
  { batchId, events }: { batchId: string | undefined; events: string | undefined },
): Promise<Reconciliation> {
  const [{ reconcile }, { findBatch }] = await Promise.all([
    import('./reconcile.ts'),
    import('./standing.ts'),
  ])
  const { inbox, ledger } = await services.store()
  const batch = batchId === undefined ? undefined : await findBatch(await services.batches(), batchId)
  await ledger.recover(services.context.clock.now())
  const unknown = await ledger.list({ states: ['unknown'], batchId: batch?.id })
  const ids = events === undefined ? await inbox.unclaimed() : await idsIn(services, events)
  const found = await reconcile(await batchRunning(services, signal), unknown, ids)
  for (const each of new Set(found.settled.map(({ submission }) => submission.batchId))) {
    await renewResults(services, each)
  }
  return found
}

/** What was settled is told by the results file too, where there is one and its file of people is as it was. */
async function renewResults(services: Services, batchId: string): Promise<void> {
  const { batches } = await services.store()
  const batch = await batches.find(batchId)
  const file = batch && (await fileOfBatch(services, batch))
  if (batch === undefined || file === undefined) return
  try {
    await writeResults(batches, batch, file)
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    services.reporter.warn(`the results file was not written: ${error.message}`)
  }
}

async function idsIn(services: Services, events: string): Promise<string[]> {
  const { requestIdsIn } = await import('../../domain/batch/events-file.ts')
  const bytes = await readInput(services.context, events, 'the file of events')
  return requestIdsIn(bytes.toString('utf8'), events)
}

export interface ByHand {
  batchId: string
  row: number
  drop: boolean
  confirmedEmail: string | undefined
  reason: string | undefined
}

/** A person's word on one row: it is sent again at once, or never. */
export async function settleByHand(
  services: Services,
  signal: AbortSignal,
  hand: ByHand,
): Promise<CarriedOut> {
  const [{ decide }, { requireDecidable }, { findBatch }, { heldElsewhere }] = await Promise.all([
    import('./decide.ts'),
    import('../../domain/batch/decision.ts'),
    import('./standing.ts'),
    import('../../domain/batch/standing.ts'),
  ])
  const { clock } = services.context
  const stored = await services.batches()
  const batch = await findBatch(stored, hand.batchId)
  const { value: row } = await stored.batches.rows(batch.id, { after: hand.row - 1, limit: 1 }).next()
  if (row?.row !== hand.row) {
    throw new UsageError(`batch ${batch.id} has no row ${hand.row}`, {
      hint: `Rows to settle: refcheck batch rows ${batch.id} --state unknown`,
    })
  }
  requireDecidable(row, clock.now())
  const confirmedEmail = hand.confirmedEmail ?? (await typedEmail(services, hand))
  const by = (await services.api()).userEmail
  const why = hand.reason ?? (hand.drop ? 'a person decided to drop it' : 'a person decided to send it again')
  const hold = await stored.ledger.hold(batch)
  if (hold === undefined) throw heldElsewhere(batch)
  try {
    await decide(stored, row, { to: hand.drop ? 'cancelled' : 'pending', confirmedEmail, by, why })
    if (hand.drop) return { batch: await findBatch(stored, batch.id), failure: undefined }
  } finally {
    if (batch.kind === 'file') await hold.release()
  }
  return carryOutBatch(services, signal, batch.id, {
    only: hand.row,
    held: batch.kind === 'single' ? hold : undefined,
  })
}

async function typedEmail(services: Services, { row, drop }: ByHand): Promise<string> {
  const asked = services.prompter()
  if (asked === undefined) {
    throw new UsageError('there is no terminal to type the recipient’s e-mail on', {
      hint: 'Nothing was done. Add --confirm-email EMAIL.',
    })
  }
  if (!drop) {
    services.reporter.warn(
      `row ${row} may have been ordered already. Sending it again may order, and charge for, a second check on the same person.`,
    )
  }
  return asked.text({
    message: `Type the e-mail of row ${row}’s recipient to ${drop ? 'drop it' : 'send it again'}:`,
  })
}
