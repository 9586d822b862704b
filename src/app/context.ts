import { AsyncLocalStorage } from 'node:async_hooks'

import { InternalError } from '../errors/kinds.ts'
import { type Clock, systemClock } from '../host/clock.ts'
import { type Environment, processEnvironment, type Interrupts, processInterrupts } from '../host/process.ts'
import { currentFolder } from '../host/paths.ts'
import { type Random, systemRandom } from '../host/random.ts'
import type { Secrets } from '../host/secrets.ts'
import { processStreams, type Streams } from '../output/terminal.ts'
import type { Prompter } from '../prompt/prompter.ts'

/** Everything that a run of the program takes from its environment. Tests create their own. */
export interface Context {
  env: Environment
  clock: Clock
  random: Random
  streams: Streams
  interrupts: Interrupts
  cwd: string
  /** The words of the command line after the program's name; main sets them. */
  argv?: readonly string[] | undefined
  /**
   * Texts that are never printed or stored. main takes them from the environment, and commands add those that they
   * read.
   */
  secrets?: Secrets | undefined
  /** Runs another command line of this program in this process, and resolves with its exit code; main sets it. */
  runCommandLine?: ((argv: readonly string[], context: Context) => Promise<number>) | undefined
  /**
   * Reads all code of the program, since an upgrade may replace its files while it runs; undefined if src runs without
   * a build.
   */
  pinProgramFiles?: (() => void) | undefined
  /** Replaces the terminal's prompter in tests. */
  prompter?: Prompter | undefined
}

/** Returns the context of the real process. */
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

/**
 * Runs a command in a context. oclif creates the commands, so they read their context from here; concurrent runs stay
 * separate.
 */
export function runInContext<T>(context: Context, run: () => Promise<T>): Promise<T> {
  return contexts.run(context, run)
}

export function currentContext(): Context {
  const context = contexts.getStore()
  if (context === undefined) throw new InternalError('a command was started outside main')
  return context
}
