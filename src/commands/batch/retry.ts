import { BaseCommand } from '../../cli/base-command.ts'
import { batchIdArg } from '../../cli/flags/identifiers.ts'
import { Flags } from '../../cli/oclif.ts'
import { statusOf } from '../../domain/batch/standing.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { retryBatch } from '../../usecases/batch/retry.ts'
import { findBatch } from '../../usecases/batch/standing.ts'
import { storedBatches } from '../../compose/store.ts'

export default class BatchRetry extends BaseCommand<typeof BatchRetry> {
  static override summary = 'Queue rejected rows of a batch again.'
  static override description =
    'For rows that the service refused for a reason outside the file. "refcheck batch resume" then sends them. A row that is wrong in itself is mended in the file, which is run again: what was accepted is not ordered twice.'
  static override examples = [
    '<%= config.bin %> batch retry 3f2b8c1e',
    '<%= config.bin %> batch retry 3f2b8c1e --row 12',
  ]
  static override args = {
    batch_id: batchIdArg({ required: true, description: 'batch, or the start of its id' }),
  }
  static override flags = {
    row: Flags.integer({
      summary: 'Only this row; may be repeated.',
      helpValue: 'N',
      multiple: true,
      min: 1,
    }),
  }

  async run(): Promise<void> {
    const stored = await storedBatches(this.scope)
    const batch = await findBatch(stored, this.args.batch_id)
    const queued = await retryBatch(stored, batch, this.flags.row)
    this.scope.reporter.note(
      queued === 0
        ? 'No rejected row was there to queue.'
        : `Queued ${queued} of ${batch.counts.rejected} rejected rows. Send them with: refcheck batch resume ${batch.id}`,
    )
    this.answer(batchStatusView(statusOf(await findBatch(stored, batch.id))))
  }
}
