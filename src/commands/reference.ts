import { BaseCommand, Flags } from '../cli/base-command.ts'
import { exitCodes } from '../errors/kinds.ts'
import { commandManifest, outputSchemas } from '../app/reference.ts'
import { referenceView } from '../output/views/reference.ts'
import { documentView } from '../output/views/schema.ts'

export default class Reference extends BaseCommand<typeof Reference> {
  static override summary = 'Print every command, flag and exit code, and the shape of every JSON'
  static override description =
    'Markdown; with --json the same for a program, with the JSON Schema of what each command prints. Keys may be added to what --json prints, and are never removed.'
  static override examples = [
    'refcheck reference > reference.md',
    "refcheck reference --output-schema 'batch run'",
    "refcheck reference --jq '.commands[].name'",
  ]
  static override flags = {
    'output-schema': Flags.string({
      summary: 'Print the JSON Schema (2020-12) of what this command prints with --json',
      helpValue: 'COMMAND',
    }),
  }

  async run(): Promise<void> {
    const schemas = await outputSchemas()
    const commandName = this.flags['output-schema']
      ?.trim()
      .split(/[\s:]+/)
      .join(' ')
    if (commandName === undefined) {
      return this.answer(referenceView(this.config.version, commandManifest(), exitCodes, schemas))
    }
    const schema = Object.hasOwn(schemas, commandName) ? schemas[commandName] : undefined
    this.refuseIf(
      schema === undefined,
      `--output-schema: no command named "${commandName.slice(0, 60)}"`,
      'List the commands with: refcheck help',
    )
    this.answer(documentView(schema))
  }
}
