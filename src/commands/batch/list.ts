import { BaseCommand } from '../../cli/base-command.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { batchListView } from '../../output/views/batches.ts'
import { listBatches } from '../../usecases/batch/read-batch.ts'

export default class BatchList extends BaseCommand<typeof BatchList> {
  static override summary = 'List the batches, newest first'
  static override examples = ['refcheck batch list', 'refcheck batch list --json']
  static override flags = { ...listFlags }

  async run(): Promise<void> {
    this.answerList(batchListView(await listBatches(await this.app.batchServices())))
  }
}
