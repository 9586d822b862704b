import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { type Redelivered, redeliveredView } from '../../output/views/sandbox.ts'

export default class SandboxRedeliver extends SandboxCommand<typeof SandboxRedeliver> {
  static override summary = 'Deliver an event of a sandbox once more, the same bytes'
  static override description =
    'EVENT is the id of an event, as "sandbox logs" shows it, or of a request: its latest event. It is sent at once; one that is not acknowledged is retried as every event.'
  static override examples = [
    'refcheck sandbox redeliver 6b450a6d-74f9-474b-95f9-ba6b11a8536f',
    'refcheck sandbox redeliver 6b450a6d-74f9-474b-95f9-ba6b11a8536f --json',
  ]
  static override args = {
    event: Args.string({ required: true, description: 'id of an event or a request', ignoreStdin: true }),
  }
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const sandbox = await this.connect(this.flags['base-url'])
    const delivery = await sandbox.send('redeliver', { delivery_id: this.args.event })
    this.answer(redeliveredView(delivery as Redelivered))
  }
}
