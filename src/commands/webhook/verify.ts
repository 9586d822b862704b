import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import { listFlags } from '../../cli/flags/list.ts'
import { secretFileFlag } from '../../cli/flags/webhook.ts'
import { maxLargeInputBytes, readInput } from '../../app/input.ts'
import { webhookSecrets } from '../../app/webhook.ts'
import { parseCapturedRequest, readHar, readLog } from '../../domain/webhook/capture.ts'
import { loggedVerificationsView, verificationView } from '../../output/views/webhook.ts'
import { explainDelivery, verifyLog } from '../../usecases/webhook/verify.ts'

const exclusiveSources = ['http', 'har', 'all']

export default class WebhookVerify extends BaseCommand<typeof WebhookVerify> {
  static override summary = 'Verify the signatures of webhook deliveries'
  static override description = [
    'One delivery: the exact body in FILE (or stdin) with --signature, or with --http a captured request with its headers: raw HTTP/1.1, the output of "curl -v", or the text of a request bin, chunked or not.',
    'Many: --har FILE reads the POSTs of an HTTP archive, --all reads a log with one JSON object per line. The body is in "body" (text; base64 with "encoding": "base64" or "isBase64Encoded": true), "raw_body", "rawBody", "payload", "content" or "body_base64"; the signature is in "signature" or "headers"; both may be in "req" or "request". Such lines in one array, or in "data", are read too, as webhook.site answers.',
    'Nothing is parsed before its signature is valid. If it is not, the likely cause is named, and the delivery stays refused: exit 9. The secret comes from --secret-file, REFCHECK_WEBHOOK_SECRET or the profile.',
  ].join('\n\n')
  static override examples = [
    'refcheck webhook verify body.json --signature 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    'refcheck webhook verify --http request.txt --json',
    'refcheck webhook verify --all deliveries.ndjson --secret-file secret.txt',
  ]
  static override args = {
    file: Args.string({
      description: 'file with the exact body, or a log (default: stdin)',
      ignoreStdin: true,
    }),
  }
  static override flags = {
    signature: Flags.string({
      summary: 'Value of the X-Service-Signature header',
      helpValue: 'HEX',
      exclusive: exclusiveSources,
    }),
    http: Flags.string({
      summary: 'Read a captured request with its headers; - for stdin',
      helpValue: 'FILE',
      exclusive: ['har', 'all'],
    }),
    har: Flags.string({
      summary: 'Read an HTTP archive (HAR 1.2); - for stdin',
      helpValue: 'FILE',
      exclusive: ['all'],
    }),
    all: Flags.boolean({ summary: 'FILE is a log, one JSON object per line' }),
    'secret-file': secretFileFlag,
    ...listFlags,
  }

  async run(): Promise<void> {
    const { all, har, 'secret-file': secretFile } = this.flags
    const { http } = this.flags
    this.refuseIf(
      this.args.file !== undefined && (http ?? har) !== undefined,
      `FILE and --${http === undefined ? 'har' : 'http'} cannot be combined`,
      'Give one of them.',
    )
    if (all || har !== undefined) return this.verifyMany(har)
    const { csv, columns, sort } = this.flags
    this.refuseIf(
      csv || (columns ?? sort) !== undefined,
      '--csv, --columns and --sort require --all or --har',
      'Leave them out; --json prints one delivery for scripts.',
    )
    const delivery = await this.readDelivery()
    const { secret, readOtherSecrets } = await webhookSecrets(this.app, secretFile)
    const verification = await explainDelivery(delivery, secret, readOtherSecrets)
    this.answer(verificationView(verification), verification.failure)
  }

  private async verifyMany(har: string | undefined): Promise<void> {
    const bytes = await readInput(this.context, har ?? this.args.file, 'the log', maxLargeInputBytes)
    const { secret, readOtherSecrets } = await webhookSecrets(this.app, this.flags['secret-file'])
    const log = har === undefined ? readLog(bytes) : readHar(bytes)
    const { deliveries, failure } = await verifyLog(log, secret, readOtherSecrets)
    this.answerList(loggedVerificationsView(deliveries), failure)
  }

  private async readDelivery() {
    const { http, signature } = this.flags
    if (http !== undefined) {
      return parseCapturedRequest(await readInput(this.context, http, 'the captured request'))
    }
    this.refuseIf(
      signature === undefined,
      'the signature is missing',
      'Add --signature HEX, the value of X-Service-Signature; or use --http FILE for a capture with headers.',
    )
    return {
      body: await readInput(this.context, this.args.file, 'the body'),
      signatures: signature === undefined ? [] : [signature],
    }
  }
}
