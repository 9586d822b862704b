import { sandboxFlags } from '../../cli/flags/server.ts'
import { Flags } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import { type LogRow, logRowView, logView } from '../../output/views/sandbox.ts'
import { followLog } from '../../usecases/sandbox/follow-log.ts'

export default class SandboxLogs extends SandboxCommand<typeof SandboxLogs> {
  static override summary = 'Show the calls that came, the changes of status and the events of a sandbox'
  static override description =
    'The last thousand, oldest first. --follow goes on until Ctrl-C (exit 130); with --json it prints one line for each. The id of an event is what "sandbox redeliver" takes.'
  static override examples = [
    '<%= config.bin %> sandbox logs',
    '<%= config.bin %> sandbox logs --follow',
    `<%= config.bin %> sandbox logs --jq 'map(select(.kind == "call"))'`,
  ]
  static override flags = {
    follow: Flags.boolean({ summary: 'Go on with what happens from now on' }),
    ...sandboxFlags,
  }

  async run(): Promise<void> {
    const sandbox = await this.running(this.flags['base-url'])
    if (!this.flags.follow) {
      this.answer(logView((await sandbox.read('log')) as LogRow[]))
      return
    }
    const { gone = new AbortController().signal } = this.context.streams.stdout
    const over = AbortSignal.any([this.signal, gone])
    for await (const entry of followLog<LogRow>(sandbox, over)) this.answerLine(logRowView(entry))
    if (this.signal.aborted) this.end(new InterruptedError('interrupted'))
  }
}
