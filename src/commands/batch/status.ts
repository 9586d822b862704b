import { BaseCommand } from '../../cli/base-command.ts'
import { batchIdArg } from '../../cli/flags/identifiers.ts'
import { Flags } from '../../cli/oclif.ts'
import { followedBatchView } from '../../output/views/batches.ts'
import { findBatch, watchBatch } from '../../usecases/batch/read-batch.ts'
import { batchWatching } from '../../app/batch-watch.ts'
import { readBatchProgress } from '../../usecases/overview/read.ts'
import { batchView } from '../../app/batch.ts'

export default class BatchStatus extends BaseCommand<typeof BatchStatus> {
  static override summary = 'Show the progress of a batch, and what needs a person'
  static override description =
    'Rows by state, requests and their single checks by status as last read, and what to do about each person who needs somebody. Reads only the store and makes no call; read statuses again with "refcheck request list --batch BATCH_ID --refresh". Checks are known of requests that were read since their status last changed: an event of "webhook listen" says nothing of them. --watch follows a batch that another process is running.'
  static override examples = [
    '<%= config.bin %> batch status 3f2b8c1e',
    '<%= config.bin %> batch status 3f2b8c1e --watch',
  ]
  static override args = {
    batch_id: batchIdArg({ required: true, description: 'id of a batch, or the start of it' }),
  }
  static override flags = {
    watch: Flags.boolean({ summary: 'Follow the batch until the run ends' }),
  }

  async run(): Promise<void> {
    const stored = await this.app.services('batches', 'waiting', 'ledger', 'clock')
    const batch = await findBatch(stored, this.args.batch_id)
    const services = await this.app.services('ledger', 'batches', 'inboxToShow', 'clock')
    if (this.flags.watch) {
      const options = await batchWatching(this.app, batch.baseUrl)
      await watchBatch(stored, batch.id, {
        ...options,
        signal: this.signal,
        read: (one) => readBatchProgress(services, one),
      })
    }
    const now = await findBatch(stored, batch.id)
    const statusView = await batchView(this.app, now, this.flags.json)
    this.answer(followedBatchView(statusView, await readBatchProgress(services, now)))
  }
}
