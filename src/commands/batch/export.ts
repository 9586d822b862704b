import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { parseRowStates } from '../../cli/flags/list.ts'
import { openOutputFile, tableBytes, writeOutput } from '../../app/output-file.ts'
import { chooseExportFormat, exportFormats, exportTable } from '../../domain/batch/results.ts'
import { batchPage } from '../../app/overview.ts'
import { exportedView } from '../../output/views/batches.ts'
import { documentView } from '../../output/views/schema.ts'
import { findBatch } from '../../usecases/batch/read-batch.ts'
import { readExportedRows } from '../../usecases/batch/results-file.ts'

export default class BatchExport extends BaseCommand<typeof BatchExport> {
  static override summary = 'Write the rows of a batch to a file'
  static override description =
    'Every row with its values, state, request and status, from the store; no call is made. CSV, XLSX and JSON can be run again as a batch file: what was accepted is not ordered twice. HTML is one self-contained page with charts, to open, print and file.'
  static override examples = [
    'refcheck batch export 3f2b8c1e --format html --output march.html',
    'refcheck batch export 3f2b8c1e --state pending --output rest.csv',
  ]
  static override args = batchArgs
  static override flags = {
    format: Flags.option({
      options: exportFormats,
      summary: 'Format (default: from the file name, else csv)',
    })(),
    output: Flags.string({ summary: 'File to write (default: stdout)', helpValue: 'FILE' }),
    state: Flags.string({
      summary: 'Only rows in these states, such as pending,rejected',
      helpValue: 'STATE',
    }),
    overwrite: Flags.boolean({ summary: 'Replace the file if it exists' }),
  }

  async run(): Promise<void> {
    const { output, overwrite } = this.flags
    const states = parseRowStates(this.flags.state)
    const format = chooseExportFormat(this.flags.format, output, this.flags.json)
    const file = await openOutputFile(this.context, output, { overwrite, binary: format === 'xlsx' })
    this.refuseIf(
      this.flags.json && file.path === undefined && format !== 'json',
      `--json cannot be combined with a ${format} export on stdout`,
      'Add --output FILE, or use --format json.',
    )
    const services = await this.app.batchServices()
    const batch = await findBatch(services, this.args.batch_id)
    const rows = await readExportedRows(services.batches, batch, { states })
    const content =
      format === 'html'
        ? [await batchPage(this.app, batch, states)]
        : await tableBytes(exportTable(rows), format)
    const { path } = file
    if (path === undefined && format === 'json' && this.flags.jq !== undefined) {
      return this.answer(documentView(JSON.parse(await readText(content))))
    }
    await writeOutput(this.app, file, content, { kind: 'export', batchId: batch.id })
    if (path !== undefined) this.answer(exportedView({ batch_id: batch.id, path, format, rows: rows.length }))
  }
}

async function readText(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
