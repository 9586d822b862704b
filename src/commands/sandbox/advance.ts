import { parseDuration } from '../../domain/wording/time.ts'
import { sandboxFlags } from '../../cli/flags/server.ts'
import { Args } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { type SandboxState, sandboxStateView } from '../../output/views/sandbox.ts'

export default class SandboxAdvance extends SandboxCommand<typeof SandboxAdvance> {
  static override summary = 'Move the clock of a sandbox started with --clock manual'
  static override description =
    'Quotas, token lifetimes, progress and webhook retries all move with it, in order.'
  static override examples = ['refcheck sandbox advance 2h', 'refcheck sandbox advance 30d --json']
  static override args = {
    duration: Args.string({ required: true, description: 'how far: 30s, 2h, 30d', ignoreStdin: true }),
  }
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const ms = parseDuration(this.args.duration)
    this.refuseIf(
      ms === undefined,
      `DURATION: "${this.args.duration.slice(0, 60)}" is not a duration`,
      'Give a number and a unit: 30s, 5m, 2h, 30d or 1h30m.',
    )
    const sandbox = await this.connect(this.flags['base-url'])
    this.answer(sandboxStateView((await sandbox.send('advance', { ms })) as SandboxState))
  }
}
