import { Args, BaseCommand } from '../../../cli/base-command.ts'
import { secretFileFlag } from '../../../cli/flags/webhook.ts'
import { maxLargeInputBytes, readInput } from '../../../app/input.ts'
import { webhookSecrets } from '../../../app/webhook.ts'
import { importedView } from '../../../output/views/webhook.ts'
import { importEvents } from '../../../usecases/webhook/inbox.ts'

export default class WebhookEventsImport extends BaseCommand<typeof WebhookEventsImport> {
  static override summary = 'Import captured events into the inbox'
  static override description =
    'Reads one JSON object per line with a body and its signature, as "webhook verify --all" does. If one signature is invalid, nothing is imported.'
  static override examples = ['refcheck webhook events import captured.ndjson']
  static override args = {
    file: Args.string({ required: true, ignoreStdin: true, description: 'file to read; - for stdin' }),
  }
  static override flags = { 'secret-file': secretFileFlag }

  async run(): Promise<void> {
    const { file } = this.args
    const bytes = await readInput(this.context, file, 'the events', maxLargeInputBytes)
    const { secret, findBaseUrl } = await webhookSecrets(this.app, this.flags['secret-file'])
    const inbox = await this.app.service('inbox')
    const imported = await importEvents(inbox, bytes, {
      secret,
      baseUrl: await findBaseUrl(),
      now: this.context.clock.now(),
      name: file,
    })
    this.answer(importedView(imported))
  }
}
