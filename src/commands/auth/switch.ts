import { BaseCommand } from '../../cli/base-command.ts'
import { Args } from '../../cli/oclif.ts'
import { switchTo } from '../../usecases/session/profiles.ts'
import { switchView } from '../../output/views/auth.ts'
import { sessionSources } from '../../compose/session.ts'

export default class AuthSwitch extends BaseCommand<typeof AuthSwitch> {
  static override summary = 'Use another profile from now on'
  static override examples = ['<%= config.bin %> auth switch acme']
  static override args = {
    name: Args.string({ required: true, description: 'name of the profile', ignoreStdin: true }),
  }

  async run(): Promise<void> {
    this.answer(switchView(await switchTo(this.args.name, await sessionSources(this.scope))))
  }
}
