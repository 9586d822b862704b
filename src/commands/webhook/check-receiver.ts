import { BaseCommand } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/time.ts'
import { secretFileFlag } from '../../cli/flags/webhook.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { failureToWrite, openOutputFile } from '../../app/output-file.ts'
import { receiverAt } from '../../app/receiver.ts'
import { webhookSecrets } from '../../app/webhook.ts'
import { shownUrl } from '../../domain/webhook/delivery.ts'
import { junitText, receiverCheckView } from '../../output/views/checks.ts'
import { checkReceiver } from '../../usecases/webhook/receiver-check.ts'

export default class WebhookCheckReceiver extends BaseCommand<typeof WebhookCheckReceiver> {
  static override summary = 'Test a receiver against everything the service may send'
  static override description = [
    'Sends about 165 made-up events, most of them signed with the webhook secret. A receiver cannot tell them from real ones, so use one under test. The URL must be https, or http on this machine.',
    'A case fails if the receiver breaks a rule of the API document. It is advice if the document leaves the matter open but good receivers agree. Exit 10 if a case failed, 7 if the connection was refused.',
  ].join('\n')
  static override examples = [
    '<%= config.bin %> webhook check-receiver http://127.0.0.1:3000/hook',
    '<%= config.bin %> webhook check-receiver https://staging.example.com/hook --secret-file secret.txt --junit report.xml',
    '<%= config.bin %> webhook check-receiver http://127.0.0.1:3000/hook --only signature --json',
  ]
  static override args = {
    url: Args.string({ description: 'URL of the receiver', required: true, ignoreStdin: true }),
  }
  static override flags = {
    junit: Flags.string({ summary: 'Also write the result as JUnit XML', helpValue: 'FILE' }),
    only: Flags.string({
      summary: 'Only this case, or the cases that start with this; repeatable',
      helpValue: 'NAME',
      multiple: true,
    }),
    strict: Flags.boolean({ summary: 'Treat advice as failure' }),
    within: durationFlag({ summary: 'Longest time for an answer (default 10s, as in the API document)' }),
    'secret-file': secretFileFlag,
  }

  async run(): Promise<void> {
    const { flags, args, signal, app } = this
    const { secret } = await webhookSecrets(app, flags['secret-file'])
    const { junit } = flags
    const fileOptions = { overwrite: true, binary: false, flag: '--junit' }
    const file = junit === undefined ? undefined : await openOutputFile(this.context, junit, fileOptions)
    const { clock, random } = this.context
    const { http, url } = await receiverAt(app, args.url, 'URL')
    app.reporter.note(
      `Sending made-up events to ${shownUrl(url)}, signed with the webhook secret; the requests they name do not exist.`,
    )
    const { report, failure } = await checkReceiver({
      http,
      clock,
      random,
      url,
      secret,
      withinMs: flags.within,
      strict: flags.strict,
      only: flags.only,
      signal,
      onCase: ({ id }, done, of) => app.reporter.status(`${done}/${of} ${id}`),
    })
    const unwritten = await failureToWrite(this.context, file, () =>
      Buffer.from(app.secrets.redact(junitText(report))),
    )
    this.answer(receiverCheckView(report), unwritten ?? failure)
  }
}
