import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

import type { Context } from '../../src/app/context.ts'
import { main as mainOfSource } from '../../src/cli/main.ts'
import * as kindsOfSource from '../../src/errors/kinds.ts'
import { type Clock, systemClock } from '../../src/host/clock.ts'
import { type Random, systemRandom } from '../../src/host/random.ts'
import type { Prompter } from '../../src/prompt/prompter.ts'
import { expectDescribed } from './described.ts'
import { captureStreams, type StreamOptions } from './streams.ts'

export interface RunOptions extends StreamOptions {
  env?: Record<string, string> | undefined
  clock?: Clock | undefined
  random?: Random | undefined
  prompter?: Prompter | undefined
  /** Aborted to press Ctrl-C. */
  signal?: AbortSignal | undefined
  /** Whether `signal` is SIGTERM instead. */
  terminated?: boolean | undefined
  cwd?: string | undefined
  /** Instead of the program that the tests run on. */
  main?: ((argv: readonly string[], context: Context) => Promise<number>) | undefined
}

export interface Outcome {
  code: number
  stdout: string
  stderr: string
  /** stdout's exact bytes. */
  bytes: Buffer
  /** stdout as one JSON document; throws where it is anything else. */
  json: () => unknown
}

const own = new URL('../../', import.meta.url)
/** The folder of the build that the tests run on, instead of src. */
const built = process.env['REFCHECK_BUILT']
const isBuilt = built !== undefined
const root = isBuilt ? pathToFileURL(`${built}/`) : own
const isEarlier = isBuilt && root.href !== own.href

/** What the build made of src, and where a built command is found. */
export function builtProgram() {
  const load = createRequire(root)
  return load('./dist/cli/start/start.cjs') as typeof import('../../src/cli/start/start.ts')
}

/** What a prompt throws when it is left, or gone back from: the classes of the program that the tests run on. */
export const { InterruptedError, PromptBackError } = isBuilt ? builtProgram() : kindsOfSource

/** The program: src as it is, or with `npm run test:built` the bundle, its commands found as bin/run.js finds them. */
const program: NonNullable<RunOptions['main']> = isBuilt
  ? (argv, context) => {
      const { builtCommands, main } = builtProgram()
      return main(argv, context, root, { builtCommand: builtCommands(new URL('dist/', root)) })
    }
  : (argv, context) => mainOfSource(argv, context, root, { fromSource: true })

/** Runs one command line in this process, as bin does, with streams and environment of its own. */
export async function refcheck(argv: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const streams = captureStreams(options)
  const signal = options.signal ?? new AbortController().signal
  const context: Context = {
    env: options.env ?? {},
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    streams,
    interrupts: {
      signal,
      get stopped() {
        return signal.aborted
      },
      get terminated() {
        return signal.aborted && options.terminated === true
      },
    },
    cwd: options.cwd ?? process.cwd(),
    prompter: options.prompter,
  }
  const code = await (options.main ?? program)(argv, context)
  const bytes = streams.out()
  const stdout = bytes.toString('utf8')
  if (!isEarlier) expectDescribed(argv, stdout)
  return {
    code,
    stdout,
    stderr: streams.err().toString('utf8'),
    bytes,
    json: () => JSON.parse(stdout) as unknown,
  }
}
