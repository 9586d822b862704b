import { resolve } from 'node:path'

import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { createDemoServices } from '../../app/sandbox.ts'
import { documentView } from '../../output/views/schema.ts'
import { exitCodes } from '../../errors/kinds.ts'

export default class SandboxDemo extends BaseCommand<typeof SandboxDemo> {
  static override summary = 'Show the whole job, on a temporary sandbox'
  static override description =
    'Orders, waits, verifies a webhook event and downloads the PDFs in about ten seconds, and prints each command with its output. It uses neither your profiles nor your store, and leaves nothing running.'
  static override examples = ['refcheck sandbox demo', 'refcheck sandbox demo --output demo-reports']
  static override flags = {
    output: Flags.string({ summary: 'Folder for the PDFs (default: a temporary one)', helpValue: 'DIR' }),
  }

  async run(): Promise<void> {
    const { json, output } = this.flags
    const { streams, cwd } = this.context
    const sink = json ? streams.stderr : streams.stdout
    const { runDemo } = await import('../../usecases/demo/run.ts')
    const services = await createDemoServices(this.context, {
      sink,
      terminal: this.terminalAt(sink),
      interruptedCode: exitCodes.interrupted,
      output: output === undefined ? undefined : resolve(cwd, output),
    })
    const result = await runDemo(services)
    if (json) this.answer(documentView(result))
  }
}
