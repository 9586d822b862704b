import { Help } from '@oclif/core'

import { currentContext } from './context.ts'

/** oclif's own help, written to the streams of this run. */
export default class StreamedHelp extends Help {
  protected override log(...lines: string[]): void {
    currentContext().streams.stdout.write(`${lines.join(' ')}\n`)
  }
}
