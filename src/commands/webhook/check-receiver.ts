import { BaseCommand } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/duration.ts'
import { secretFileFlag } from '../../cli/flags/secret-file.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { failureToWrite, outputPlace } from '../../compose/output-file.ts'
import { receiverAt } from '../../compose/receiver.ts'
import { webhookSecrets } from '../../compose/webhook.ts'
import { shownUrl } from '../../domain/webhook/parcel.ts'
import { examine } from '../../usecases/webhook/exam/run.ts'
import { examView, junitText } from '../../output/views/exam.ts'

export default class WebhookCheckReceiver extends BaseCommand<typeof WebhookCheckReceiver> {
  static override summary = 'Put a webhook receiver through all that the service may send it.'
  static override description = [
    'Sends about 165 made-up events to the receiver, most of them signed with the webhook secret: use a receiver under test, for it cannot tell them from real ones. The URL is https, or http on this machine.',
    'A case fails where the receiver breaks a rule of the API document, and is advice where the document promises nothing and a receiver does well all the same. Exit 10 where it failed, 7 where nobody listens.',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> webhook check-receiver http://127.0.0.1:3000/hook',
    '<%= config.bin %> webhook check-receiver https://staging.example.com/hook --secret-file secret.txt --junit report.xml',
    '<%= config.bin %> webhook check-receiver http://127.0.0.1:3000/hook --only signature --json',
  ]
  static override args = {
    url: Args.string({ description: 'where the receiver listens', required: true, ignoreStdin: true }),
  }
  static override flags = {
    junit: Flags.string({ summary: 'Write the result as JUnit XML, too.', helpValue: 'FILE' }),
    only: Flags.string({
      summary: 'Only this case, or those that start with this word.',
      helpValue: 'NAME',
      multiple: true,
    }),
    strict: Flags.boolean({ summary: 'Advice counts as failure.' }),
    within: durationFlag({ summary: 'How long an answer may take (default 10s, as the document says).' }),
    'secret-file': secretFileFlag,
  }

  async run(): Promise<void> {
    const { flags, args, signal, scope } = this
    const { secret } = await webhookSecrets(scope, flags['secret-file'])
    const { junit } = flags
    const place = { overwrite: true, binary: false, flag: '--junit' }
    const file = junit === undefined ? undefined : await outputPlace(this.context, junit, place)
    const { clock, random } = this.context
    const { http, url } = await receiverAt(scope, args.url, 'the argument')
    scope.reporter.note(
      `Sending made-up events to ${shownUrl(url)}, signed with the webhook secret; the requests they name do not exist.`,
    )
    const { report, failure } = await examine({
      http,
      clock,
      random,
      url,
      secret,
      withinMs: flags.within,
      strict: flags.strict,
      only: flags.only,
      signal,
      onCase: ({ id }, done, of) => scope.reporter.status(`${done}/${of} ${id}`),
    })
    const unwritten = await failureToWrite(this.context, file, () => Buffer.from(junitText(report)))
    this.answer(examView(report), unwritten ?? failure)
  }
}
