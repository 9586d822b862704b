import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import { findAccountChangeWarning, unsetSetting } from '../../usecases/session/settings.ts'
import { removeWebhookSecret } from '../../usecases/session/webhook-secret.ts'
import { changedView } from '../../output/views/account.ts'

export default class ConfigUnset extends BaseCommand<typeof ConfigUnset> {
  static override summary = 'Remove a setting'
  static override examples = ['refcheck config unset package', 'refcheck config unset webhook-secret']
  static override args = {
    key: Args.string({
      required: true,
      description: 'name of the setting (see: refcheck config list)',
      ignoreStdin: true,
    }),
  }
  static override flags = { yes: Flags.boolean({ summary: 'Skip the confirmation of another account' }) }

  async run(): Promise<void> {
    const { key } = this.args
    const sources = await this.app.sessionSources()
    if (key === 'account' && sources.profile !== undefined) await this.confirmAccount(sources.profile)
    const isRemoved =
      key === 'webhook-secret'
        ? (await removeWebhookSecret(sources)).removed
        : await unsetSetting(sources, key)
    this.answer(
      changedView({ key, removed: isRemoved }, isRemoved ? `${key} is no longer set` : `${key} was not set`),
    )
  }

  /** Asks for confirmation, because the profile would use the account that is set for all profiles. */
  private async confirmAccount(profile: string): Promise<void> {
    const settings = await this.app.service('settings')
    const [from, to] = [await settings.value('account', profile), await settings.value('account')]
    const warning = await findAccountChangeWarning(() => this.app.openStoreForCompletion(), { from, to })
    if (warning === undefined) return
    this.app.note(warning)
    await this.confirm(`Change the account to "${to}"?`, this.flags.yes)
  }
}
