import { stripVTControlCharacters } from 'node:util'

import { Help } from '@oclif/core/help'

import { terminalOf } from '../output/terminal.ts'
import { currentContext } from './context.ts'
import { commandNames, unknownCommand } from './suggest.ts'

/** oclif's own help, written to the streams of this run, with colours only where they are wanted. */
export default class StreamedHelp extends Help {
  /** Says the version as --version does: a page is prepared on one machine and shown on all. */
  override formatRoot(): string {
    return super.formatRoot().replace(this.config.userAgent, `refcheck ${this.config.version}`)
  }

  override async showHelp(argv: string[]): Promise<void> {
    try {
      await super.showHelp(argv)
    } catch (error) {
      if (!(error instanceof Error) || !/^Command .* not found\.$/s.test(error.message)) throw error
      const words = argv.filter((arg) => !arg.startsWith('-')).flatMap((arg) => arg.split(':'))
      throw unknownCommand(words, commandNames(this.config))
    }
  }

  protected override log(...lines: string[]): void {
    const { streams, env } = currentContext()
    const text = `${lines.join(' ')}\n`
    const { color } = terminalOf(streams.stdout, env, false)
    streams.stdout.write(color ? text : stripVTControlCharacters(text))
  }
}
