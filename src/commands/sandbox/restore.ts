import { Args } from '@oclif/core'

import { readInput } from '../../cli/input.ts'
import { SandboxCommand, sandboxFlags } from '../../cli/sandbox-command.ts'
import { parseBodyFile } from '../../domain/form/body-file.ts'
import { type SandboxState, sandboxStateView } from '../../output/views/sandbox-state.ts'

export default class SandboxRestore extends SandboxCommand<typeof SandboxRestore> {
  static override summary = 'Have a running sandbox hold what a snapshot held.'
  static override examples = ['<%= config.bin %> sandbox restore before.json']
  static override args = {
    file: Args.string({ description: 'a snapshot; - or nothing for stdin', ignoreStdin: true }),
  }
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const { file } = this.args
    const snapshot = parseBodyFile(
      await readInput(this.context, file, 'the snapshot'),
      file ?? 'the snapshot',
    )
    const sandbox = await this.running(this.flags['base-url'])
    this.answer(sandboxStateView((await sandbox.tell('restore', snapshot)) as SandboxState))
  }
}
