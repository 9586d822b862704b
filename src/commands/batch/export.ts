import { BaseCommand } from '../../cli/base-command.ts'
import { batchIdArg } from '../../cli/flags/identifiers.ts'
import { rowStates } from '../../cli/flags/states.ts'
import { Flags } from '../../cli/oclif.ts'
import { outputPlace, tableBytes, writeOutput } from '../../compose/output-file.ts'
import { exportFormatOf, exportTable } from '../../domain/batch/export.ts'
import { statusOf } from '../../domain/batch/standing.ts'
import { batchHtml } from '../../output/views/batch-html.ts'
import { exportedView } from '../../output/views/batches.ts'
import { allRows } from '../../usecases/batch/export.ts'
import { findBatch } from '../../usecases/batch/standing.ts'
import { storedBatches } from '../../compose/store.ts'

export default class BatchExport extends BaseCommand<typeof BatchExport> {
  static override summary = 'Write a batch to a file, from what this store knows.'
  static override description =
    'Every row with its values, its state, its request and status. CSV, XLSX and JSON can be run again as a batch file, such as the rows that --state chooses: what was accepted is not ordered twice. HTML is one page to read, print and file.'
  static override examples = [
    '<%= config.bin %> batch export 3f2b8c1e --format html --output march.html',
    '<%= config.bin %> batch export 3f2b8c1e --state pending --output rest.csv',
  ]
  static override args = {
    batch_id: batchIdArg({ required: true, description: 'batch, or the start of its id' }),
  }
  static override flags = {
    format: Flags.option({
      options: ['csv', 'xlsx', 'json', 'html'] as const,
      summary: 'Format (default: by the name of the file, else csv).',
    })(),
    output: Flags.string({ summary: 'File to write; - or nothing for stdout.', helpValue: 'FILE' }),
    state: Flags.string({ summary: 'Only rows in these states: pending,rejected.', helpValue: 'STATE' }),
    overwrite: Flags.boolean({ summary: 'Replace the file where it exists.' }),
  }

  async run(): Promise<void> {
    const { output, overwrite } = this.flags
    const states = rowStates(this.flags.state)
    const format = this.flags.format ?? exportFormatOf(output, this.flags.json)
    const place = await outputPlace(this.context, output, { overwrite, binary: format === 'xlsx' })
    this.refuse(
      this.flags.json && place.path === undefined && format !== 'json',
      `--json and an export as ${format} on stdout exclude each other`,
      'Name a file with --output, or ask for --format json.',
    )
    const stored = await storedBatches(this.scope)
    const batch = await findBatch(stored, this.args.batch_id)
    const rows = await allRows(stored.batches, batch.id, { states })
    const content =
      format === 'html'
        ? [new TextEncoder().encode(await batchHtml(statusOf(batch), rows))]
        : await tableBytes(exportTable(rows), format)
    await writeOutput(this.context, place, content)
    const { path } = place
    if (path !== undefined) this.answer(exportedView({ batch_id: batch.id, path, format, rows: rows.length }))
  }
}
