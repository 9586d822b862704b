import { BaseCommand } from '../../cli/base-command.ts'
import { unsound } from '../../domain/upkeep/check.ts'
import { storeCheckView } from '../../output/views/store.ts'

export default class StoreCheck extends BaseCommand<typeof StoreCheck> {
  static override summary = 'Check that the store is sound.'
  static override description =
    'Reads all of it: the database’s own check, what refers to what, and the body of every order against its hash. Exit 1 where something is wrong.'
  static override examples = ['<%= config.bin %> store check']

  async run(): Promise<void> {
    const { upkeep, location } = await this.services.store()
    const findings = await upkeep.check()
    this.answer(storeCheckView(location, findings), unsound(location, findings))
  }
}
