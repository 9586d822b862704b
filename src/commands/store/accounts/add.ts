import { Args, BaseCommand } from '../../../cli/base-command.ts'
import { parseAccountName } from '../../../domain/session/setting-keys.ts'
import { storeAccountAddedView } from '../../../output/views/store.ts'

export default class StoreAccountsAdd extends BaseCommand<typeof StoreAccountsAdd> {
  static override summary = 'Add an account to the store'
  static override description =
    'Orders may name it from then on. Nobody is known under a new account: whoever was ordered under another one can be ordered again.'
  static override examples = ['refcheck store accounts add acme']
  static override args = {
    name: Args.string({
      required: true,
      description: '1 to 64 letters a to z, digits and . _ -',
      ignoreStdin: true,
    }),
  }

  async run(): Promise<void> {
    const name = parseAccountName(this.args.name)
    const accounts = await this.app.service('accounts')
    const added = await accounts.add(name, this.app.context.clock.now())
    this.answer(storeAccountAddedView(name, added))
  }
}
