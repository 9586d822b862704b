import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { longTimeoutFlag, batchArgs } from '../../cli/flags/values.ts'
import { runBatch, createStartServices } from '../../app/batch.ts'
import { orderQuestion } from '../../domain/submission/confirmation.ts'
import { findBatch, findBatchToRun } from '../../usecases/batch/read-batch.ts'
import { readOrdersToConfirm } from '../../usecases/batch/packages.ts'
import { updateExternalResults } from '../../usecases/batch/external-results.ts'

export default class BatchResume extends BaseCommand<typeof BatchResume> {
  static override summary = 'Resume a batch that was stopped or halted'
  static override description =
    'Sends the rows that are still pending, as "refcheck batch run" of the same file does. No row is ordered twice.'
  static override examples = ['refcheck batch resume 3f2b8c1e --yes']
  static override args = batchArgs
  static override flags = {
    max: Flags.integer({ summary: 'Stop after this many orders', helpValue: 'N', min: 1 }),
    yes: Flags.boolean({ summary: 'Skip the confirmation' }),
    timeout: longTimeoutFlag,
  }

  async run(): Promise<void> {
    const { app, flags } = this
    const batchServices = await app.services(
      'batches',
      'heldRows',
      'ledger',
      'clock',
      'packageNames',
      'files',
    )
    const services = await createStartServices(app, this.signal)
    const batchBefore = await findBatch(batchServices, this.args.batch_id)
    await updateExternalResults(services, services.files, batchBefore)
    const batch = await findBatchToRun(batchServices, batchBefore.id)
    const { pending } = batch.counts
    if (pending > 0 && !flags.yes) {
      const orders = await readOrdersToConfirm(services, batch)
      await this.confirm(orderQuestion({ ...orders, max: flags.max }, await app.service('api')), false)
    }
    const options = { maxOrders: flags.max, isJson: flags.json, reportsUnreadResults: false }
    this.answer(...(await runBatch(app, this.signal, batch.id, options)))
  }
}
