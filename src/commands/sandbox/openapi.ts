import { BaseCommand } from '../../cli/base-command.ts'
import { Flags } from '../../cli/oclif.ts'
import { documentView } from '../../output/views/schema.ts'
import { openApiDocument } from '../../compose/sandbox-facts.ts'

export default class SandboxOpenapi extends BaseCommand<typeof SandboxOpenapi> {
  static override summary = 'Print the API as an OpenAPI 3.1 document, with its webhook.'
  static override description =
    'Made of the same contract that this program reads the service by. A running sandbox serves it at /openapi.json.'
  static override examples = ['<%= config.bin %> sandbox openapi > openapi.json']
  static override flags = {
    'base-url': Flags.string({
      summary: 'What it names as the server.',
      helpValue: 'URL',
      default: 'http://127.0.0.1:4280',
    }),
  }

  async run(): Promise<void> {
    this.answer(documentView(await openApiDocument(this.flags['base-url'])))
  }
}
