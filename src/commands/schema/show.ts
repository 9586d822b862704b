import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { timeoutFlag, packageIdArg } from '../../cli/flags/values.ts'
import { loadSchema } from '../../usecases/form/package.ts'
import { jsonSchemaView, schemaView } from '../../output/views/schema.ts'

export default class SchemaShow extends BaseCommand<typeof SchemaShow> {
  static override summary = 'Show the fields that an order of a package needs'
  static override description =
    'The schema of a package id never changes, so it is cached on this machine; --refresh reads it again.'
  static override examples = [
    'refcheck schema show 102',
    'refcheck schema show 102 --json-schema > request.schema.json',
  ]
  static override args = { package_id: packageIdArg({ required: true, description: 'id of the package' }) }
  static override flags = {
    refresh: Flags.boolean({ summary: 'Bypass the cache' }),
    'json-schema': Flags.boolean({ summary: 'Print the JSON Schema (2020-12) of a request body' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { refresh } = this.flags
    const schema = await loadSchema(this.args.package_id, {
      api: await this.app.service('api'),
      schemas: await this.app.service('schemas'),
      refresh,
      signal: this.signal,
    })
    this.answer(this.flags['json-schema'] ? jsonSchemaView(schema) : schemaView(schema))
  }
}
