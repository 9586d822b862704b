import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import {
  durationFlag,
  momentFlag,
  batchIdFlag,
  parseUuid,
  requestFlag,
  reportFileFlags,
} from '../../cli/flags/values.ts'
import { downloadReports, reportSource, openInViewer } from '../../app/report.ts'
import { isSingleSource, type SingleSource } from '../../domain/report/source.ts'
import { reportsView } from '../../output/views/requests.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { UsageError } from '../../errors/kinds.ts'
import { streamReport } from '../../usecases/report/one-report.ts'

/** Throws a UsageError for text that is no UUID. If the text may be a name, the hint shows how to download by name. */
function parseCheckId(text: string): string {
  try {
    return parseUuid(text, 'CHECK_ID')
  } catch (error) {
    if (error instanceof UsageError && !/^[\da-f-]+$/i.test(text))
      error.hint = `By name: refcheck report download --request ${shellWord(text)}`
    throw error
  }
}

export default class ReportDownload extends BaseCommand<typeof ReportDownload> {
  static override summary = 'Download finished reports as PDF files'
  static override description = [
    'Downloads one report by its CHECK_ID (and --referee) or by a signed --url, or every report of requests: --request, --batch or --all-completed. A request uses one call of the quota, however many reports it has. A report is stored whole or not at all.',
    'The folder gets a manifest.json and a manifest.csv, which say whose report each file is. Files listed there and unchanged are skipped; --overwrite replaces them. Reports that are unavailable are listed with the reason: exit 10.',
    'Fields of --name-template: last_name, first_name, email, check_name, referee_name, date (of the order), id (eight characters, unique to the report), request_id, check_id, referee_id, package_id. A / makes a folder.',
  ].join('\n\n')
  static override examples = [
    'refcheck report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --wait --output reports',
    "refcheck report download --batch 3f2b8c1e --output reports --name-template '{last_name}-{first_name}/{check_name}-{date}.pdf'",
    'refcheck report download --all-completed --since 7d --output reports',
    'refcheck report download CHECK_ID --referee 7 --output reference.pdf --open',
    'refcheck report download CHECK_ID --output - | lpr',
  ]
  static override args = {
    check_id: Args.string({
      description: 'id of a check',
      ignoreStdin: true,
      parse: async (text) => parseCheckId(text),
    }),
  }
  static override flags = {
    referee: Flags.string({ summary: 'Report of this referee of the check', helpValue: 'ID' }),
    request: requestFlag({
      summary:
        'All reports of this request; repeatable; the start of its id is enough, on a terminal a name or e-mail',
      multiple: true,
    }),
    batch: batchIdFlag({ summary: 'All reports of this batch; the start of its id is enough' }),
    'all-completed': Flags.boolean({ summary: 'All reports of every completed request in the store' }),
    since: momentFlag({ summary: 'Only ordered since this date or this long ago: 2026-11-01 or 7d' }),
    url: Flags.string({
      summary: 'One report by its signed URL; - reads it from stdin',
      helpValue: 'SIGNED_URL',
    }),
    output: Flags.string({
      summary: 'Folder, file, or - for stdout (default: the setting "output-dir", else this folder)',
      helpValue: 'DIR|FILE|-',
    }),
    ...reportFileFlags,
    overwrite: Flags.boolean({ summary: 'Replace existing files' }),
    wait: Flags.boolean({ summary: 'Wait until all reports are ready; --timeout limits the wait' }),
    open: Flags.boolean({ summary: 'Open the report, or the folder of several, when done' }),
    timeout: durationFlag({
      summary:
        'Longest total wait for retries and quota (default 2m; no limit with --batch, --all-completed or --wait)',
    }),
  }

  async run(): Promise<void> {
    const { output, wait } = this.flags
    const source = await reportSource(this.app, this.args.check_id, this.flags)
    const isSingleReport = isSingleSource(source)
    this.refuseIf(
      isSingleReport && (wait || this.flags['name-template'] !== undefined),
      '--wait and --name-template need a request, not a single report',
      'Leave them out, or give the request with --request ID.',
    )
    if (output === '-') {
      this.refuseIf(!isSingleReport, '--output - writes a single report', 'Give a CHECK_ID or --url.')
      return this.stream(source as SingleSource)
    }
    const outputPath = output ?? (await this.app.setting('output-dir')) ?? '.'
    const destination = { typedPath: outputPath, source, signal: this.signal }
    const result = await downloadReports(this.app, this.flags, destination)
    if (this.flags.open && result.failure === undefined) await openInViewer(this.app, result)
    this.answer(reportsView(result, this.context.cwd), result.failure)
  }

  private async stream(source: SingleSource): Promise<void> {
    const { stdout } = this.context.streams
    this.refuseIf(
      this.flags.json,
      '--output - cannot be combined with --json',
      'With --output - the PDF itself goes to stdout.',
    )
    this.refuseIf(
      stdout.isTTY,
      'refused to write a PDF to the terminal',
      'Add --output FILE, or pipe it to a program.',
    )
    const connection = { api: await this.app.service('api'), signal: this.signal }
    for await (const chunk of streamReport(source, connection)) {
      stdout.write(chunk)
      await stdout.drain()
    }
  }
}
