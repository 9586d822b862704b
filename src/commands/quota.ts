import { BaseCommand } from '../cli/base-command.ts'
import { quotaView } from '../output/views/quota.ts'
import { governor } from '../compose/api.ts'

export default class Quota extends BaseCommand<typeof Quota> {
  static override summary = 'Show the quota of the key in use, as this store has seen it.'
  static override description =
    'Calls of every command on this store with this key; no call is made for it. What others do with the key shows only once the service refuses a call: what it then says wins over what was counted here.'
  static override examples = ['<%= config.bin %> quota', '<%= config.bin %> quota --json']

  async run(): Promise<void> {
    const quota = await governor(this.scope)
    this.answer(quotaView(await quota.standing(), this.context.clock.now()))
  }
}
