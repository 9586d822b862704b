import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/values.ts'
import { readSessionStatus } from '../../usecases/session/login.ts'
import { statusView } from '../../output/views/account.ts'

export default class AuthStatus extends BaseCommand<typeof AuthStatus> {
  static override summary = 'Show the profile in use and whether its key works'
  static override description = 'Makes one call. Only the last four characters of the key are shown.'
  static override examples = ['refcheck auth status', 'refcheck auth status --profile acme --json']
  static override flags = { timeout: timeoutFlag }

  async run(): Promise<void> {
    const services = await this.app.services('settings', 'secrets', 'env', 'profile', 'connect')
    const { status, error } = await readSessionStatus({ ...services, signal: this.signal })
    this.answer(statusView(status), error)
  }
}
