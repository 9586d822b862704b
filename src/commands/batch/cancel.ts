import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { updateResultsFile, statusWithPackage } from '../../app/batch.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { cancelBatch } from '../../usecases/batch/change-batch.ts'
import { describeCancelledRows, describeWaitingRows, findBatch } from '../../usecases/batch/read-batch.ts'
import { hintToOrderCancelled } from '../../domain/batch/verdict.ts'
import type { Batch } from '../../domain/batch/batch.ts'

/** `numbers`: the cancelled rows. */
async function cancelledText(
  services: Parameters<typeof describeCancelledRows>[0],
  batch: Batch,
  numbers: readonly number[],
): Promise<string> {
  const { notOrdered, perhapsOrdered, decisionHint, areAllOrdered } = await describeCancelledRows(
    services,
    batch,
    numbers,
  )
  const rows = numbers.length
  const rowsText = `Cancelled ${formatCount(rows, 'row')}`
  if (areAllOrdered)
    return [
      `${rowsText}. ${rows === 1 ? 'The person is' : 'All of these people are'} ordered by another row or command.`,
      'List the orders with: refcheck request list',
    ].join('\n')
  return [
    `${rowsText}; ${rows === 1 ? 'it' : 'they'} will not be sent.`,
    ...(perhapsOrdered === ''
      ? []
      : [`May have been ordered by another row or command: ${perhapsOrdered}`, decisionHint]),
    ...(notOrdered === '' ? [] : [hintToOrderCancelled(batch.id, notOrdered)]),
  ].join('\n')
}

export default class BatchCancel extends BaseCommand<typeof BatchCancel> {
  static override summary = 'Cancel the rows of a batch that were not sent'
  static override description =
    'What was ordered stays ordered: the API cannot cancel an order. Rows with an unknown outcome also stay until they are settled.'
  static override examples = ['refcheck batch cancel 3f2b8c1e --yes']
  static override args = batchArgs
  static override flags = {
    row: Flags.integer({ summary: 'Only this row; repeatable', helpValue: 'N', multiple: true, min: 1 }),
    yes: Flags.boolean({ summary: 'Skip the confirmation' }),
  }

  async run(): Promise<void> {
    const services = { ...(await this.app.batchServices()), ...(await this.app.services('files')) }
    const batch = await findBatch(services, this.args.batch_id)
    const { row, yes } = this.flags
    if (row !== undefined) {
      // If a row cannot be cancelled, the rows before it are cancelled already.
      try {
        await cancelBatch(services, batch, row)
        this.app.reporter.note(await cancelledText(services, batch, row))
      } finally {
        await updateResultsFile(this.app, batch)
      }
      return this.answer(
        batchStatusView(await statusWithPackage(this.app, await findBatch(services, batch.id))),
      )
    }
    const { pending, held, duplicate } = batch.counts
    const waitingCount = pending + held + duplicate
    const { numbers, people } = await describeWaitingRows(services, batch)
    if (waitingCount > 0) {
      await this.confirm(
        `Cancel ${waitingCount === 1 ? 'the row' : `the ${waitingCount} rows`} of ${batch.name} not sent yet (${people})?`,
        yes,
      )
    }
    // Called even if no row waits, because a row that another process is sending may return to the queue.
    const cancelledCount = await cancelBatch(services, batch)
    if (cancelledCount > 0) await updateResultsFile(this.app, batch)
    this.app.reporter.note(
      cancelledCount === 0
        ? 'No row is waiting to be sent; there is nothing to cancel.'
        : await cancelledText(services, batch, numbers),
    )
    this.answer(batchStatusView(await statusWithPackage(this.app, await findBatch(services, batch.id))))
  }
}
