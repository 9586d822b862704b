import { Args, BaseCommand } from '../../cli/base-command.ts'
import { secretFileFlag } from '../../cli/flags/webhook.ts'
import { readInput } from '../../app/input.ts'
import { webhookSecrets } from '../../app/webhook.ts'
import { signBody } from '../../domain/webhook/verify.ts'
import { signatureView } from '../../output/views/webhook.ts'

export default class WebhookSign extends BaseCommand<typeof WebhookSign> {
  static override summary = 'Print the signature of a webhook body'
  static override description =
    'Signs the exact bytes of FILE (or stdin) with the secret from --secret-file, REFCHECK_WEBHOOK_SECRET or the profile.'
  static override examples = [
    'refcheck webhook sign body.json',
    `printf '{"event":"request.updated"}' | refcheck webhook sign`,
  ]
  static override args = {
    file: Args.string({ description: 'file with the exact body (default: stdin)', ignoreStdin: true }),
  }
  static override flags = { 'secret-file': secretFileFlag }

  async run(): Promise<void> {
    const body = await readInput(this.context, this.args.file, 'the body')
    const { secret } = await webhookSecrets(this.app, this.flags['secret-file'])
    this.answer(signatureView(signBody(body, secret)))
  }
}
