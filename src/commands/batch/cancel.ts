import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { updateResultsFile } from '../../app/batch.ts'
import { statusOf } from '../../domain/batch/batch-status.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { cancelBatch } from '../../usecases/batch/change-batch.ts'
import { findBatch } from '../../usecases/batch/read-batch.ts'

const cancelledText = (rows: number): string =>
  `Cancelled ${formatCount(rows, 'row')}; ${rows === 1 ? 'it' : 'they'} will not be sent.`

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
    const stored = await this.app.batchServices()
    const batch = await findBatch(stored, this.args.batch_id)
    const { row, yes } = this.flags
    if (row !== undefined) {
      // Rows before one that cannot be cancelled are cancelled.
      try {
        this.app.reporter.note(cancelledText(await cancelBatch(stored, batch, row)))
      } finally {
        await updateResultsFile(this.app, batch)
      }
      return this.answer(batchStatusView(statusOf(await findBatch(stored, batch.id))))
    }
    const { pending, held, duplicate } = batch.counts
    const waiting = pending + held + duplicate
    if (waiting > 0) {
      await this.confirm(
        `Cancel ${waiting === 1 ? 'the row' : `the ${waiting} rows`} of ${batch.name} not sent yet?`,
        yes,
      )
    }
    // Where none waits, one that another process sends now may still come back.
    const cancelled = await cancelBatch(stored, batch)
    if (cancelled > 0) await updateResultsFile(this.app, batch)
    this.app.reporter.note(
      cancelled === 0
        ? 'No row is waiting to be sent; there is nothing to cancel.'
        : cancelledText(cancelled),
    )
    this.answer(batchStatusView(statusOf(await findBatch(stored, batch.id))))
  }
}
