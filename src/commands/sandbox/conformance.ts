import { tryToWriteOutput, openOptionalFile } from '../../app/output-file.ts'
import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/values.ts'
import { conformanceJunit, conformanceView } from '../../output/views/checks.ts'

export default class SandboxConformance extends BaseCommand<typeof SandboxConformance> {
  static override summary = 'Check a deployment against every rule of the API'
  static override description = [
    'Makes calls and compares the answers with the API document; each finding names the rule. By default it only reads. With --allow-create it places about ten orders for a person at example.com, and more if the deployment accepts what it should refuse.',
    'Rules that this run cannot check are listed as not judged, with what they need. What is allowed but surprising is advice. Exit 10 if a rule is broken.',
  ].join('\n')
  static override examples = [
    'refcheck sandbox conformance',
    'refcheck sandbox conformance --allow-create --control --junit report.xml',
  ]
  static override flags = {
    'base-url': Flags.string({ summary: 'Base URL to check (default: the one in use)', helpValue: 'URL' }),
    'allow-create': Flags.boolean({ summary: 'Also place orders' }),
    control: Flags.boolean({
      summary: 'Control the sandbox on this machine: move its clock, change its plan, and restore both',
    }),
    'second-user': Flags.string({ summary: 'Another active user, preferably a member', helpValue: 'EMAIL' }),
    'no-create-user': Flags.string({
      summary: 'An active user whose role may not create requests',
      helpValue: 'EMAIL',
    }),
    'inactive-user': Flags.string({ summary: 'A user who is no longer active', helpValue: 'EMAIL' }),
    'foreign-user': Flags.string({
      summary: 'A user of another organisation, whose key is in REFCHECK_FOREIGN_API_KEY',
      helpValue: 'EMAIL',
    }),
    recipient: Flags.string({
      summary: 'Recipient of the orders (default conformance@example.com)',
      helpValue: 'EMAIL',
    }),
    'recipient-cancelled': Flags.string({
      summary: 'Recipient whose requests end CANCELLED',
      helpValue: 'EMAIL',
    }),
    'recipient-error': Flags.string({ summary: 'Recipient whose requests end in ERROR', helpValue: 'EMAIL' }),
    'recipient-mixed': Flags.string({
      summary: 'Recipient of whose checks some are COMPLETED and some are not',
      helpValue: 'EMAIL',
    }),
    'webhook-port': Flags.integer({
      summary: 'Receive events on this port; the organisation’s webhook must lead to it',
      helpValue: 'PORT',
      min: 1,
      max: 65_535,
    }),
    'use-up-quota': Flags.boolean({
      summary: 'Use up the quota to check it; the key is blocked meanwhile',
    }),
    watch: durationFlag({ summary: 'Longest time to follow a request (default 1m)' }),
    junit: Flags.string({ summary: 'Also write the result as JUnit XML', helpValue: 'FILE' }),
    only: Flags.string({ summary: 'Only this topic or case; repeatable', helpValue: 'NAME', multiple: true }),
    timeout: durationFlag({
      summary: 'Longest total wait for the quota (default: no limit)',
    }),
  }

  async run(): Promise<void> {
    const { flags, signal } = this
    const { 'base-url': baseUrl, watch: watchMs, timeout: waitBudgetMs, only = [] } = flags
    this.refuseIf(
      baseUrl !== undefined && flags.profile !== undefined,
      '--base-url and --profile cannot be combined',
      'A profile has its own base URL, and its key is sent nowhere else.',
    )
    const file = await openOptionalFile(this.context, flags.junit, { overwrite: true, flag: '--junit' })
    const { checkDeployment } = await import('../../usecases/conformance/check-deployment.ts')
    const services = await this.app.services(
      'settings',
      'secrets',
      'env',
      'profile',
      'http',
      'clock',
      'reporter',
    )
    const { report, failure } = await checkDeployment(services, {
      baseUrl,
      secondEmail: flags['second-user'],
      noCreateEmail: flags['no-create-user'],
      inactiveEmail: flags['inactive-user'],
      foreignEmail: flags['foreign-user'],
      recipients: {
        usual: flags.recipient,
        cancelled: flags['recipient-cancelled'],
        error: flags['recipient-error'],
        mixed: flags['recipient-mixed'],
      },
      allowCreate: flags['allow-create'],
      control: flags.control,
      useUpQuota: flags['use-up-quota'],
      webhookPort: flags['webhook-port'],
      watchMs,
      waitBudgetMs,
      only,
      signal,
    })
    const writeFailure = await tryToWriteOutput(this.app, file, () =>
      Buffer.from(this.app.secrets.redact(conformanceJunit(report))),
    )
    this.answer(conformanceView(report), writeFailure ?? failure)
  }
}
