import { BaseCommand } from '../../cli/base-command.ts'
import { migratedStore } from '../../compose/store.ts'
import { storeMigratedView } from '../../output/views/store.ts'

export default class StoreMigrate extends BaseCommand<typeof StoreMigrate> {
  static override summary = 'Bring the store to the format of this version'
  static override description =
    'A file is brought up to date by itself whenever it is opened. A PostgreSQL database is not, since others may still use it with an older refcheck: this makes its tables, or changes them. It needs the right to create a schema; everything else works without. Run it again after an update of refcheck, once all who share the database are updated.'
  static override examples = ['<%= config.bin %> store migrate']

  async run(): Promise<void> {
    this.answer(storeMigratedView(await migratedStore(this.scope)))
  }
}
