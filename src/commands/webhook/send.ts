import { BaseCommand } from '../../cli/base-command.ts'
import { uuidFlag } from '../../cli/flags/identifiers.ts'
import { secretFileFlag } from '../../cli/flags/secret-file.ts'
import { Flags } from '../../cli/oclif.ts'
import { receiverAt } from '../../compose/receiver.ts'
import { webhookSecrets } from '../../compose/webhook.ts'
import { sendEvents } from '../../usecases/webhook/send.ts'
import { sendingView } from '../../output/views/webhook-send.ts'

export default class WebhookSend extends BaseCommand<typeof WebhookSend> {
  static override summary = 'Send a signed, made-up event to a receiver under test.'
  static override description = [
    'Posts a request.updated event, signed like the service’s, to an https URL or to http on this machine, and prints what the receiver answered and how fast. No request of it exists unless --request-id names one.',
    'Exit 10 where the receiver refuses it (anything but a 2xx), 7 where it gives no answer. With --bad-signature a refusal is right: exit 10 where it is accepted.',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> webhook send --to http://127.0.0.1:3000/hook',
    '<%= config.bin %> webhook send --to http://127.0.0.1:3000/hook --status ERROR --error-reason "No such package"',
    '<%= config.bin %> webhook send --to http://127.0.0.1:3000/hook --bad-signature',
  ]
  static override flags = {
    to: Flags.string({ summary: 'The receiver.', helpValue: 'URL', required: true }),
    status: Flags.string({ summary: 'Of the request (default COMPLETED); any word.', helpValue: 'STATUS' }),
    'request-id': uuidFlag({ summary: 'Of the event (default: a new one).' }),
    'error-reason': Flags.string({ summary: 'Goes with --status ERROR.', helpValue: 'TEXT' }),
    times: Flags.integer({
      summary: 'Send the same event so many times.',
      helpValue: 'N',
      min: 1,
      max: 10_000,
      default: 1,
    }),
    'out-of-order': Flags.boolean({ summary: 'COMPLETED, then PARTIAL, then IN_PROGRESS of one request.' }),
    'bad-signature': Flags.boolean({ summary: 'Sign it with another secret: it has to be refused.' }),
    'secret-file': secretFileFlag,
  }

  async run(): Promise<void> {
    const { flags, signal } = this
    const { secret } = await webhookSecrets(this.scope, flags['secret-file'])
    const { clock, random } = this.context
    const { http, url } = await receiverAt(this.scope, flags.to, '--to')
    const sending = await sendEvents({
      http,
      clock,
      random,
      url,
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
