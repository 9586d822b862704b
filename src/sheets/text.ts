import { isAscii, isUtf8 } from 'node:buffer'

import { type Decoder, decoderOf } from './encoding.ts'
import { refusal } from './limits.ts'
import type { Dialect } from '../domain/sheet/cell.ts'
import type { SheetSource } from './source.ts'

type Encoding = Pick<Dialect, 'encoding' | 'bom'>

export interface DecodedText {
  /** What it was found to be; final once all of it has been read. */
  readonly found: Encoding
  /** UTF-8 without a byte order mark. Bytes of an unknown encoding come as the characters U+0080 to U+00FF. */
  chunks(): AsyncGenerator<Buffer>
}

const marks: [bytes: Buffer, encoding: string][] = [
  [Buffer.of(0xef, 0xbb, 0xbf), 'utf-8'],
  [Buffer.of(0xff, 0xfe), 'utf-16le'],
  [Buffer.of(0xfe, 0xff), 'utf-16be'],
]

/**
 * The text of a source: UTF-16 or UTF-8 by its byte order mark, else UTF-8 where all of it is, else in the
 * encoding that was given. Without one the bytes are kept apart: they are distinguished from damaged UTF-8 by
 * what outweighs, and a byte that does not fit is refused by its offset. NUL is never text.
 */
export function decodedText(source: SheetSource, named?: string): DecodedText {
  const found: Encoding = { encoding: 'utf-8', bom: false }
  let plain: boolean | undefined
  return {
    found,
    async *chunks() {
      plain ??= named === undefined || named === 'utf-8' || (await isPlainUtf8(source))
      const { rest, first } = await begin(source)
      const mark = marks.find(([bytes]) => first.subarray(0, bytes.length).equals(bytes))
      found.bom = mark !== undefined
      found.encoding = mark?.[1] ?? (plain ? 'utf-8' : named)
      const skip = mark?.[0].length ?? 0
      const parts = joinChunks(first.subarray(skip), rest)
      if (found.encoding === 'utf-8') yield* fromBytes(parts, skip, source.name, found, named === 'utf-8')
      else yield* inEncoding(parts, await decoderOf(found.encoding ?? ''), source.name, found.encoding ?? '')
    },
  }
}

async function isPlainUtf8(source: SheetSource): Promise<boolean> {
  let cut: Buffer = Buffer.alloc(0)
  for await (const part of source.chunks()) {
    const whole = Buffer.concat([cut, part])
    const end = lastWhole(whole)
    if (whole.includes(0) || !isUtf8(whole.subarray(0, end))) return false
    cut = whole.subarray(end)
  }
  return isUtf8(cut)
}

async function begin(source: SheetSource) {
  const rest = source.chunks()[Symbol.asyncIterator]()
  let first = Buffer.alloc(0)
  while (first.length < 3) {
    const next = await rest.next()
    if (next.done === true) break
    first = Buffer.concat([first, next.value])
  }
  return { rest, first }
}

async function* joinChunks(first: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
    }
  } finally {
    await rest.return?.()
  }
}

async function* inEncoding(
  parts: AsyncIterable<Buffer>,
  decoder: Decoder,
  name: string,
  encoding: string,
): AsyncGenerator<Buffer> {
  let offset = 0
  const decode = (bytes?: Buffer): Buffer => {
    try {
      const text = bytes === undefined ? decoder.end() : decoder.decode(bytes)
      if (text.includes('\0'))
        throw refusal(name, 'it contains a NUL character', 'Save it again as CSV UTF-8.')
      return Buffer.from(text)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw refusal(
        name,
        `it is not ${encoding.toUpperCase()} throughout: it has other bytes after byte ${String(offset)}`,
        'Save it again as "CSV UTF-8", or name its encoding with --encoding.',
      )
    }
  }
  for await (const bytes of parts) {
    yield decode(bytes)
    offset += bytes.length
  }
  yield decode()
}

/** UTF-8 until a byte says otherwise; see `decodedText`. */
async function* fromBytes(
  parts: AsyncIterable<Buffer>,
  skipped: number,
  name: string,
  found: Encoding,
  isCertain: boolean,
): AsyncGenerator<Buffer> {
  let offset = skipped
  let isKnown = found.bom || isCertain
  let cut: Buffer = Buffer.alloc(0)
  const decode = (whole: Buffer, at: number): Buffer => {
    if (isAscii(whole)) return whole
    if (found.encoding === 'utf-8') {
      if (isUtf8(whole)) {
        isKnown = true
        return whole
      }
      if (isKnown || isMostlyUtf8(whole)) {
        const wrong = firstWrong(whole)
        throw damaged(name, at + wrong, whole[wrong])
      }
      found.encoding = undefined
    }
    return Buffer.from(whole.toString('latin1'))
  }
  for await (const part of parts) {
    const nul = part.indexOf(0)
    if (nul !== -1) throw withNul(name, offset + nul)
    const whole = cut.length === 0 ? part : Buffer.concat([cut, part])
    const at = offset - cut.length
    offset += part.length
    const end = found.encoding === 'utf-8' ? lastWhole(whole) : whole.length
    cut = whole.subarray(end)
    yield decode(whole.subarray(0, end), at)
  }
  if (cut.length > 0) yield decode(cut, offset - cut.length)
}

/** Where the last character begins that may go on in the next chunk; the length where none does. */
function lastWhole(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return needs > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

/** Length of the well-formed UTF-8 sequence at an offset (RFC 3629); 0 where there is none. */
function sequenceAt(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  return lead >= 0xc2 &&
    lead <= 0xf4 &&
    isUtf8(bytes.subarray(at, at + length)) &&
    at + length <= bytes.length
    ? length
    : 0
}

function firstWrong(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) < 0x80) continue
    const length = sequenceAt(bytes, at)
    if (length === 0) return at
    at += length - 1
  }
  return -1
}

/** Whether a text is UTF-8 with some damage, and not something else that looks like it here and there. */
function isMostlyUtf8(bytes: Buffer): boolean {
  let sequences = 0
  let others = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) < 0x80) continue
    const length = sequenceAt(bytes, at)
    if (length === 0) {
      others += 1
    } else {
      sequences += 1
      at += length - 1
    }
  }
  return sequences >= others
}

function damaged(name: string, offset: number, byte = 0) {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0')
  return refusal(
    name,
    `byte ${String(offset)} (0x${hex}) is not UTF-8`,
    'Save it again as "CSV UTF-8", or name its encoding with --encoding.',
  )
}

function withNul(name: string, offset: number) {
  return refusal(
    name,
    `byte ${String(offset)} is NUL, which no text holds`,
    'Save it as "CSV UTF-8" or XLSX. (UTF-16 needs its byte order mark.)',
  )
}
