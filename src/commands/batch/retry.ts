import type { Batch, BatchCounts } from '../../domain/batch/batch.ts'
import type { ConflictCounts } from '../../domain/batch/conflict-counts.ts'
import { sameAsUnknownError } from '../../domain/batch/verdict.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { updateResultsFile, statusWithPackage } from '../../app/batch.ts'
import { countUnread } from '../../app/overview.ts'
import { batchResultView, batchStatusView, unfinishedText } from '../../output/views/batches.ts'
import { retryBatch } from '../../usecases/batch/change-batch.ts'
import { countOrdered, findBatch } from '../../usecases/batch/read-batch.ts'

/**
 * Returns why no row became pending. `batch` is the batch before the command, and `after` its counts after it.
 * `unknown`: the rows that are duplicates of orders with an unknown outcome.
 */
function unchangedText(batch: Batch, after: BatchCounts, unknown: ConflictCounts['unknown']): string {
  const { id, counts: before } = batch
  if (before.rejected === 0) return 'No row is rejected.'
  const { message, hint } = sameAsUnknownError(unknown)
  const unknownText = unknown.count === 0 ? '' : `\n${message}. ${hint}`
  const heldCount = after.held - before.held
  return heldCount > 0
    ? `${formatCount(heldCount, 'rejected row is', 'rejected rows are')} held now, for a decision: refcheck batch release ${id}`
    : `No rejected row is left to send: their people have other orders, or were removed.${unknownText}`
}

export default class BatchRetry extends BaseCommand<typeof BatchRetry> {
  static override summary = 'Make rejected rows of a batch ready to be sent again'
  static override description =
    'For rows that the service rejected for a reason outside the file, such as missing credits. The rows are pending then, and "refcheck batch resume" sends them. If the row itself is wrong, fix the file and run it again: what was accepted is not ordered twice.'
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
    const updatedBatch = await findBatch(services, batch.id)
    const { id, name, counts } = updatedBatch
    if (counts.rejected < batch.counts.rejected) await updateResultsFile(this.app, batch)
    this.app.reporter.note(
      queuedCount === 0
        ? unchangedText(batch, counts, (await services.heldRows.countConflicts(id)).unknown)
        : `${formatCount(queuedCount, 'rejected row is', 'rejected rows are')} pending again.`,
    )
    const unread = await countUnread(this.app)
    const status = batchStatusView(await statusWithPackage(this.app, updatedBatch), [], unread)
    if (queuedCount === 0 && counts.pending === 0) return this.answer(status)
    const ordered = await countOrdered(services, updatedBatch)
    const text = unfinishedText(name, counts, ordered)
    this.answer(batchResultView(status, text, `refcheck batch resume ${id}`))
  }
}
