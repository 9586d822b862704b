import { BaseCommand } from '../cli/base-command.ts'
import { timeoutFlag } from '../cli/flags/duration.ts'
import { pingView } from '../output/views/ping.ts'
import { publicApi } from '../compose/api.ts'

export default class Ping extends BaseCommand<typeof Ping> {
  static override summary = 'Is the service up, and how fast does it answer?'
  static override description =
    'Asks GET /v1/ping. It needs no key and costs no quota; it tells of the API itself, not of the partners behind it.'
  static override examples = ['<%= config.bin %> ping', '<%= config.bin %> ping --json']
  static override flags = { timeout: timeoutFlag }

  async run(): Promise<void> {
    const api = await publicApi(this.scope)
    const answer = await api.ping(this.signal)
    this.answer(pingView({ base_url: api.baseUrl, ...answer }))
  }
}
