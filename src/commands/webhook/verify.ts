import { Args, Flags } from '@oclif/core'

import { BaseCommand } from '../../cli/base-command.ts'
import { readInput } from '../../cli/input.ts'
import { parseCapturedRequest } from '../../domain/webhook/capture.ts'
import { verifyDelivery } from '../../domain/webhook/verify.ts'
import { verificationView } from '../../output/views/webhook.ts'

export default class WebhookVerify extends BaseCommand<typeof WebhookVerify> {
  static override summary = 'Verify the signature of a captured webhook delivery.'
  static override description =
    'Checks the exact bytes of the body in FILE (or stdin) against --signature, or a whole captured request with its headers given with --http. The secret comes from REFCHECK_WEBHOOK_SECRET or from the profile (refcheck config set webhook-secret). Exit 9 when the signature does not match.'
  static override examples = [
    '<%= config.bin %> webhook verify body.json --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    '<%= config.bin %> webhook verify --http request.txt --json',
  ]
  static override args = {
    file: Args.string({ description: 'the exact body; - or nothing for stdin', ignoreStdin: true }),
  }
  static override flags = {
    signature: Flags.string({
      summary: 'Value of X-Service-Signature.',
      helpValue: 'HEX',
      exclusive: ['http'],
    }),
    http: Flags.string({ summary: 'A captured request with its headers; - for stdin.', helpValue: 'FILE' }),
  }

  async run(): Promise<void> {
    const delivery = await this.delivery()
    const secret = await this.services.webhookSecret()
    const verification = verifyDelivery(delivery, secret)
    this.answer(verificationView(verification), verification.failure)
  }

  private async delivery() {
    const { http, signature } = this.flags
    if (http !== undefined) {
      this.refuse(
        this.args.file !== undefined,
        'FILE and --http exclude each other',
        'Name the capture once.',
      )
      return parseCapturedRequest(await readInput(this.context, http, 'the captured request'))
    }
    this.refuse(
      signature === undefined,
      'the signature is missing',
      'Give --signature HEX, the value of X-Service-Signature, or --http FILE with the headers in it.',
    )
    return {
      body: await readInput(this.context, this.args.file, 'the body'),
      signatures: signature === undefined ? [] : [signature],
    }
  }
}
