import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { parseBaseUrl } from '../../domain/session/session.ts'
import { documentView } from '../../output/views/schema.ts'
import { openApiDocument } from '../../app/sandbox.ts'

export default class SandboxOpenapi extends BaseCommand<typeof SandboxOpenapi> {
  static override summary = 'Print the API and its webhook as OpenAPI 3.1 or 3.0'
  static override description =
    'Generated from the definitions that refcheck itself uses. A running sandbox serves it at /openapi.json, including the endpoints that control the sandbox (/_sandbox/), as with --control.'
  static override examples = ['refcheck sandbox openapi > openapi.json']
  static override flags = {
    version: Flags.option({
      summary: 'Version of OpenAPI; 3.0 is for generators that know no 3.1',
      options: ['3.1', '3.0'] as const,
      default: '3.1',
    })(),
    control: Flags.boolean({ summary: 'Add what steers a running sandbox' }),
    'base-url': Flags.string({
      summary: 'URL of the server in the document',
      helpValue: 'URL',
      default: 'http://127.0.0.1:4280',
    }),
  }

  async run(): Promise<void> {
    const baseUrl = parseBaseUrl(this.flags['base-url'], '--base-url')
    this.answer(documentView(await openApiDocument(baseUrl, this.flags.version, this.flags.control)))
  }
}
