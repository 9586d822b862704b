import { BaseCommand } from '../../cli/base-command.ts'
import { durationFlag } from '../../cli/flags/duration.ts'
import { Flags } from '../../cli/oclif.ts'
import { conformancePorts } from '../../compose/conformance.ts'
import { conformanceView } from '../../output/views/conformance.ts'

export default class SandboxConformance extends BaseCommand<typeof SandboxConformance> {
  static override summary = 'Ask a deployment for every rule of the API document.'
  static override description = [
    'Sends calls and compares the answers with what the document says, word for word; each finding names the rule. By default it only reads. With --allow-create it places about ten orders, for a person at example.com; a deployment that accepts what it should refuse gets more.',
    'What a deployment does not show, such as an INACTIVE package where there is none, is told as not judged. Exit 10 where a rule is broken.',
  ].join('\n')
  static override usage = 'sandbox conformance [--base-url URL] [--allow-create] [FLAGS]'
  static override examples = [
    '<%= config.bin %> sandbox conformance',
    '<%= config.bin %> sandbox conformance --base-url http://127.0.0.1:4280 --allow-create --control',
    '<%= config.bin %> sandbox conformance --only users --only packages --json',
  ]
  static override flags = {
    'base-url': Flags.string({ summary: 'Where to ask (default: the service in use).', helpValue: 'URL' }),
    'allow-create': Flags.boolean({ summary: 'Place orders too.' }),
    control: Flags.boolean({
      summary:
        'It is a sandbox on this machine: move its clock, change its plan, and put all back afterwards.',
    }),
    'second-user': Flags.string({ summary: 'Another active user, best a member.', helpValue: 'EMAIL' }),
    'webhook-port': Flags.integer({
      summary: 'Receive events on this port, where the webhook of the organisation leads to it.',
      helpValue: 'PORT',
      min: 1,
      max: 65_535,
    }),
    'use-up-quota': Flags.boolean({
      summary:
        'Use the quota up to judge it: the key is of no use meanwhile (REFCHECK_QUOTA tells small windows).',
    }),
    watch: durationFlag({ summary: 'How long to follow a request (default 1m).' }),
    only: Flags.string({ summary: 'Only this topic or case.', helpValue: 'NAME', multiple: true }),
    timeout: durationFlag({
      summary: 'How long to wait for the quota altogether (default: as long as it takes).',
    }),
  }

  async run(): Promise<void> {
    const { flags, signal } = this
    const { 'base-url': baseUrl, watch: watchMs, timeout: waitBudgetMs, only = [] } = flags
    this.refuse(
      baseUrl !== undefined && flags.profile !== undefined,
      '--base-url and --profile exclude each other',
      'A profile has a base URL of its own; its key goes nowhere else.',
    )
    const { examine } = await import('../../usecases/conformance/examine.ts')
    const { report, failure } = await examine(await conformancePorts(this.scope), {
      baseUrl,
      secondEmail: flags['second-user'],
      allowCreate: flags['allow-create'],
      control: flags.control,
      useUpQuota: flags['use-up-quota'],
      webhookPort: flags['webhook-port'],
      watchMs,
      waitBudgetMs,
      only,
      signal,
    })
    this.answer(conformanceView(report), failure)
  }
}
