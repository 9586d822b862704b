import {
  threeAnswers,
  type ProvidersAnswer,
  requireSendable,
  requireUnsettled,
  type Reconciliation,
} from '../../domain/batch/reconciliation.ts'
import type { Batch, BatchRow } from '../../domain/batch/batch.ts'
import { heldElsewhere } from '../../domain/batch/standing.ts'
import { RefcheckError } from '../../errors/base.ts'
import { InternalError, OutcomeUnknownError, UsageError } from '../../errors/kinds.ts'
import { askedAnswer } from './ask-answer.ts'
import type { CarriedOut } from './carry-out.ts'
import { decideToLeave, decideToOrder } from './decide.ts'
import { recordAnswer } from './record-answer.ts'
import { reconcile, rowsInDoubt } from './reconcile.ts'
import { fileOfBatch, writeResults } from './results-file.ts'
import { confirmStarterLeft, requireSameOrganisation, requireSameService } from './same-organisation.ts'
import { findBatch } from './read-batch.ts'
import { secondOrders } from './second-orders.ts'
import { hearAgain } from './witnesses.ts'
import { startBatch, type StartPorts } from './start.ts'

/** Looks for proof among requests: `ids` of captured events, or what the inbox tells of where undefined. */
export async function reconcileFrom(
  ports: StartPorts,
  { batchId, ids }: { batchId: string | undefined; ids: readonly string[] | undefined },
): Promise<Reconciliation> {
  const { ledger, batches, inbox, clock } = ports
  const batch = batchId === undefined ? undefined : await findBatch(ports, batchId)
  await ledger.recover(clock.now())
  const unknown = await rowsInDoubt(ledger, batch?.id)
  const named = ids ?? (await inbox.unclaimed(ports.api.baseUrl))
  const found = await reconcile(ports, unknown, named)
  for (const each of new Set(found.settled.map(({ submission }) => submission.batchId))) {
    const settled = await batches.find(each)
    if (settled !== undefined) await renewResults(ports, settled)
  }
  return { ...found, secondOrders: await secondOrders(ports, named) }
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
  /** Undefined: a person is asked. */
  answer: ProvidersAnswer | undefined
  reason: string | undefined
}

/** Records what the provider said of one row: its request, that it is sent again at once, or that it is never sent. */
export async function settleManually(ports: StartPorts, hand: ManualSettlement): Promise<CarriedOut> {
  const { batches, prompter } = ports
  const batch = await findBatch(ports, hand.batchId)
  const { value: row } = await batches.rows(batch.id, { after: hand.row - 1, limit: 1 }).next()
  if (row?.row !== hand.row) {
    throw new UsageError(`row ${hand.row} is not in batch ${batch.id}`, {
      hint: `List the unknown rows with: refcheck batch rows ${batch.id} --state unknown`,
    })
  }
  requireUnsettled(row)
  requireSameService(batch, ports.api)
  const answer = hand.answer ?? (await askedAnswer(prompter, row))
  const by = ports.api.userEmail
  switch (answer?.kind) {
    case 'has': {
      const { packageId } = row
      if (packageId === undefined) throw new InternalError(`row ${row.row} was sent without a package`)
      const { requestId } = answer
      await requireOrganisation(ports, batch)
      await recordAnswer(ports, prompter, { ...row, packageId }, { requestId, why: hand.reason })
      break
    }
    case 'leave':
      await requireOrganisation(ports, batch)
      await decideToLeave(ports, row, { by, why: hand.reason ?? 'a person decided to drop it' })
      break
    case 'order':
      return orderAgain(ports, batch, row, answer.confirmedEmail, hand.reason)
    case undefined: {
      const failure = new OutcomeUnknownError(`row ${row.row} is still not settled`, {
        hint: threeAnswers(row, row.recipient?.email),
        order: { batchId: batch.id, row: row.row },
      })
      return { batch, failure }
    }
  }
  const settled = await findBatch(ports, batch.id)
  await renewResults(ports, settled)
  return { batch: settled, failure: undefined }
}

/** A decision about a row changes nothing before it is clear that the key belongs to the batch's organisation. */
async function requireOrganisation(ports: StartPorts, batch: Batch): Promise<void> {
  const confirm = confirmStarterLeft(ports.prompter, ports.api)
  const failure = await requireSameOrganisation(ports, batch, confirm)
  if (failure !== undefined) throw failure
}

async function orderAgain(
  ports: StartPorts,
  batch: Batch,
  row: BatchRow,
  typed: string | undefined,
  reason: string | undefined,
): Promise<CarriedOut> {
  const now = ports.clock.now()
  requireSendable(row, now - Math.max(0, await ports.ledger.clockAheadMs(now)))
  await requireOrganisation(ports, batch)
  const confirmedEmail = typed ?? (await typedEmail(ports, row))
  const hold = await ports.ledger.hold(batch)
  if (hold === undefined) throw heldElsewhere(batch)
  try {
    const word = { by: ports.api.userEmail, why: reason ?? 'a person decided to send it again' }
    await decideToOrder(ports, row, confirmedEmail, word)
  } finally {
    if (batch.kind === 'file' || row.recipient === undefined) await hold.release()
  }
  if (row.recipient === undefined) {
    const closed = await findBatch(ports, batch.id)
    await renewResults(ports, closed)
    return { batch: closed, failure: undefined }
  }
  // Somebody may have ordered it meanwhile, with a store of their own.
  if (batch.kind === 'file') await hearAgain(ports, ports.place, batch)
  return startBatch(ports, batch.id, {
    only: row.row,
    held: batch.kind === 'single' ? hold : undefined,
    isOrganisationChecked: true,
  })
}

async function typedEmail({ prompter, onNotice }: StartPorts, { row, recipient }: BatchRow): Promise<string> {
  if (prompter === undefined) {
    throw new UsageError('there is no terminal to confirm the recipient’s e-mail on', {
      hint: 'Nothing was done. Run it again with --confirm-email EMAIL.',
    })
  }
  if (recipient === undefined) {
    return prompter.text({ message: `Type the e-mail of row ${row}’s recipient to close the row:` })
  }
  onNotice({ name: 'may-order-again', row })
  return prompter.text({ message: `Type the e-mail of row ${row}’s recipient to send it again:` })
}
