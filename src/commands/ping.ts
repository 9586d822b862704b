import { BaseCommand } from '../cli/base-command.ts'
import { timeoutFlag } from '../cli/flags/values.ts'
import { pingView } from '../output/views/account.ts'
import { resolveBaseUrl } from '../usecases/session/resolve.ts'

export default class Ping extends BaseCommand<typeof Ping> {
  static override summary = 'Check that the service is up, and how fast it answers'
  static override description =
    'Calls GET /v1/ping, which needs no key and uses no quota. It says nothing about the partners behind the API.'
  static override examples = ['refcheck ping', 'refcheck ping --json']
  static override flags = { timeout: timeoutFlag }

  async run(): Promise<void> {
    const { connect, ...sources } = await this.app.services('settings', 'env', 'profile', 'connect')
    const api = connect({ baseUrl: await resolveBaseUrl(sources) })
    const answer = await api.ping(this.signal)
    this.answer(pingView({ base_url: api.baseUrl, ...answer }))
  }
}
