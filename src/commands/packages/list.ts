import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/time.ts'
import { packageIdFlag } from '../../cli/flags/identifiers.ts'
import { listFlags, listFormat } from '../../cli/flags/list.ts'
import { Flags } from '../../cli/oclif.ts'
import { packagesView } from '../../output/views/account.ts'

export default class PackagesList extends BaseCommand<typeof PackagesList> {
  static override summary = 'List the packages that this user may see'
  static override description = 'Only ACTIVE packages can be ordered. The list has no pages.'
  static override examples = [
    '<%= config.bin %> packages list --status active',
    '<%= config.bin %> packages list --csv --columns id,name',
  ]
  static override flags = {
    status: Flags.option({
      options: ['active', 'inactive', 'disabled'] as const,
      summary: 'Only this status',
    })(),
    id: packageIdFlag({ summary: 'Only this package' }),
    ...listFlags,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { status, id } = this.flags
    const { api: service } = await this.app.services('api')
    const packages = await service.listPackages({ status, id }, this.signal)
    this.answerList(packagesView(packages), listFormat(this.flags))
  }
}
