import { InterruptedError } from '../../errors/interrupted.ts'
import { processContext } from '../context.ts'
import { main } from '../main.ts'
import { builtCommands } from './built-command.ts'

// Tests drive the built program through these.
export { builtCommands, InterruptedError, main }

/** Runs a command line of the built program whose package is in the folder `root`. */
export function start(argv: readonly string[], root: URL): Promise<number> {
  return main(argv, processContext(), root, { builtCommand: builtCommands(new URL('dist/', root)) })
}
