import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { updateResultsFile, statusWithPackage } from '../../app/batch.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { cancelBatch } from '../../usecases/batch/change-batch.ts'
import { describeWaitingRows, findBatch, type WaitingRows } from '../../usecases/batch/read-batch.ts'
import { hintToOrderCancelled } from '../../domain/batch/verdict.ts'
import type { Batch } from '../../domain/batch/batch.ts'

/** `notOrdered`: the people of these rows who have no earlier order. */
const cancelledText = (
  rows: number,
  { notOrdered, areAllOrdered }: Pick<WaitingRows, 'notOrdered' | 'areAllOrdered'>,
  { id }: Pick<Batch, 'id'>,
): string =>
  [
    `Cancelled ${formatCount(rows, 'row')}; ${rows === 1 ? 'it' : 'they'} will not be sent.`,
    ...(areAllOrdered
      ? [
          `${rows === 1 ? 'The person was' : 'All of these people were'} ordered before. List the orders with: refcheck request list`,
        ]
      : []),
    ...(notOrdered === '' ? [] : [hintToOrderCancelled(id, notOrdered)]),
  ].join('\n')

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
        const people = await describeWaitingRows(services, batch, row)
        this.app.reporter.note(cancelledText(await cancelBatch(services, batch, row), people, batch))
      } finally {
        await updateResultsFile(this.app, batch)
      }
      return this.answer(
        batchStatusView(await statusWithPackage(this.app, await findBatch(services, batch.id))),
      )
    }
    const { pending, held, duplicate } = batch.counts
    const waitingCount = pending + held + duplicate
    const people = await describeWaitingRows(services, batch)
    if (waitingCount > 0) {
      await this.confirm(
        `Cancel ${waitingCount === 1 ? 'the row' : `the ${waitingCount} rows`} of ${batch.name} not sent yet (${people.all})?`,
        yes,
      )
    }
    // Called even if no row waits, because a row that another process is sending may return to the queue.
    const cancelledCount = await cancelBatch(services, batch)
    if (cancelledCount > 0) await updateResultsFile(this.app, batch)
    this.app.reporter.note(
      cancelledCount === 0
        ? 'No row is waiting to be sent; there is nothing to cancel.'
        : cancelledText(cancelledCount, people, batch),
    )
    this.answer(batchStatusView(await statusWithPackage(this.app, await findBatch(services, batch.id))))
  }
}
