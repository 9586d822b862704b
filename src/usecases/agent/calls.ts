import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'

import { UsageError, NotFoundError } from '../../errors/kinds.ts'

/** The result of a command line that was run with --json. */
export interface CommandResult {
  code: number
  /** The printed document; undefined if nothing was printed. */
  document: unknown
  /** Whether the command was refused; `document` is then not the requested result. */
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

/**
 * More concurrent calls would slow the machine down. More waiting calls than `maxWaiting` mean that a client
 * calls in a loop.
 */
const maxConcurrent = 4
const maxWaiting = 100

/** Runs a limited number of jobs concurrently, in the order of the calls. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = []
  #running = 0

  async run<T>(signal: AbortSignal, job: () => Promise<T>): Promise<T> {
    if (this.#running >= maxConcurrent) await this.#waitForTurn(signal)
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
      const index = this.#waiting.indexOf(start)
      if (index !== -1) this.#waiting.splice(index, 1)
      start()
    })
    await promise
  }
}

/**
 * Returns the real path of a file in the folder that the user allowed. Throws the same error for every other path, so
 * that no file outside can be read.
 */
export async function resolveAllowedFile(folder: string | undefined, typedPath: string): Promise<string> {
  if (folder === undefined) {
    throw new UsageError('no folder with files was allowed', {
      hint: 'A person allows one by starting the server with --files DIR.',
    })
  }
  const root = await realpath(folder).catch(() => folder)
  const path = resolve(root, typedPath)
  const notFound = new NotFoundError('there is no such file in the folder of --files', {
    hint: 'Name a file by its path in that folder.',
  })
  // Files outside the folder and missing files cause the same error, so that an agent cannot find out which
  // files exist outside.
  if (typedPath.includes('\0') || !isInside(root, path)) throw notFound
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined || !isInside(root, real)) throw notFound
  if (!(await stat(real)).isFile()) throw notFound
  return real
}

function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path)
  return (
    relativePath !== '' &&
    relativePath !== '..' &&
    !relativePath.startsWith(`..${sep}`) &&
    !isAbsolute(relativePath)
  )
}
