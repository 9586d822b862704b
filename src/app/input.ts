import { createReadStream, readFile, stat } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

import { InvalidInputError, unreadableFileError, UsageError } from '../errors/kinds.ts'
import type { Context } from './context.ts'

// Loading node:fs/promises or the stream module would take longer than the read itself, and delay `webhook verify`.
const readStatus = promisify(stat)
const readContent = promisify(readFile)

const maxInputBytes = 16 * 1024 * 1024
/** Maximum size of inputs that may be large: a log of deliveries, a snapshot of a sandbox. */
export const maxLargeInputBytes = 256 * 1024 * 1024

/** Reads the exact bytes of a file, or of stdin if `file` is `-` or undefined. `what` names the input in messages. */
export async function readInput(
  context: Context,
  file: string | undefined,
  what: string,
  maxBytes = maxInputBytes,
): Promise<Buffer> {
  if (file === undefined || file === '-') return readStdin(context, what, maxBytes)
  const path = resolve(context.cwd, file)
  try {
    const status = await readStatus(path)
    if (status.isDirectory())
      throw new UsageError(`${file} is a folder; ${what} has to be a file`, {
        hint: 'Give the name of a file.',
      })
    // The size is known before the read only for a plain file.
    if (!status.isFile()) return await collectBytes(createReadStream(path), what, maxBytes)
    requireSize(status.size, what, maxBytes)
    return await readContent(path)
  } catch (error) {
    throw unreadableFileError(file, error)
  }
}

/** Reads a key or secret from stdin, without the line end. */
export async function readSecretLine(context: Context, what: string): Promise<string> {
  const text = (await readStdin(context, what)).toString('utf8')
  return text.replace(/\r?\n$/, '')
}

async function readStdin(context: Context, what: string, maxBytes = maxInputBytes): Promise<Buffer> {
  const { stdin } = context.streams
  if (stdin.isTTY) {
    throw new UsageError(`${what} is missing: stdin is the terminal`, {
      hint: `Give the name of a file, or pipe one in with: < FILE`,
    })
  }
  return collectBytes(stdin.stream, what, maxBytes)
}

async function collectBytes(
  stream: AsyncIterable<Uint8Array | string>,
  what: string,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let receivedBytes = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk)
    receivedBytes += bytes.byteLength
    requireSize(receivedBytes, what, maxBytes)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

function requireSize(bytes: number, what: string, maxBytes: number): void {
  if (bytes <= maxBytes) return
  throw new InvalidInputError(`${what} is larger than ${maxBytes} bytes`, {
    hint: 'Check that this is the right file.',
  })
}
