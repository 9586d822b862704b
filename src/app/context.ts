import { AsyncLocalStorage } from 'node:async_hooks'

import { InternalError } from '../errors/kinds.ts'
import { type Clock, systemClock } from '../host/clock.ts'
import { type Environment, processEnvironment, type Interrupts, processInterrupts } from '../host/process.ts'
import { currentFolder } from '../host/paths.ts'
import { type Random, systemRandom } from '../host/random.ts'
import type { Secrets } from '../host/secrets.ts'
import { processStreams, type Streams } from '../output/terminal.ts'
import type { Prompter } from '../prompt/prompter.ts'

/** All that a run of the program takes from outside. Tests make their own. */
export interface Context {
  env: Environment
  clock: Clock
  random: Random
  streams: Streams
  interrupts: Interrupts
  cwd: string
  /** What was typed after the program's name; main sets it. */
  argv?: readonly string[] | undefined
  /** What is printed and stored nowhere; main makes it of the environment, and commands add what they read. */
  secrets?: Secrets | undefined
  /** Runs another command line of this program; main sets it. */
  program?: ((argv: readonly string[], context: Context) => Promise<number>) | undefined
  /** Makes the process independent of the program's files, which an upgrade replaces; absent where src runs as it is. */
  pinCode?: (() => void) | undefined
  /** In place of the terminal's; for tests. */
  prompter?: Prompter | undefined
}

/** The context of the real process. */
export function processContext(): Context {
  return {
    env: processEnvironment(),
    clock: systemClock,
    random: systemRandom,
    streams: processStreams(),
    interrupts: processInterrupts(),
    cwd: currentFolder(),
  }
}

const contexts = new AsyncLocalStorage<Context>()

/** oclif makes the commands itself, so they find their context here; runs side by side keep theirs apart. */
export function within<T>(context: Context, run: () => Promise<T>): Promise<T> {
  return contexts.run(context, run)
}

export function currentContext(): Context {
  const context = contexts.getStore()
  if (context === undefined) throw new InternalError('a command was started outside main')
  return context
}
