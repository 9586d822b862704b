import { sandboxFlags } from '../../cli/flags/server.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { type SandboxState, sandboxStateView } from '../../output/views/sandbox.ts'

export default class SandboxStatus extends SandboxCommand<typeof SandboxStatus> {
  static override summary = 'Show the state of a running sandbox'
  static override examples = ['refcheck sandbox status --json']
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const sandbox = await this.connect(this.flags['base-url'])
    this.answer(sandboxStateView((await sandbox.read('state')) as SandboxState))
  }
}
