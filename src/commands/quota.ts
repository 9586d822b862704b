import { BaseCommand } from '../cli/base-command.ts'
import { quotaView } from '../output/views/overview.ts'

export default class Quota extends BaseCommand<typeof Quota> {
  static override summary = 'Show how much of the quota is left'
  static override description =
    'Counts the calls that every command on this store made with this key, and makes no call. Calls made elsewhere with the same key are seen only when the service refuses a call; what it then says overrides the count.'
  static override examples = ['refcheck quota', 'refcheck quota --json']

  async run(): Promise<void> {
    const quota = await this.app.service('governor')
    this.answer(quotaView(await quota.status(), this.context.clock.now()))
  }
}
