import { sandboxFlags } from '../../cli/flags/sandbox.ts'
import { SandboxCommand } from '../../compose/sandbox.ts'
import { documentView } from '../../output/views/schema.ts'

export default class SandboxSnapshot extends SandboxCommand<typeof SandboxSnapshot> {
  static override summary = 'Print all that a running sandbox holds, as JSON.'
  static override description = '"sandbox restore" takes it back. It holds the sandbox’s own keys.'
  static override examples = ['<%= config.bin %> sandbox snapshot > before.json']
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const sandbox = await this.running(this.flags['base-url'])
    this.answer(documentView(await sandbox.read('snapshot')))
  }
}
