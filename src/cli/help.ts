import { stripVTControlCharacters } from 'node:util'

import { Help } from '@oclif/core/help'

import { terminalOf } from '../output/terminal.ts'
import { currentContext } from './context.ts'

/** oclif's own help, written to the streams of this run, with colours only where they are wanted. */
export default class StreamedHelp extends Help {
  /** Says the version as --version does: a page is prepared on one machine and shown on all. */
  override formatRoot(): string {
    return super.formatRoot().replace(this.config.userAgent, `refcheck ${this.config.version}`)
  }

  protected override log(...lines: string[]): void {
    const { streams, env } = currentContext()
    const text = `${lines.join(' ')}\n`
    const { color } = terminalOf(streams.stdout, env, false)
    streams.stdout.write(color ? text : stripVTControlCharacters(text))
  }
}
