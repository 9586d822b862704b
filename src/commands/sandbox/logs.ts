import { uuidFlag } from '../../cli/flags/values.ts'
import { sandboxFlags } from '../../cli/flags/server.ts'
import { Flags } from '../../cli/oclif.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import { type LogRow, logRowView, logView } from '../../output/views/sandbox.ts'
import { followLog, readLog } from '../../usecases/sandbox/control.ts'

export default class SandboxLogs extends SandboxCommand<typeof SandboxLogs> {
  static override summary = 'Show the calls that came, the changes of status and the events of a sandbox'
  static override description =
    'The last thousand, oldest first. --bodies shows what was sent and answered, up to 64 KiB each; keys and secrets are masked, and --json has the headers as well. --follow goes on until Ctrl-C (exit 130); with --json it prints one line for each. The id of an event is what "sandbox redeliver" takes.'
  static override examples = [
    'refcheck sandbox logs',
    'refcheck sandbox logs --follow',
    `refcheck sandbox logs --bodies --path '/v1/requests*' --status 4xx`,
    'refcheck sandbox logs --request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  ]
  static override flags = {
    follow: Flags.boolean({ summary: 'Go on with what happens from now on' }),
    bodies: Flags.boolean({ summary: 'Show bodies, with keys and secrets masked' }),
    path: Flags.string({
      summary: 'Only calls of this path; * stands for any part of it',
      helpValue: 'PATH',
    }),
    status: Flags.string({
      summary: 'Only this status: 404, 4xx, or a request’s, such as PARTIAL',
      helpValue: 'STATUS',
    }),
    request: uuidFlag({ summary: 'Only what concerns this request' }),
    ...sandboxFlags,
  }

  async run(): Promise<void> {
    const { follow, bodies, path, status, request } = this.flags
    this.refuseIf(
      status !== undefined && !/^(?:[1-5](?:\d\d|xx)|[a-z_]+)$/i.test(status),
      `--status: "${status?.slice(0, 60)}" is not a status`,
      'Give an HTTP status such as 404 or 4xx, or the status of a request such as PARTIAL.',
    )
    const options = { bodies, path, status, request }
    const sandbox = await this.connect(this.flags['base-url'])
    if (!follow) {
      const isFiltered = [path, status, request].some((each) => each !== undefined)
      this.answer(logView(await readLog<LogRow>(sandbox, options), isFiltered))
      return
    }
    const { closedSignal = new AbortController().signal } = this.context.streams.stdout
    const stopSignal = AbortSignal.any([this.signal, closedSignal])
    for await (const entry of followLog<LogRow>(sandbox, options, stopSignal))
      this.answerLine(logRowView(entry))
    if (this.signal.aborted) this.endWithFailure(new InterruptedError('interrupted'))
  }
}
