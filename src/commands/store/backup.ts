import { resolve } from 'node:path'

import { Args, BaseCommand } from '../../cli/base-command.ts'
import { parseStoreAddress } from '../../domain/store/address.ts'
import { UsageError } from '../../errors/kinds.ts'
import { storeBackupView } from '../../output/views/store.ts'
import { recordWrittenFile } from '../../app/output-file.ts'

export default class StoreBackup extends BaseCommand<typeof StoreBackup> {
  static override summary = 'Copy the store to a new file, even while it is in use'
  static override description =
    'The copy is whole, and opens as a store: REFCHECK_STORE=FILE uses it. It does not know what is ordered from now on, so it takes no orders until "store check --accept-older". It holds personal data and the key of the fingerprints, so keep it as private as the store.'
  static override examples = ['refcheck store backup refcheck-backup.sqlite']
  static override args = {
    file: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'file to write; it must not exist yet',
    }),
  }

  async run(): Promise<void> {
    if (parseStoreAddress(this.args.file).kind !== 'file') {
      throw new UsageError('FILE is not the name of a file', {
        hint: 'A backup is a file, such as refcheck-backup.sqlite. To keep orders in a database: refcheck help fleet',
      })
    }
    const store = await this.app.service('store')
    const path = resolve(this.context.cwd, this.args.file)
    await store.backup(path)
    await recordWrittenFile(this.app, { path, kind: 'backup' })
    this.answer(storeBackupView(store.location, path))
  }
}
