import { resolve } from 'node:path'

import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import { readSecretLine } from '../../app/input.ts'
import { findAccountChangeWarning, setSetting } from '../../usecases/session/settings.ts'
import { saveWebhookSecret } from '../../usecases/session/webhook-secret.ts'
import { changedView } from '../../output/views/account.ts'
import { parseAccountName, settingDefinitions } from '../../domain/session/setting-keys.ts'

const secretKey = 'webhook-secret'

export default class ConfigSet extends BaseCommand<typeof ConfigSet> {
  static override summary = 'Change a setting, for all profiles or with --profile for one'
  static override description =
    'The webhook secret is refused as an argument: "config set webhook-secret" asks for it, or reads it from stdin, and keeps it with the profile’s key.'
  static override examples = [
    'refcheck config set package 102',
    'refcheck config set output-dir reports --profile acme',
    'refcheck config set webhook-secret < secret.txt',
  ]
  static override args = {
    key: Args.string({
      required: true,
      description: 'name of the setting (see: refcheck config list)',
      ignoreStdin: true,
    }),
    value: Args.string({ description: 'the new value', ignoreStdin: true }),
  }
  static override flags = { yes: Flags.boolean({ summary: 'Skip the confirmation of another account' }) }

  async run(): Promise<void> {
    const { key, value } = this.args
    if (key === secretKey) return this.setSecret(value)
    const sources = await this.app.sessionSources()
    this.refuseIf(
      value === undefined,
      `${key}: the value is missing`,
      `Set it with: refcheck config set ${key} VALUE`,
    )
    const isPath = settingDefinitions.some((each) => each.key === key && each.isPath)
    const isAddress = /^postgres(ql)?:/i.test(value ?? '')
    const text = isPath && !isAddress ? resolve(this.context.cwd, value ?? '') : (value ?? '')
    if (key === 'account') await this.confirmAccount(parseAccountName(text))
    const storedValue = await setSetting(sources, key, text)
    this.answer(
      changedView({ key, value: storedValue, profile: sources.profile ?? null }, `${key} is ${storedValue}`),
    )
    if (key !== 'retention') return
    this.app.note(
      'Nothing is removed by this alone. A worker removes what is older once a day; without one, run every night: refcheck store purge --yes',
    )
  }

  private async confirmAccount(to: string): Promise<void> {
    const { settings, profile } = await this.app.services('settings', 'profile')
    const warning = await findAccountChangeWarning(() => this.app.openStoreForCompletion(), {
      from: await settings.value('account', profile),
      to,
    })
    if (warning === undefined) return
    this.app.note(warning)
    await this.confirm(`Change the account to "${to}"?`, this.flags.yes)
  }

  private async setSecret(value: string | undefined): Promise<void> {
    this.refuseIf(
      value !== undefined,
      'a webhook secret is refused on the command line',
      'Type it at the prompt, or pipe it in: refcheck config set webhook-secret < secret.txt',
    )
    const prompter = this.app.prompter()
    const secret =
      prompter === undefined
        ? await readSecretLine(this.context, 'the webhook secret')
        : await prompter.secret({ message: 'Webhook secret (not shown)' })
    const { profile, storage } = await saveWebhookSecret({
      ...(await this.app.sessionSources()),
      secret,
    })
    const target = storage === 'keychain' ? 'the system keychain' : 'a private file'
    this.answer(
      changedView(
        { key: secretKey, profile, kept_in: storage },
        `The webhook secret of profile "${profile}" is kept in ${target}.`,
      ),
    )
  }
}
