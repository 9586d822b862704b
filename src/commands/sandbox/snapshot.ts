import { readSnapshot } from '../../app/sandbox.ts'
import { sandboxFlags } from '../../cli/flags/server.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { documentView } from '../../output/views/schema.ts'

export default class SandboxSnapshot extends SandboxCommand<typeof SandboxSnapshot> {
  static override summary = 'Print the whole state of a sandbox as JSON'
  static override description = 'Restore it with "sandbox restore". It contains the sandbox’s own keys.'
  static override examples = ['refcheck sandbox snapshot > before.json']
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const sandbox = await this.connect(this.flags['base-url'])
    this.answer(documentView(await readSnapshot(this.app, sandbox)))
  }
}
