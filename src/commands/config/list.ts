import { BaseCommand } from '../../cli/base-command.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { listSettings } from '../../usecases/session/settings.ts'
import { settingsView } from '../../output/views/account.ts'
import { settingDefinitions } from '../../domain/session/setting-keys.ts'

export default class ConfigList extends BaseCommand<typeof ConfigList> {
  static override summary = 'List the settings and their values'
  static override description =
    'A value set for a profile overrides one set for all. Flags and the environment override both.'
  static override examples = ['refcheck config list', 'refcheck config list --profile acme --json']
  static override flags = listFlags

  async run(): Promise<void> {
    const rows = await listSettings(await this.app.sessionSources(), settingDefinitions)
    this.answerList(settingsView(rows))
  }
}
