import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { BatchWatch, followedBatchView } from '../../output/views/progress.ts'
import { findBatch, watchBatch } from '../../usecases/batch/read-batch.ts'
import { readBatchProgress } from '../../usecases/overview/read.ts'
import { batchView } from '../../app/batch.ts'
import { createSendTimeEstimate } from '../../app/request.ts'
import { progressOf } from '../../domain/batch/run-policy.ts'

export default class BatchStatus extends BaseCommand<typeof BatchStatus> {
  static override summary = 'Show the progress of a batch, and what needs a person'
  static override description =
    'Rows by state, requests and their single checks by status as last read, and what to do about each person who needs somebody. Reads only the store and makes no call; read statuses again with "refcheck request list --batch BATCH_ID --refresh". Checks are known of requests that were read since their status last changed: an event of "webhook listen" says nothing of them. --watch follows a batch that another process is running.'
  static override examples = ['refcheck batch status 3f2b8c1e', 'refcheck batch status 3f2b8c1e --watch']
  static override args = batchArgs
  static override flags = {
    watch: Flags.boolean({ summary: 'Follow the batch until the run ends' }),
  }

  async run(): Promise<void> {
    const batchServices = await this.app.batchServices()
    const batch = await findBatch(batchServices, this.args.batch_id)
    const services = await this.app.services(
      'ledger',
      'batches',
      'heldRows',
      'redactedInbox',
      'clock',
      'files',
    )
    if (this.flags.watch) {
      const watch = new BatchWatch(this.app.reporter, this.context.clock)
      const secondsForCreates = await createSendTimeEstimate(this.app, batch.baseUrl)
      await watchBatch(batchServices, batch.id, {
        signal: this.signal,
        read: (readBatch) => readBatchProgress(services, readBatch),
        async onPoll(polledBatch, overview) {
          const { counts } = polledBatch
          const progress = progressOf(counts, await secondsForCreates(counts.pending))
          watch.show({
            ...overview,
            batch: polledBatch,
            progress,
            secondsToNext: await secondsForCreates(1),
          })
        },
      })
    }
    const latestBatch = await findBatch(batchServices, batch.id)
    const statusView = await batchView(this.app, latestBatch, this.flags.json)
    this.answer(followedBatchView(statusView, await readBatchProgress(services, latestBatch)))
  }
}
