import { Args, BaseCommand } from '../../cli/base-command.ts'
import { askProfile, switchProfile } from '../../usecases/session/profiles.ts'
import { switchView } from '../../output/views/account.ts'

export default class AuthSwitch extends BaseCommand<typeof AuthSwitch> {
  static override summary = 'Use another profile from now on'
  static override description = 'On a terminal, without a name, it offers the list.'
  static override examples = ['refcheck auth switch', 'refcheck auth switch acme']
  static override args = {
    name: Args.string({ description: 'name of the profile', ignoreStdin: true }),
  }

  async run(): Promise<void> {
    const sources = await this.app.sessionSources()
    const name = this.args.name ?? (await askProfile(this.app.prompter(), sources))
    this.answer(switchView(await switchProfile(name, sources)))
  }
}
