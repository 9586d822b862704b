import { Args, BaseCommand } from '../../cli/base-command.ts'
import { getSetting } from '../../usecases/session/settings.ts'
import { settingView } from '../../output/views/account.ts'

export default class ConfigGet extends BaseCommand<typeof ConfigGet> {
  static override summary = 'Print the value of a setting'
  static override description = 'Exit 5 if it is not set.'
  static override examples = ['refcheck config get package']
  static override args = {
    key: Args.string({
      required: true,
      description: 'name of the setting (see: refcheck config list)',
      ignoreStdin: true,
    }),
  }

  async run(): Promise<void> {
    const { key } = this.args
    this.answer(settingView(key, await getSetting(await this.app.sessionSources(), key)))
  }
}
