import { BaseCommand } from '../../cli/base-command.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { storeAccountsView } from '../../output/views/store.ts'

export default class StoreAccounts extends BaseCommand<typeof StoreAccounts> {
  static override summary = 'List the accounts of the store, with how many people each knows'
  static override description =
    'An account says whose people these are, where one store serves several organisations: REFCHECK_ACCOUNT or the setting "account" names it. A person is compared with those of the same account, and with those of orders without an account. An order under an account that the store does not have is refused, so that a misspelled name does not make everybody new. A store without orders adds the first account that an order names.'
  static override examples = ['refcheck store accounts', 'refcheck store accounts add acme']
  static override flags = listFlags

  async run(): Promise<void> {
    const accounts = await this.app.service('accounts')
    this.answerList(storeAccountsView(await accounts.list()))
  }
}
