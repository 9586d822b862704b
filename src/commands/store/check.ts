import { Flags } from '@oclif/core'

import { BaseCommand } from '../../cli/base-command.ts'
import { findingsOf, unsound } from '../../domain/store/check.ts'
import { storeCheckView } from '../../output/views/store.ts'
import { store } from '../../compose/store.ts'

export default class StoreCheck extends BaseCommand<typeof StoreCheck> {
  static override summary = 'Check that the store is sound.'
  static override description =
    'Reads all of it: the database’s own check, what refers to what, and the body of every order against its hash. A store put back from a backup, which does not know of orders made since, is found too, and takes no orders until --accept-older. Exit 1 where something is wrong.'
  static override examples = ['<%= config.bin %> store check']
  static override flags = {
    'accept-older': Flags.boolean({ summary: 'Go on with a store put back from a backup.' }),
    yes: Flags.boolean({ summary: 'Accept it without a question.', dependsOn: ['accept-older'] }),
  }

  async run(): Promise<void> {
    const { upkeep, location } = await store(this.scope)
    if (this.flags['accept-older']) {
      await this.confirm('Order though the store does not know of all orders made with it?', this.flags.yes)
      await upkeep.acceptOlder()
    }
    const damage = await upkeep.check()
    const findings = findingsOf(damage, await upkeep.missingRuns())
    this.answer(storeCheckView(location, findings), unsound(location, damage, findings))
  }
}
