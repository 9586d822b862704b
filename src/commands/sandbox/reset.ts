import { sandboxFlags } from '../../cli/flags/server.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { type SandboxState, sandboxStateView } from '../../output/views/sandbox.ts'

export default class SandboxReset extends SandboxCommand<typeof SandboxReset> {
  static override summary = 'Reset a running sandbox to its initial state'
  static override description =
    'Keys and settings stay. Ids of requests, checks and events are new ones, and repeat only where the sandbox was started with --seed.'
  static override examples = ['refcheck sandbox reset']
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const sandbox = await this.connect(this.flags['base-url'])
    this.answer(sandboxStateView((await sandbox.send('reset', {})) as SandboxState))
  }
}
