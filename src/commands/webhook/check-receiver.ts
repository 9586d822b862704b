import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/values.ts'
import { secretFileFlag } from '../../cli/flags/webhook.ts'
import { tryToWriteOutput, openOptionalFile } from '../../app/output-file.ts'
import {
  openReceiver,
  createReceiverStarter,
  createStoredFileReader,
  createStoredUrlReader,
  webhookSecrets,
} from '../../app/webhook.ts'
import { withoutQuery } from '../../domain/webhook/delivery.ts'
import { junitText, receiverCheckView } from '../../output/views/checks.ts'
import { checkReceiver } from '../../usecases/webhook/receiver-check.ts'

export default class WebhookCheckReceiver extends BaseCommand<typeof WebhookCheckReceiver> {
  static override summary = 'Test a receiver against everything the service may send'
  static override description = [
    'Sends about 300 made-up events, most of them signed with the webhook secret. A receiver cannot tell them from real ones, so use one under test. The URL must be https, or http on this machine.',
    'A case fails if the receiver breaks a rule of the API document. It is advice if the document leaves the matter open but good receivers agree. Exit 10 if a case failed, 7 if the connection was refused.',
    'An answer does not show what was stored. --stored-url is read with GET and has to answer a JSON list of {request_id, status}, one for each stored event in the order stored; --stored-file holds one such object a line. They show which events were lost, repeated, stored out of order, forged, or acknowledged before they were stored.',
    '--restart, with either of them, shows what a crash loses: the receiver is killed three times while events arrive. Where nothing answers at the URL, the check starts COMMAND, kills it (SIGKILL) and starts it again, and ends it when the check is over. Where the receiver already runs, COMMAND has to kill it at once, start it in the background with the same storage, and exit 0: docker restart --timeout 0 NAME, or a script. It runs without a shell, its output is discarded, and its environment has the webhook secret but no key.',
  ].join('\n\n')
  static override examples = [
    'refcheck webhook check-receiver http://127.0.0.1:3000/hook',
    'refcheck webhook check-receiver https://staging.example.com/hook --secret-file secret.txt --junit report.xml',
    'refcheck webhook check-receiver http://127.0.0.1:3000/hook --only signature --json',
    "refcheck webhook check-receiver http://127.0.0.1:3000/hook --stored-url http://127.0.0.1:3000/stored --restart 'node receiver.js'",
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
    'stored-url': Flags.string({
      summary: 'URL that lists the stored events as JSON, to judge what was stored',
      helpValue: 'URL',
      exclusive: ['stored-file'],
    }),
    'stored-file': Flags.string({
      summary: 'File with a line of JSON for each stored event, to judge what was stored',
      helpValue: 'FILE',
    }),
    restart: Flags.string({
      summary: 'Command that starts the receiver, or kills and restarts it, without a shell',
      helpValue: 'COMMAND',
    }),
    within: durationFlag({ summary: 'Longest time for an answer (default 10s, as in the API document)' }),
    'secret-file': secretFileFlag,
  }

  async run(): Promise<void> {
    const { flags, args, signal, app } = this
    const { secret } = await webhookSecrets(app, flags['secret-file'])
    const file = await openOptionalFile(this.context, flags.junit, { overwrite: true, flag: '--junit' })
    const { 'stored-url': storedUrl, 'stored-file': storedFile, restart } = flags
    this.refuseIf(
      restart !== undefined && storedUrl === undefined && storedFile === undefined,
      '--restart requires --stored-url or --stored-file',
      'What a crash loses is seen only in what was stored.',
    )
    const { clock, random } = this.context
    const { http, url } = await openReceiver(app, args.url, 'URL')
    const readStored =
      storedUrl !== undefined
        ? await createStoredUrlReader(app, storedUrl)
        : storedFile === undefined
          ? undefined
          : createStoredFileReader(app, storedFile)
    const startReceiver =
      restart === undefined ? undefined : await createReceiverStarter(app, restart, secret)
    app.reporter.note(
      `Sending made-up events to ${withoutQuery(url)}, signed with the webhook secret; the requests they name do not exist.`,
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
      readStored,
      startReceiver,
      onCase: ({ id }, done, total) => app.reporter.status(`${done}/${total} ${id}`),
    })
    const writeFailure = await tryToWriteOutput(this.app, file, () =>
      Buffer.from(app.secrets.redact(junitText(report))),
    )
    this.answer(receiverCheckView(report), writeFailure ?? failure)
  }
}
