import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { changedView } from '../../output/views/account.ts'
import { setInSandbox } from '../../usecases/sandbox/control.ts'

export default class SandboxSet extends SandboxCommand<typeof SandboxSet> {
  static override summary = 'Change a setting of a running sandbox'
  static override description = [
    'webhook-url    a URL, or none',
    'credits        a number, or unlimited',
    'trial          none, running or expired',
    'subscription   active or inactive',
    'active-user    e-mail of a user who is active from now on',
    'inactive-user  e-mail of a user who no longer is',
  ].join('\n')
  static override examples = [
    'refcheck sandbox set webhook-url http://127.0.0.1:3000/hooks',
    'refcheck sandbox set credits 3',
    'refcheck sandbox set webhook-url none',
  ]
  static override args = {
    name: Args.string({ required: true, description: 'name of the setting', ignoreStdin: true }),
    value: Args.string({ required: true, description: 'its new value', ignoreStdin: true }),
  }
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const { name, value } = this.args
    const sandbox = await this.connect(this.flags['base-url'])
    await setInSandbox(sandbox, name, value)
    this.answer(changedView({ name, value }, `Set ${name} to ${value}.`))
  }
}
