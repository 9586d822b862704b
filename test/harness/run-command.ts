import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

import type { Context } from '../../src/app/context.ts'
import { main as mainOfSource } from '../../src/cli/main.ts'
import { createCommandFinder as createFinderOfSource } from '../../src/cli/start/start.ts'
import * as kindsOfSource from '../../src/errors/kinds.ts'
import { type Clock, systemClock } from '../../src/host/clock.ts'
import { type Random, systemRandom } from '../../src/host/random.ts'
import type { Prompter } from '../../src/prompt/prompter.ts'
import { expectDescribed } from './described-output.ts'
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
  /** Called in place of the tested program. */
  main?: ((argv: readonly string[], context: Context) => Promise<number>) | undefined
}

export interface Outcome {
  code: number
  stdout: string
  stderr: string
  /** stdout's exact bytes. */
  bytes: Buffer
  /** Parses stdout as one JSON document. */
  json: () => unknown
}

const sourceRoot = new URL('../../', import.meta.url)
/** The folder of the build that the tests run on, instead of src. */
const builtFolder = process.env['REFCHECK_BUILT']
const isBuilt = builtFolder !== undefined
const root = isBuilt ? pathToFileURL(`${builtFolder}/`) : sourceRoot
const isOtherVersion = isBuilt && root.href !== sourceRoot.href

/** Loads the built program. */
export function loadBuiltProgram() {
  const load = createRequire(root)
  return load('./dist/cli/start/start.cjs') as typeof import('../../src/cli/start/start.ts')
}

/** The errors of a prompt that the user cancels or goes back from. The built program has its own classes of them. */
export const { InterruptedError, PromptBackError } = isBuilt ? loadBuiltProgram() : kindsOfSource

const findSourceCommand = createFinderOfSource(new URL('src/', sourceRoot), '.ts')

/**
 * The tested program: src, or with `npm run test:built` the bundle. The commands of both are found as by bin/run.js,
 * because oclif loads the commands and topics again for each command line.
 */
const program: NonNullable<RunOptions['main']> = isBuilt
  ? (argv, context) => {
      const { createCommandFinder, main } = loadBuiltProgram()
      return main(argv, context, root, { findCommand: createCommandFinder(new URL('dist/', root)) })
    }
  : (argv, context) => mainOfSource(argv, context, root, { fromSource: true, findCommand: findSourceCommand })

/** Runs one command line in this process, as bin/run.js does, with its own streams and environment. */
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
      get isStopped() {
        return signal.aborted
      },
      get isTerminated() {
        return signal.aborted && options.terminated === true
      },
    },
    cwd: options.cwd ?? process.cwd(),
    prompter: options.prompter,
  }
  const code = await (options.main ?? program)(argv, context)
  const bytes = streams.out()
  const stdout = bytes.toString('utf8')
  if (!isOtherVersion) expectDescribed(argv, stdout)
  return {
    code,
    stdout,
    stderr: streams.err().toString('utf8'),
    bytes,
    json: () => JSON.parse(stdout) as unknown,
  }
}
