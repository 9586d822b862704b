import { pathToFileURL } from 'node:url'

import { InterruptedError, PromptBackError } from '../../errors/kinds.ts'
import { Secrets, secretsOf } from '../../host/secrets.ts'
import { failureText } from '../../output/present.ts'
import { type Context, processContext } from '../../app/context.ts'
import { internalError, main } from '../main.ts'
import { builtCommands, holdingClock, pinLoadedCode } from './built-command.ts'

// Tests drive the built program through these.
export { builtCommands, InterruptedError, main, PromptBackError }

/** Runs a command line of the built program whose package is in the folder `root`. */
export function start(argv: readonly string[], root: string): Promise<number> {
  // Stack traces are never printed, and undici makes an error for each connection that it closes.
  Error.stackTraceLimit = 0
  // A diagnostic report of Node, which the user may have asked for, would hold the API key in clear text.
  globalThis.process.report.excludeEnv = true
  const folder = pathToFileURL(`${root}/`)
  const dist = new URL('dist/', folder)
  const pinCode = (): void => pinLoadedCode(dist)
  const process = processContext()
  const context: Context = {
    ...process,
    secrets: secretsOf(process.env, secrets),
    clock: holdingClock(pinCode),
    pinCode,
  }
  return main(argv, context, folder, { builtCommand: builtCommands(dist) })
}

/** Of this process, as far as they are known when it crashes. */
const secrets = new Secrets()

/** What is printed of an error that nothing caught. */
export function crashText(error: unknown): string {
  return secrets.redact(failureText(internalError(error), { columns: undefined, color: false }))
}
