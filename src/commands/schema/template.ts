import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { timeoutFlag, packageIdArg } from '../../cli/flags/values.ts'
import { openOutputFile, writeOutput, templateBytes } from '../../app/output-file.ts'
import { loadSchema } from '../../usecases/form/package.ts'
import { templateBody, templateColumns, templateFormat, templateFormats } from '../../domain/form/template.ts'
import { documentView, templateNextText, templateView } from '../../output/views/schema.ts'

export default class SchemaTemplate extends BaseCommand<typeof SchemaTemplate> {
  static override summary = 'Make a file to fill in, one row per person'
  static override description =
    'xlsx is for people: its columns keep + and leading zeros, it has drop-down lists, a note on each header, and an example on a second sheet. csv is the header alone. json is the body of one order, for "request create --file".'
  static override examples = [
    'refcheck schema template 102 --output people.xlsx',
    'refcheck schema template 102 --format csv > people.csv',
    'refcheck schema template 102 --format json --output body.json',
  ]
  static override args = { package_id: packageIdArg({ required: true, description: 'id of the package' }) }
  static override flags = {
    format: Flags.option({
      options: templateFormats,
      summary: 'Format (default: from the file name, else csv)',
      helpValue: templateFormats.join('|'),
    })(),
    output: Flags.string({ summary: 'File to write (default: stdout)', helpValue: 'FILE' }),
    overwrite: Flags.boolean({ summary: 'Replace the file if it exists' }),
    refresh: Flags.boolean({ summary: 'Bypass the cache' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { output, overwrite, refresh } = this.flags
    const file = output ?? ''
    const format = templateFormat(this.flags.format, output)
    const outputFile = await openOutputFile(this.context, output, { overwrite, binary: format === 'xlsx' })
    this.refuseIf(
      this.flags.json && outputFile.path === undefined && format !== 'json',
      `--json cannot be combined with a ${format} template on stdout`,
      'Add --output FILE, or use --format json.',
    )
    const schema = await loadSchema(this.args.package_id, {
      api: await this.app.service('api'),
      schemas: await this.app.service('schemas'),
      refresh,
      signal: this.signal,
    })
    const columns = templateColumns(schema)
    const body = documentView(templateBody(schema))
    if (outputFile.path === undefined && format === 'json') return this.answer(body)
    const content =
      format === 'json'
        ? [Buffer.from(`${body.text(this.terminal)}\n`)]
        : await templateBytes(columns, format)
    await writeOutput(this.app, outputFile, content)
    if (outputFile.path === undefined) return
    const required = columns.filter((column) => column.isRequired).length
    this.answer(
      templateView({
        path: outputFile.path,
        file,
        format,
        fields: columns.length,
        required,
        packageId: schema.id,
      }),
    )
    this.app.reporter.note(templateNextText(format, file, schema.id))
  }
}
