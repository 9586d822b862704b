import { Flags } from '@oclif/core'

import { BaseCommand } from '../../cli/base-command.ts'
import { requireHere } from '../../domain/store/age.ts'
import { findingsOf, unsound } from '../../domain/store/check.ts'
import { store } from '../../compose/store.ts'
import { heldText, storeCheckView } from '../../output/views/store.ts'

export default class StoreCheck extends BaseCommand<typeof StoreCheck> {
  static override summary = 'Check the store for damage and missing orders'
  static override description =
    'Reads all of it: the database’s own check, the references between its tables, the body of every order against its hash, and the list of attempts that is kept outside the store. A store that does not know all of its attempts (a backup was put back, or a file of it removed) is closed: the attempts are listed, their rows become unknown, and nothing is ordered until --accept-older. Exit 1 if something is wrong.'
  static override examples = ['<%= config.bin %> store check']
  static override flags = {
    'accept-older': Flags.boolean({ summary: 'Use a store that does not know all of its attempts' }),
    'without-list': Flags.boolean({
      summary: 'Order without the list of attempts if its folders are not writable',
    }),
    yes: Flags.boolean({ summary: 'Skip the confirmation', dependsOn: ['accept-older'] }),
  }

  async run(): Promise<void> {
    const { maintenance, batches, location } = await store(this.scope)
    if (this.flags['without-list']) await maintenance.allowUnlisted()
    const older = this.flags['accept-older'] ? await maintenance.closed() : undefined
    if (older !== undefined) {
      requireHere(location, older)
      await this.confirm('Continue with a store that does not know all of its attempts?', this.flags.yes)
      const { held } = await maintenance.acceptOlder()
      if (held > 0) {
        const all = await batches.list({ singles: true })
        const ids = all.filter(({ counts }) => counts.held > 0).map(({ id }) => id)
        this.scope.note(heldText(held, ids))
      }
    }
    const damage = await maintenance.check()
    const closed = await maintenance.closed()
    const names = closed === undefined ? [] : await maintenance.putBack(closed)
    const findings = findingsOf(damage, closed, names)
    this.answer(storeCheckView(location, findings), unsound(location, damage, closed))
  }
}
