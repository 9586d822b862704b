import { BaseCommand } from '../../cli/base-command.ts'
import { longTimeoutFlag } from '../../cli/flags/time.ts'
import { filingFlags } from '../../cli/flags/filing.ts'
import { Flags } from '../../cli/oclif.ts'
import { fileReports } from '../../app/report.ts'
import { syncSummary, syncView } from '../../output/views/reports.ts'

export default class ReportSync extends BaseCommand<typeof ReportSync> {
  static override summary = 'Bring a folder up to date with all reports'
  static override description = [
    'Made for cron. It uses one call of the quota for each request in the store that is not finished or has a missing file, and none for the others. Requests that ended CANCELLED or ERROR are not read again.',
    'Exit 0 if every report that is ready is in the folder, 10 if one that is ready could not be downloaded. With --quiet, a run without new reports prints nothing.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> report sync --output reports',
    "<%= config.bin %> report sync --output reports --quiet --name-template '{last_name}-{first_name}/{check_name}-{date}.pdf'",
  ]
  static override flags = {
    output: Flags.string({
      summary: 'Folder to fill (default: the setting "output-dir")',
      helpValue: 'DIR',
    }),
    ...filingFlags,
    timeout: longTimeoutFlag,
  }

  async run(): Promise<void> {
    const typed = this.flags.output ?? (await this.app.setting('output-dir'))
    this.refuse(
      typed === undefined || typed === '-',
      '--output is required',
      'Set a default once with: refcheck config set output-dir DIR',
    )
    const flags = { ...this.flags, overwrite: false, wait: false }
    const target = { typed: typed ?? '', source: { kind: 'all' }, signal: this.signal } as const
    const result = await fileReports(this.app, flags, target)
    this.app.reporter.note(syncSummary(result))
    this.answer(syncView(result, result.folder, this.context.cwd), result.failure)
  }
}
