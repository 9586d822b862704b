import { crc32 } from 'node:zlib'

import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'

import { InvalidInputError } from '../../errors/kinds.ts'
import { beyondLimit, limits, refusal } from '../limits.ts'

/** The parts of a workbook, by name. */
export interface Archive {
  has(part: string): boolean
  names(): string[]
  /** Every inflated byte is counted against what the archive says, and that against what is allowed. */
  read(part: string, largest?: number): AsyncGenerator<Buffer>
}

/** Opens a zip held in memory. Nothing is inflated yet. */
export async function openArchive(bytes: Buffer, name: string): Promise<Archive> {
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true })
    const parts = await partsOf(zip, name)
    return {
      has: (part) => parts.has(part),
      names: () => [...parts.keys()],
      async *read(part, largest = limits.partBytes) {
        const entry = parts.get(part)
        if (entry === undefined) throw damaged(name, new Error(`${part} is missing`))
        if (entry.isEncrypted()) throw refusal(name, 'it is encrypted', 'Save it without a password.')
        allowed(entry, largest, name)
        try {
          yield* inflated(zip, entry)
        } catch (error) {
          throw damaged(name, error)
        }
      },
    }
  } catch (error) {
    throw damaged(name, error)
  }
}

async function partsOf(zip: ZipFile, name: string): Promise<Map<string, Entry>> {
  if (zip.entryCount > limits.entries) {
    throw beyondLimit(
      name,
      `it has ${String(zip.entryCount)} parts, too many for a workbook: the limit is ${String(limits.entries)}`,
    )
  }
  const parts = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    if (parts.has(entry.fileName)) throw new Error(`two parts are called ${entry.fileName}`)
    parts.set(entry.fileName, entry)
  }
  return parts
}

/** yauzl ends a stream that gives more or less than the archive says, so what it says can be judged. */
function allowed({ fileName, uncompressedSize, compressedSize }: Entry, largest: number, name: string): void {
  const packed = uncompressedSize > limits.ratioFrom && uncompressedSize > limits.ratio * compressedSize
  if (uncompressedSize <= largest && !packed) return
  const mebibytes = String(Math.ceil(uncompressedSize / 1024 / 1024))
  throw beyondLimit(name, `its part ${fileName} is ${mebibytes} MiB unpacked, too large for a list of people`)
}

async function* inflated(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    const bytes = chunk as Buffer
    sum = crc32(bytes, sum)
    yield bytes
  }
  if (sum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} is wrong`)
}

function damaged(name: string, error: unknown): Error {
  if (error instanceof InvalidInputError) return error
  const reason = error instanceof Error ? error.message.slice(0, 120) : 'unknown'
  return refusal(
    name,
    `it is a damaged workbook (${reason})`,
    'Open it in a spreadsheet program and save it again.',
    error,
  )
}
