import { Args } from '@oclif/core'

import { BaseCommand } from '../../cli/base-command.ts'
import { readInput } from '../../cli/input.ts'
import { signBody } from '../../domain/webhook/verify.ts'
import { signatureView } from '../../output/views/webhook.ts'

export default class WebhookSign extends BaseCommand<typeof WebhookSign> {
  static override summary = 'Make the signature that a sender would send with a body.'
  static override description =
    'Signs the exact bytes of FILE (or stdin) with REFCHECK_WEBHOOK_SECRET or the secret kept with the profile.'
  static override examples = [
    '<%= config.bin %> webhook sign body.json',
    `printf '{"event":"request.updated"}' | <%= config.bin %> webhook sign`,
  ]
  static override args = {
    file: Args.string({ description: 'the exact body; - or nothing for stdin', ignoreStdin: true }),
  }

  async run(): Promise<void> {
    const body = await readInput(this.context, this.args.file, 'the body')
    const secret = await this.services.webhookSecret()
    this.answer(signatureView(signBody(body, secret)))
  }
}
