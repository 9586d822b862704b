import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/duration.ts'
import { filingFlags } from '../../cli/flags/filing.ts'
import { Flags } from '../../cli/oclif.ts'
import { openFiling } from '../../compose/report.ts'
import { syncSummary, syncView } from '../../output/views/reports.ts'
import { fileAll } from '../../usecases/report/file-all.ts'
import { setting } from '../../compose/session.ts'

export default class ReportSync extends BaseCommand<typeof ReportSync> {
  static override summary = 'Bring a folder up to date with every report of this store’s requests.'
  static override description = [
    'Made for cron: it costs one call of the quota for each request that is not finished or has a file missing, and none for the rest. What ended CANCELLED or ERROR is never read again.',
    'Exit 0 when all that is ready is there, 10 when something that is ready could not be had. With --quiet, a run that finds nothing new prints nothing.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> report sync --output reports',
    "<%= config.bin %> report sync --output reports --quiet --name-template '{last_name}-{first_name}/{check_name}-{date}.pdf'",
  ]
  static override flags = {
    output: Flags.string({
      summary: 'The folder (default: output-dir of config).',
      helpValue: 'DIR',
    }),
    ...filingFlags,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const typed = this.flags.output ?? (await setting(this.scope, 'output-dir'))
    this.refuse(
      typed === undefined || typed === '-',
      'there is no folder to bring up to date',
      'Name one with --output DIR, or once for all: refcheck config set output-dir DIR',
    )
    const flags = { ...this.flags, overwrite: false, wait: false }
    const place = { typed: typed ?? '', source: { kind: 'all' }, signal: this.signal } as const
    const filing = await openFiling(this.scope, flags, place)
    const result = await fileAll(filing)
    this.scope.reporter.note(syncSummary(result))
    this.answer(syncView(result, filing.folder.path, this.context.cwd), result.failure)
  }
}
