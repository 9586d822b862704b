import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { timeoutFlag, packageIdFlag } from '../../cli/flags/values.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { packagesView } from '../../output/views/account.ts'

export default class PackagesList extends BaseCommand<typeof PackagesList> {
  static override summary = 'List the packages that this user may see'
  static override description = 'Only ACTIVE packages can be ordered. The list has no pages.'
  static override examples = [
    'refcheck packages list --status active',
    'refcheck packages list --csv --columns id,name',
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
    const service = await this.app.service('api')
    const packages = await service.listPackages({ status, id }, this.signal)
    this.answerList(packagesView(packages))
  }
}
