import { BaseCommand } from '../../cli/base-command.ts'
import { migrate } from '../../app/store.ts'
import { storeMigratedView } from '../../output/views/store.ts'

export default class StoreMigrate extends BaseCommand<typeof StoreMigrate> {
  static override summary = 'Make the tables of a PostgreSQL store, or update them'
  static override description =
    'For a PostgreSQL database: makes its tables, or changes them to the format of this version. Run it again after an update, once every machine that shares the database has the new version. Only this command needs the right to create a schema. A store in a file is migrated by itself when it is opened.'
  static override examples = ['refcheck store migrate']

  async run(): Promise<void> {
    this.answer(storeMigratedView(await migrate(this.app)))
  }
}
