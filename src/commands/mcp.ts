import { resolve } from 'node:path'

import { BaseCommand, Flags } from '../cli/base-command.ts'
import { serveAgents } from '../app/agent.ts'

export default class Mcp extends BaseCommand<typeof Mcp> {
  static override summary = 'Let an agent read, check and plan over stdio'
  static override description = [
    'Speaks the Model Context Protocol on stdin and stdout; a program that runs an agent starts it. Nothing is ordered: an order becomes a plan with a code, which a person approves with "refcheck approve CODE" in a terminal of their own.',
    'Names, e-mails, phones, cells of files and what checks need are masked (P. S., p…@example.com) unless --allow-personal-data is given. API keys, webhook secrets, addresses of reports and what is in a report are never shown. See: refcheck help agents',
  ].join('\n\n')
  static override examples = [
    'refcheck mcp --profile agency',
    'refcheck mcp --files ./incoming --reports ./reports',
  ]
  static override flags = {
    files: Flags.string({
      summary: 'The only folder whose files may be checked and planned (default: none)',
      helpValue: 'DIR',
    }),
    reports: Flags.string({
      summary: 'The only folder to store reports in (default: none)',
      helpValue: 'DIR',
    }),
    'allow-personal-data': Flags.boolean({
      summary:
        'Show names, e-mails, phones, cells of files, additional information and names of report files as they are',
    }),
  }

  async run(): Promise<void> {
    const { context, flags, app } = this
    const { stdin, stdout } = context.streams
    this.refuseIf(
      stdin.isTTY || stdout.isTTY,
      'refcheck mcp speaks with a program, and this is a terminal',
      'Set it as the command of a server in the program that runs the agent: refcheck mcp',
    )
    this.pinProgramFiles()
    const resolveFolder = (typed: string | undefined) =>
      typed === undefined ? undefined : resolve(context.cwd, typed)
    const allowances = {
      files: resolveFolder(flags.files),
      reports: resolveFolder(flags.reports),
      showsPersonalData: flags['allow-personal-data'],
    }
    await serveAgents(app, allowances, this.signal)
  }
}
