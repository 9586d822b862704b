import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'

import { UsageError, NotFoundError } from '../../errors/kinds.ts'

/** What a command line printed with --json. */
export interface CommandResult {
  code: number
  /** Undefined where it printed nothing. */
  document: unknown
  /** The command was refused; `document` is not the answer. */
  isRefused?: boolean | undefined
}

export interface RunOptions {
  stdin?: string | undefined
  signal: AbortSignal
  /** Called for each note that the command would print for a person. */
  onNote?: (() => void) | undefined
}

/** Runs a command line of this program that only reads, without a terminal. */
export type RunReadOnly = (argv: readonly string[], options: RunOptions) => Promise<CommandResult>

/** More calls at once would slow the machine down; more waiting calls than this mean a client in a loop. */
const atOnce = 4
const maxWaiting = 100

/** Lets a few jobs run at a time, in the order they came. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = []
  #running = 0

  async through<T>(signal: AbortSignal, job: () => Promise<T>): Promise<T> {
    if (this.#running >= atOnce) await this.#waitForTurn(signal)
    signal.throwIfAborted()
    this.#running += 1
    try {
      return await job()
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  async #waitForTurn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= maxWaiting) {
      throw new UsageError('too many calls at once', { hint: 'Wait for the answers of some of them.' })
    }
    const { promise, resolve: start } = Promise.withResolvers<void>()
    this.#waiting.push(start)
    signal.addEventListener('abort', () => {
      const at = this.#waiting.indexOf(start)
      if (at !== -1) this.#waiting.splice(at, 1)
      start()
    })
    await promise
  }
}

/** The one file of a folder that an agent named, by its real path. Throws for any other: nothing outside is read. */
export async function allowedFile(folder: string | undefined, named: string): Promise<string> {
  if (folder === undefined) {
    throw new UsageError('no folder with files was allowed', {
      hint: 'A person allows one by starting the server with --files DIR.',
    })
  }
  const root = await realpath(folder).catch(() => folder)
  const wanted = resolve(root, named)
  const refused = new NotFoundError('there is no such file in the folder of --files', {
    hint: 'Name a file by its path in that folder.',
  })
  // One answer for what is outside and for what is missing, so that nothing outside can be looked for.
  if (named.includes('\0') || !isInside(root, wanted)) throw refused
  const real = await realpath(wanted).catch(() => undefined)
  if (real === undefined || !isInside(root, real)) throw refused
  if (!(await stat(real)).isFile()) throw refused
  return real
}

function isInside(folder: string, path: string): boolean {
  const between = relative(folder, path)
  return between !== '' && between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between)
}
