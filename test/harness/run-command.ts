import type { Context } from '../../src/cli/context.ts'
import { main } from '../../src/cli/main.ts'
import { type Clock, systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import type { Prompter } from '../../src/prompt/prompter.ts'
import { captureStreams, type StreamOptions } from './streams.ts'

export interface RunOptions extends StreamOptions {
  env?: Record<string, string> | undefined
  clock?: Clock | undefined
  prompter?: Prompter | undefined
  /** Aborted to press Ctrl-C. */
  signal?: AbortSignal | undefined
  cwd?: string | undefined
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

const root = new URL('../../', import.meta.url)

/** Runs one command line in this process, as bin does, with streams and environment of its own. */
export async function refcheck(argv: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const streams = captureStreams(options)
  const signal = options.signal ?? new AbortController().signal
  const context: Context = {
    env: options.env ?? {},
    clock: options.clock ?? systemClock,
    random: systemRandom,
    streams,
    interrupts: {
      signal,
      get stopped() {
        return signal.aborted
      },
    },
    cwd: options.cwd ?? process.cwd(),
    prompter: options.prompter,
  }
  const code = await main(argv, context, root, { fromSource: true })
  const bytes = streams.out()
  const stdout = bytes.toString('utf8')
  return {
    code,
    stdout,
    stderr: streams.err().toString('utf8'),
    bytes,
    json: () => JSON.parse(stdout) as unknown,
  }
}
