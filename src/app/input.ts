import { createReadStream, readFile, stat } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

import { InvalidInputError, IoError, UsageError } from '../errors/kinds.ts'
import type { Context } from './context.ts'

// `webhook verify` would wait for node:fs/promises, and for a stream, longer than for what it reads.
const statusOf = promisify(stat)
const contentOf = promisify(readFile)

const largestInput = 16 * 1024 * 1024
/** Bytes of a log of many. */
export const largestLog = 256 * 1024 * 1024

/** The exact bytes of a file, or of stdin for `-` or no name. `what` names the input in messages. */
export async function readInput(
  context: Context,
  file: string | undefined,
  what: string,
  largest = largestInput,
): Promise<Buffer> {
  if (file === undefined || file === '-') return readStdin(context, what, largest)
  const path = resolve(context.cwd, file)
  try {
    const status = await statusOf(path)
    if (status.isDirectory())
      throw new UsageError(`${file} is a folder; ${what} has to be a file`, {
        hint: 'Give the name of a file.',
      })
    // Only of a plain file is it known beforehand how much there is.
    if (!status.isFile()) return await collect(createReadStream(path), what, largest)
    requireSize(status.size, what, largest)
    return await contentOf(path)
  } catch (error) {
    if (error instanceof UsageError || error instanceof InvalidInputError) throw error
    throw unreadable(file, error)
  }
}

/** One line from stdin, its line end taken off; for keys and secrets. */
export async function readSecretLine(context: Context, what: string): Promise<string> {
  const text = (await readStdin(context, what)).toString('utf8')
  return text.replace(/\r?\n$/, '')
}

async function readStdin(context: Context, what: string, largest = largestInput): Promise<Buffer> {
  const { stdin } = context.streams
  if (stdin.isTTY) {
    throw new UsageError(`${what} is missing: stdin is the terminal`, {
      hint: `Give the name of a file, or pipe one in with: < FILE`,
    })
  }
  return collect(stdin.stream, what, largest)
}

async function collect(
  stream: AsyncIterable<Uint8Array | string>,
  what: string,
  largest: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let taken = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    taken += bytes.byteLength
    requireSize(taken, what, largest)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

function requireSize(bytes: number, what: string, largest: number): void {
  if (bytes <= largest) return
  throw new InvalidInputError(`${what} is larger than ${largest} bytes`, {
    hint: 'Check that this is the right file.',
  })
}

function unreadable(file: string, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new UsageError(`file not found: ${file}`, { hint: 'Check the path.' })
  return new IoError(`${file} cannot be read${code === '' ? '' : ` (${code})`}`, {
    hint: 'Check its permissions.',
    cause: error,
  })
}
