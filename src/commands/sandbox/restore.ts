import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args } from '../../cli/oclif.ts'
import { maxLargeInputBytes, readInput } from '../../app/input.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { type SandboxState, sandboxStateView } from '../../output/views/sandbox.ts'

export default class SandboxRestore extends SandboxCommand<typeof SandboxRestore> {
  static override summary = 'Restore a running sandbox from a snapshot'
  static override examples = ['refcheck sandbox restore before.json']
  static override args = {
    file: Args.string({ description: 'file with a snapshot (default: stdin)', ignoreStdin: true }),
  }
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const { file } = this.args
    const bytes = await readInput(this.context, file, 'the snapshot', maxLargeInputBytes)
    const snapshot = this.parseJson(
      bytes.toString('utf8'),
      file === undefined || file === '-' ? 'the snapshot' : `the snapshot "${file}"`,
      'Make a snapshot with: refcheck sandbox snapshot > FILE',
    )
    const sandbox = await this.connect(this.flags['base-url'])
    this.answer(sandboxStateView((await sandbox.send('restore', snapshot)) as SandboxState))
  }
}
