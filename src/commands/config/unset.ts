import { BaseCommand } from '../../cli/base-command.ts'
import { Args } from '../../cli/oclif.ts'
import { unsetSetting } from '../../usecases/session/settings.ts'
import { forgetWebhookSecret } from '../../usecases/session/webhook-secret.ts'
import { changedView } from '../../output/views/config.ts'
import { sessionSources } from '../../compose/session.ts'

export default class ConfigUnset extends BaseCommand<typeof ConfigUnset> {
  static override summary = 'Remove a setting'
  static override examples = [
    '<%= config.bin %> config unset package',
    '<%= config.bin %> config unset webhook-secret',
  ]
  static override args = {
    key: Args.string({
      required: true,
      description: 'name of the setting (see: refcheck config list)',
      ignoreStdin: true,
    }),
  }

  async run(): Promise<void> {
    const { key } = this.args
    const sources = await sessionSources(this.scope)
    const removed =
      key === 'webhook-secret'
        ? (await forgetWebhookSecret(sources)).removed
        : await unsetSetting(sources, key)
    this.answer(changedView({ key, removed }, removed ? `${key} is no longer set` : `${key} was not set`))
  }
}
