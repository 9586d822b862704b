import { join, resolve } from 'node:path'

import { Args, Flags } from '@oclif/core'

import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/duration.ts'
import { parseUuid, uuidFlag } from '../../cli/flags/identifiers.ts'
import { readSecretLine } from '../../cli/input.ts'
import { type DownloadSource, fetchReports, streamReport } from '../../domain/report/download.ts'
import { destination } from '../../domain/report/place.ts'
import { reportsView } from '../../output/views/reports.ts'

export default class ReportDownload extends BaseCommand<typeof ReportDownload> {
  static override summary = 'Download finished PDF reports, each whole or not at all.'
  static override description =
    'One report by its CHECK_ID (and --referee), one by a signed --url, or every report of --request ID. A request costs one call of the quota, however many reports it has. What is on disk already is skipped; --overwrite replaces it. Exit 10 when some reports are not there yet.'
  static override examples = [
    '<%= config.bin %> report download --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --output reports',
    '<%= config.bin %> report download CHECK_ID --referee 7 --output reference.pdf',
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
    referee: Flags.string({
      summary: 'Report of this referee of the check.',
      helpValue: 'ID',
      exclusive: ['request', 'url'],
    }),
    request: uuidFlag({
      summary: 'Every report of this request; may be repeated.',
      multiple: true,
      exclusive: ['url'],
    }),
    url: Flags.string({
      summary: 'One report by its signed URL; - reads it from stdin.',
      helpValue: 'SIGNED_URL',
    }),
    output: Flags.string({
      summary: 'Folder, file, or - for stdout (default: output-dir of config, else here).',
      helpValue: 'DIR|FILE|-',
    }),
    concurrency: Flags.integer({ summary: 'Downloads at a time (default 8).', min: 1, max: 64 }),
    overwrite: Flags.boolean({ summary: 'Replace what is there.' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const source = await this.source()
    const options = { api: await this.services.api(), signal: this.signal }
    if (this.flags.output === '-') return this.stream(source, options)
    const { reportFiles: files, standingAt } = await this.services.reportFiles()
    const typed = this.flags.output ?? (await this.services.setting('output-dir')) ?? '.'
    const path = resolve(this.context.cwd, typed)
    const standing = await standingAt(path)
    const place = destination(typed, path, standing, source.kind !== 'requests')
    this.refuse(
      place.kind === 'file' && standing === 'file' && !this.flags.overwrite,
      `--output: ${typed} exists already`,
      'Choose another name, or replace it with --overwrite.',
    )
    const { stored, missing, failure } = await fetchReports(source, {
      ...options,
      files,
      place: (name) => (place.kind === 'file' ? place.path : join(place.path, name)),
      overwrite: this.flags.overwrite,
      concurrency: this.flags.concurrency ?? Number((await this.services.setting('concurrency')) ?? 8),
      onStored: (report) => this.services.reporter.status(`stored ${report.path}`),
    })
    this.answer(reportsView(stored, missing, this.context.cwd), failure)
  }

  private async source(): Promise<DownloadSource> {
    const { referee, request, url } = this.flags
    const checkId = this.args.check_id
    const given = [checkId, request, url].filter((each) => each !== undefined).length
    this.refuse(
      given === 0,
      'nothing to download was named',
      'Name a CHECK_ID, --request ID, or --url SIGNED_URL.',
    )
    this.refuse(given > 1, 'CHECK_ID, --request and --url exclude each other', 'Name one of them.')
    if (url === '-') return { kind: 'url', url: await readSecretLine(this.context, 'the signed URL') }
    if (url !== undefined) return { kind: 'url', url }
    if (request !== undefined) return { kind: 'requests', requestIds: [...new Set(request)] }
    return { kind: 'ids', checkId: checkId ?? '', refereeId: referee }
  }

  private async stream(source: DownloadSource, options: Parameters<typeof streamReport>[1]): Promise<void> {
    const { stdout } = this.context.streams
    this.refuse(source.kind === 'requests', '--output - takes one report', 'Name a CHECK_ID or --url.')
    this.refuse(this.flags.json, '--output - and --json exclude each other', 'stdout carries the PDF.')
    this.refuse(stdout.isTTY, 'a PDF is not written to a terminal', 'Pipe it, or name a file with --output.')
    for await (const chunk of streamReport(source, options)) {
      stdout.write(chunk)
      await stdout.drained()
    }
  }
}
