import { Args, BaseCommand } from '../../cli/base-command.ts'
import { logout } from '../../usecases/session/profiles.ts'
import { logoutView } from '../../output/views/account.ts'
import { openRowsNote } from '../../app/store.ts'

export default class AuthLogout extends BaseCommand<typeof AuthLogout> {
  static override summary = 'Remove a profile, its key and its webhook secret'
  static override description =
    'The key itself stays valid at the service. An Owner revokes it by generating a new one.'
  static override examples = ['refcheck auth logout', 'refcheck auth logout acme']
  static override args = {
    name: Args.string({ description: 'name of the profile (default: the one in use)', ignoreStdin: true }),
  }

  async run(): Promise<void> {
    const sources = await this.app.sessionSources()
    const profiles = await sources.settings.profiles()
    const result = await logout({ ...sources, name: this.args.name })
    this.answer(logoutView(result))
    const note = await openRowsNote(this.app, profiles.get(result.profile)?.baseUrl)
    if (note !== undefined) this.app.note(note)
  }
}
