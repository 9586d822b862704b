import { pathToFileURL } from 'node:url'

import { InterruptedError } from '../../errors/kinds.ts'
import { WentBack } from '../../errors/went-back.ts'
import { processContext } from '../context.ts'
import { main } from '../main.ts'
import { builtCommands } from './built-command.ts'
import { holdingClock, holdProgram } from './hold-program.ts'

// Tests drive the built program through these.
export { builtCommands, InterruptedError, main, WentBack }

/** Runs a command line of the built program whose package is in the folder `root`. */
export function start(argv: readonly string[], root: string): Promise<number> {
  // Nobody is shown a stack trace, and undici makes an error for each connection that it closes.
  Error.stackTraceLimit = 0
  const folder = pathToFileURL(`${root}/`)
  const dist = new URL('dist/', folder)
  const hold = (): void => holdProgram(dist)
  const context = { ...processContext(), clock: holdingClock(hold), hold }
  return main(argv, context, folder, { builtCommand: builtCommands(dist) })
}
