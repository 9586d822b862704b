import { BaseCommand } from '../cli/base-command.ts'
import { overviewPorts, quotaInUse } from '../compose/overview.ts'
import { overviewView } from '../output/views/overview.ts'
import { readOverview } from '../usecases/overview/read.ts'

export default class Status extends BaseCommand<typeof Status> {
  static override summary = 'Show what is in flight and what needs a person'
  static override description =
    'One screen for the morning, over everything this store knows: requests and batches in flight, what needs a person with the command for each, the quota, and the newest reports. Reads only the store and makes no call; statuses are as last read.'
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --json']

  async run(): Promise<void> {
    const overview = await readOverview(await overviewPorts(this.scope))
    const quota = await quotaInUse(this.scope)
    this.answer(overviewView(overview, quota, this.context.clock.now()))
  }
}
