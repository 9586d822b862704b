import { formatCount } from '../../domain/wording/text.ts'
import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { updateResultsFile, statusWithPackage } from '../../app/batch.ts'
import { batchResultView, batchStatusView, unfinishedText } from '../../output/views/batches.ts'
import { retryBatch } from '../../usecases/batch/change-batch.ts'
import { countOrdered, findBatch } from '../../usecases/batch/read-batch.ts'

export default class BatchRetry extends BaseCommand<typeof BatchRetry> {
  static override summary = 'Queue rejected rows of a batch again'
  static override description =
    'For rows that the service rejected for a reason outside the file, such as missing credits. "refcheck batch resume" then sends them. If the row itself is wrong, fix the file and run it again: what was accepted is not ordered twice.'
  static override examples = ['refcheck batch retry 3f2b8c1e', 'refcheck batch retry 3f2b8c1e --row 12']
  static override args = batchArgs
  static override flags = {
    row: Flags.integer({
      summary: 'Only this row; repeatable',
      helpValue: 'N',
      multiple: true,
      min: 1,
    }),
  }

  async run(): Promise<void> {
    // Throws if the account in use was not added to the store.
    await this.app.service('account')
    const services = await this.app.batchServices()
    const batch = await findBatch(services, this.args.batch_id)
    const queuedCount = await retryBatch(services, batch, this.flags.row)
    if (queuedCount > 0) await updateResultsFile(this.app, batch)
    this.app.reporter.note(
      queuedCount === 0
        ? 'No rejected rows to queue.'
        : `Queued ${formatCount(queuedCount, 'rejected row')}.`,
    )
    const updatedBatch = await findBatch(services, batch.id)
    const { id, name, counts } = updatedBatch
    const status = batchStatusView(await statusWithPackage(this.app, updatedBatch))
    if (queuedCount === 0 && counts.pending === 0) return this.answer(status)
    const ordered = await countOrdered(services, updatedBatch)
    const text = unfinishedText(name, counts, ordered)
    this.answer(batchResultView(status, text, `refcheck batch resume ${id}`))
  }
}
