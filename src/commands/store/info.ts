import { BaseCommand } from '../../cli/base-command.ts'
import { storeInfoView } from '../../output/views/store.ts'

export default class StoreInfo extends BaseCommand<typeof StoreInfo> {
  static override summary = 'Show where the store is, its size and contents'
  static override description =
    'The store records every order made with it, the received events, and the quota. REFCHECK_STORE or the setting "store" chooses another file, or a PostgreSQL database.'
  static override examples = ['refcheck store info']

  async run(): Promise<void> {
    const maintenance = await this.app.service('maintenance')
    this.answer(storeInfoView(await maintenance.info()))
  }
}
