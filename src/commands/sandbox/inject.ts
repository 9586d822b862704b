import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { changedView } from '../../output/views/account.ts'

export default class SandboxInject extends SandboxCommand<typeof SandboxInject> {
  static override summary = 'Make the next requests or calls of a sandbox go wrong'
  static override description =
    'A SCENARIO (see: refcheck sandbox scenarios) applies to the next requests created. --on and --fault apply to the next calls. A fault is JSON with a kind: status, cut, hang, latency, no-id, content-type, truncated, body or switch. latency waits by the sandbox’s clock: a manual one has to be advanced. A switch changes the sandbox permanently at that call: revoke-key, deactivate-user, no-credits, expire-trial, deactivate-subscription, replace-package.'
  static override examples = [
    'refcheck sandbox inject declined --times 3',
    `refcheck sandbox inject --on 'POST /v1/requests' --fault '{"kind":"cut","when":"after"}'`,
    `refcheck sandbox inject --on 'GET *' --fault '{"kind":"latency","ms":3000,"when":"before"}'`,
    `refcheck sandbox inject --on '*' --after 4 --fault '{"kind":"switch","switch":"revoke-key"}'`,
    'refcheck sandbox inject --clear',
  ]
  static override args = { scenario: Args.string({ description: 'name of a scenario', ignoreStdin: true }) }
  static override flags = {
    on: Flags.string({
      summary: 'Which calls: method and path, such as POST /v1/requests',
      helpValue: 'CALLS',
    }),
    fault: Flags.string({ summary: 'The fault, as JSON', helpValue: 'JSON', dependsOn: ['on'] }),
    times: Flags.integer({ helpValue: 'N', summary: 'How many requests or calls (default 1)', min: 1 }),
    after: Flags.integer({ helpValue: 'N', summary: 'How many to let pass first (default 0)', min: 0 }),
    clear: Flags.boolean({ summary: 'Clear all faults' }),
    ...sandboxFlags,
  }

  async run(): Promise<void> {
    const { on, fault, times, after, clear } = this.flags
    const { scenario } = this.args
    const givenCount = [scenario, fault, clear || undefined].filter((each) => each !== undefined).length
    this.refuseIf(
      givenCount !== 1,
      'SCENARIO, --fault and --clear: exactly one is required',
      'Show examples with: refcheck sandbox inject --help',
    )
    const sandbox = await this.connect(this.flags['base-url'])
    if (clear) {
      await sandbox.send('clear-faults', {})
      return this.answer(changedView({ cleared: true }, 'All faults are cleared.'))
    }
    const faultFields =
      scenario === undefined
        ? {
            on,
            fault: this.parseJson(
              fault ?? '',
              '--fault',
              `Give JSON such as '{"kind":"cut","when":"after"}'.`,
            ),
          }
        : { scenario }
    const injection = {
      ...faultFields,
      ...(times === undefined ? {} : { times }),
      ...(after === undefined ? {} : { after }),
    }
    await sandbox.send('inject', injection)
    this.answer(changedView(injection, `Injected: ${JSON.stringify(injection)}`))
  }
}
