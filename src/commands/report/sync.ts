import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { longTimeoutFlag, reportFileFlags } from '../../cli/flags/values.ts'
import { acknowledgeWithoutReport, downloadReports } from '../../app/report.ts'
import { updateStatusesInResults } from '../../app/request.ts'
import { UsageError } from '../../errors/kinds.ts'
import { setSetting } from '../../usecases/session/settings.ts'
import { syncSummary, syncView } from '../../output/views/requests.ts'

export default class ReportSync extends BaseCommand<typeof ReportSync> {
  static override summary = 'Bring a folder up to date with all reports'
  static override description = [
    'Fills the folder of --output, else of the setting "output-dir"; on a terminal it is asked for once and saved.',
    'Made for cron. It uses one call of the quota for each request in the store that is not finished or has a missing file, and none for the others. Requests that ended CANCELLED or ERROR are not read again.',
    'Exit 0 if every report that is ready is in the folder, 10 if one that is ready could not be downloaded. With --quiet, a run without new reports prints nothing. While another run downloads into the same folder it waits, for --timeout at most: exit 11.',
  ].join('\n\n')
  static override examples = [
    'refcheck report sync',
    'refcheck report sync --output reports',
    "refcheck report sync --output reports --quiet --name-template '{last_name}-{first_name}/{check_name}-{date}.pdf'",
  ]
  static override flags = {
    output: Flags.string({
      summary: 'Folder to fill (default: the setting "output-dir")',
      helpValue: 'DIR',
    }),
    ...reportFileFlags,
    timeout: longTimeoutFlag,
  }

  async run(): Promise<void> {
    const { output } = this.flags
    this.refuseIf(output === '-', '--output - is not a folder', 'Give the folder to fill with: --output DIR')
    const configuredFolder = output ?? (await this.app.setting('output-dir'))
    const folderPath = configuredFolder ?? (await this.askFolder())
    const flags = { ...this.flags, overwrite: false, wait: false }
    const destination = { typedPath: folderPath, source: { kind: 'all' }, signal: this.signal } as const
    const result = await downloadReports(this.app, flags, destination)
    // The setting is saved only now: the download has shown that the path is a folder.
    if (configuredFolder === undefined) await this.saveFolder(result.folder)
    await updateStatusesInResults(this.app)
    // Not with --quiet or --json, which suppress the note: the requests would disappear from `status` unnoticed.
    if (!this.flags.quiet && !this.flags.json) await acknowledgeWithoutReport(this.app, result.withoutReport)
    const { folder, failure } = result
    const { cwd } = this.context
    this.answer(syncView(result, folder, cwd), failure, syncSummary(result, folder, cwd))
  }

  private async askFolder(): Promise<string> {
    const prompter = this.flags.json ? undefined : this.app.prompter()
    if (prompter === undefined) {
      throw new UsageError('--output is required', {
        hint: 'Set a default once with: refcheck config set output-dir DIR',
      })
    }
    return prompter.text({
      message: 'Folder for the reports',
      initial: 'reports',
      help: 'It is created if it is missing, and used again next time.',
      check: (text) => (text === '' || text === '-' ? 'is not a folder' : undefined),
    })
  }

  private async saveFolder(folder: string): Promise<void> {
    await setSetting(await this.app.services('settings', 'profile'), 'output-dir', folder)
    this.app.note(`Saved as output-dir: ${folder}. Change it with: refcheck config set output-dir DIR`)
  }
}
