import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { updateResultsFile, statusWithPackage } from '../../app/batch.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { perhapsOrderedError } from '../../domain/batch/held-question.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { cancelBatch, describeFreedRows } from '../../usecases/batch/change-batch.ts'
import {
  describeCancelledRows,
  describeWaitingRows,
  findBatch,
  listHeld,
} from '../../usecases/batch/read-batch.ts'
import { hintToOrderCancelled } from '../../domain/batch/verdict.ts'
import type { Batch } from '../../domain/batch/batch.ts'

/** `numbers`: the cancelled rows. */
async function cancelledText(
  services: Parameters<typeof describeFreedRows>[0],
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
    ...(await describeFreedRows(services, batch.id)),
  ].join('\n')
}

export default class BatchCancel extends BaseCommand<typeof BatchCancel> {
  static override summary = 'Cancel the rows of a batch that were not sent'
  static override description =
    'What was ordered stays ordered: the API cannot cancel an order. Rows with an unknown outcome also stay until they are settled, and so do rows that are held because a backup was restored: they may have been ordered.'
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
    const { numbers, people } = await describeWaitingRows(services, batch)
    if (numbers.length > 0) {
      await this.confirm(
        `Cancel ${numbers.length === 1 ? 'the row' : `the ${numbers.length} rows`} of ${batch.name} not sent yet (${people})?`,
        yes,
      )
    }
    // Called even if no row waits, because a row that another process is sending may return to the queue.
    const cancelledCount = await cancelBatch(services, batch)
    if (cancelledCount > 0) await updateResultsFile(this.app, batch)
    const failure = perhapsOrderedError(await listHeld(services, batch))
    if (cancelledCount > 0) this.app.reporter.note(await cancelledText(services, batch, numbers))
    else if (failure === undefined)
      this.app.reporter.note('No row is waiting to be sent; there is nothing to cancel.')
    const status = await statusWithPackage(this.app, await findBatch(services, batch.id))
    this.answer(batchStatusView(status), failure)
  }
}
