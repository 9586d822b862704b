import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { uuidFlag } from '../../cli/flags/values.ts'
import { secretFileFlag } from '../../cli/flags/webhook.ts'
import { openReceiver, webhookSecrets } from '../../app/webhook.ts'
import { sendEvents } from '../../usecases/webhook/send.ts'
import { sendingView } from '../../output/views/webhook.ts'

export default class WebhookSend extends BaseCommand<typeof WebhookSend> {
  static override summary = 'Send a signed, made-up event to a receiver'
  static override description = [
    'Posts a request.updated event, signed as the service does, to an https URL or to http on this machine, and prints the answer and the time it took. Its request does not exist unless --request-id names one.',
    'Exit 10 if the receiver refuses it (anything but a 2xx), 7 if it does not answer. With --bad-signature it must refuse: exit 10 if it accepts.',
  ].join('\n')
  static override examples = [
    'refcheck webhook send --to http://127.0.0.1:3000/hook',
    'refcheck webhook send --to http://127.0.0.1:3000/hook --status ERROR --error-reason "No such package"',
    'refcheck webhook send --to http://127.0.0.1:3000/hook --bad-signature',
  ]
  static override flags = {
    to: Flags.string({ summary: 'URL of the receiver', helpValue: 'URL', required: true }),
    status: Flags.string({
      summary: 'Status of the request; any word is accepted (default COMPLETED)',
      helpValue: 'STATUS',
    }),
    'request-id': uuidFlag({ summary: 'Id of the request (default: a new one)' }),
    'error-reason': Flags.string({ summary: 'Reason, with --status ERROR', helpValue: 'TEXT' }),
    times: Flags.integer({
      summary: 'Send the same event this many times',
      helpValue: 'N',
      min: 1,
      max: 10_000,
      default: 1,
    }),
    'out-of-order': Flags.boolean({
      summary: 'Send COMPLETED, then PARTIAL, then IN_PROGRESS of one request',
    }),
    'bad-signature': Flags.boolean({ summary: 'Sign with a wrong secret; the receiver has to refuse it' }),
    'secret-file': secretFileFlag,
  }

  async run(): Promise<void> {
    const { flags, signal } = this
    const { secret } = await webhookSecrets(this.app, flags['secret-file'])
    const { clock, random } = this.context
    const sending = await sendEvents({
      ...(await openReceiver(this.app, flags.to, '--to')),
      clock,
      random,
      secret,
      status: flags.status,
      requestId: flags['request-id'],
      errorReason: flags['error-reason'],
      times: flags.times,
      outOfOrder: flags['out-of-order'],
      badSignature: flags['bad-signature'],
      signal,
    })
    this.answer(sendingView(sending), sending.failure)
  }
}
