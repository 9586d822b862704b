import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'

import { InvalidInputError, IoError, UsageError } from '../errors/kinds.ts'
import { limits, refusal, splitHint } from './limits.ts'

/** Larger ones make rows of a chunk outlive a young collection, which costs time and twice the memory. */
const chunkBytes = 32 * 1024

/** Bytes that can be read from the start more than once. At most `limits.fileBytes`. */
export interface SheetSource {
  /** As typed; for messages, and its extension tells text formats apart. */
  readonly name: string
  chunks(): AsyncIterable<Uint8Array>
  whole(): Promise<Buffer>
}

/** A file at an absolute path. It may not change between two readings. */
export async function fileSource(path: string, name: string): Promise<SheetSource> {
  const first = await identity(path, name)
  if (first.size > limits.fileBytes) throw tooLarge(name)
  const unchanged = async (): Promise<void> => {
    if ((await identity(path, name)).mark === first.mark) return
    throw refusal(name, 'it was changed while it was being read', 'Save it, then run this again.')
  }
  return {
    name,
    async *chunks() {
      await unchanged()
      try {
        yield* createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>
      } catch (error) {
        throw unreadable(name, error)
      }
    },
    async whole() {
      await unchanged()
      const file = await open(path).catch((error: unknown) => {
        throw unreadable(name, error)
      })
      try {
        return await file.readFile()
      } finally {
        await file.close()
      }
    },
  }
}

/** A stream that comes once, such as stdin: it is held in memory. */
export async function heldSource(
  stream: AsyncIterable<Uint8Array | string>,
  name: string,
): Promise<SheetSource> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stream) {
    const bytes = Buffer.from(part)
    size += bytes.length
    if (size > limits.fileBytes) throw tooLarge(name)
    parts.push(bytes)
  }
  const bytes = Buffer.concat(parts)
  return {
    name,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
    whole: () => Promise.resolve(bytes),
  }
}

async function identity(path: string, name: string): Promise<{ mark: string; size: number }> {
  const status = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error)
  })
  if (status.isDirectory()) throw new UsageError(`${name} is a folder`, { hint: 'Give the name of a file.' })
  const { dev, ino, size, mtimeMs } = status
  return { mark: [dev, ino, size, mtimeMs].join(' '), size }
}

function tooLarge(name: string): InvalidInputError {
  const mebibytes = String(limits.fileBytes / 1024 / 1024)
  return refusal(name, `it is larger than ${mebibytes} MiB, the limit`, splitHint)
}

function unreadable(name: string, error: unknown): Error {
  if (error instanceof InvalidInputError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new UsageError(`file not found: ${name}`, { hint: 'Check the path.' })
  return new IoError(`${name} cannot be read${code === '' ? '' : ` (${code})`}`, {
    hint: 'Check its permissions.',
    cause: error,
  })
}
