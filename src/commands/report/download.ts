import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/duration.ts'
import { filingFlags } from '../../cli/flags/filing.ts'
import { parseUuid, uuidFlag } from '../../cli/flags/identifiers.ts'
import { momentFlag } from '../../cli/flags/moment.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { reportSource } from '../../compose/report-source.ts'
import { openFiling, opener } from '../../compose/report.ts'
import { isSingle, type SingleSource } from '../../domain/report/source.ts'
import { missingText, reportsView } from '../../output/views/reports.ts'
import { fileAll, showReports } from '../../usecases/report/file-all.ts'
import { streamReport } from '../../usecases/report/file-one.ts'
import { api } from '../../compose/api.ts'
import { setting } from '../../compose/session.ts'

export default class ReportDownload extends BaseCommand<typeof ReportDownload> {
  static override summary = 'Download finished PDF reports, each whole or not at all.'
  static override description = [
    'One report by its CHECK_ID (and --referee) or by a signed --url, or every report of requests: by --request, of a --batch, or of all that this store knows to be completed. A request costs one call of the quota, however many reports it has.',
    'A folder gets a manifest.json and manifest.csv, which tell whose each file is. What they list and is unchanged is skipped; --overwrite replaces it. What cannot be had is listed with its reason: exit 10.',
    'Fields of --name-template: last_name, first_name, email, check_name, referee_name, date (of the order), id (eight characters made from its ids), request_id, check_id, referee_id, package_id. A / makes a folder.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --wait --output reports',
    "<%= config.bin %> report download --batch BATCH_ID --output reports --name-template '{last_name}-{first_name}/{check_name}-{date}.pdf'",
    '<%= config.bin %> report download --all-completed --since 7d --output reports',
    '<%= config.bin %> report download CHECK_ID --referee 7 --output reference.pdf --open',
    '<%= config.bin %> report download CHECK_ID --output - | lpr',
  ]
  static override args = {
    check_id: Args.string({
      description: 'id of a check',
      ignoreStdin: true,
      parse: async (text) => parseUuid(text, 'CHECK_ID'),
    }),
  }
  static override flags = {
    referee: Flags.string({ summary: 'Report of this referee of the check.', helpValue: 'ID' }),
    request: uuidFlag({ summary: 'Every report of this request; may be repeated.', multiple: true }),
    batch: uuidFlag({ summary: 'Every report of this batch.' }),
    'all-completed': Flags.boolean({ summary: 'Every report of each completed request of this store.' }),
    since: momentFlag({ summary: 'With --all-completed: ordered at this date or later: 2026-11-01, or 7d.' }),
    url: Flags.string({
      summary: 'One report by its signed URL; - reads it from stdin.',
      helpValue: 'SIGNED_URL',
    }),
    output: Flags.string({
      summary: 'Folder, file, or - for stdout (default: output-dir of config, else here).',
      helpValue: 'DIR|FILE|-',
    }),
    ...filingFlags,
    overwrite: Flags.boolean({ summary: 'Replace what is there.' }),
    wait: Flags.boolean({ summary: 'Wait until every report is ready; --timeout then limits the wait.' }),
    open: Flags.boolean({ summary: 'Show the report, or the folder of several, when all is there.' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { output, wait } = this.flags
    const source = await reportSource(this.context, this.args.check_id, this.flags)
    const single = isSingle(source)
    this.refuse(
      single && (wait || this.flags['name-template'] !== undefined),
      'one report has no request to wait for or to be named after',
      'Leave out --wait and --name-template, or name its request with --request.',
    )
    if (output === '-') {
      this.refuse(!single, '--output - takes one report', 'Name a CHECK_ID or --url.')
      return this.stream(source as SingleSource)
    }
    const typed = output ?? (await setting(this.scope, 'output-dir')) ?? '.'
    const filing = await openFiling(this.scope, this.flags, { typed, source, signal: this.signal })
    const result = await fileAll(filing)
    if (this.flags.json) for (const line of missingText(result.missing)) this.scope.reporter.note(line)
    if (this.flags.open && result.failure === undefined) {
      await showReports(...opener(this.scope), filing.folder.path, result.stored)
    }
    this.answer(reportsView(result, this.context.cwd), result.failure)
  }

  private async stream(source: SingleSource): Promise<void> {
    const { stdout } = this.context.streams
    this.refuse(this.flags.json, '--output - and --json exclude each other', 'stdout carries the PDF.')
    this.refuse(stdout.isTTY, 'a PDF is not written to a terminal', 'Pipe it, or name a file with --output.')
    const connection = { api: await api(this.scope), signal: this.signal }
    for await (const chunk of streamReport(source, connection)) {
      stdout.write(chunk)
      await stdout.drained()
    }
  }
}
