import { isAscii, isUtf8 } from 'node:buffer'

import type { Dialect } from '../domain/sheet/cell.ts'
import { refusal, shown } from './refusal.ts'
import type { SheetSource } from './source.ts'
import { notWestern } from './western.ts'

type Encoding = Pick<Dialect, 'encoding' | 'bom'>

export interface DecodedText {
  /** What it was found to be; final once all of it has been read. */
  readonly found: Encoding
  /** UTF-8 without a byte order mark. */
  chunks(): AsyncGenerator<Buffer>
}

const marks: [bytes: Buffer, encoding: Encoding['encoding']][] = [
  [Buffer.of(0xef, 0xbb, 0xbf), 'utf-8'],
  [Buffer.of(0xff, 0xfe), 'utf-16le'],
  [Buffer.of(0xfe, 0xff), 'utf-16be'],
]

/**
 * The text of a source: UTF-8, UTF-16 by its byte order mark, else windows-1252. The last is told from
 * damaged UTF-8 by the whole: a text with any sequence of UTF-8 in it is UTF-8, and a byte that does not
 * fit is refused by its offset. NUL is never text.
 */
export function decodedText(source: SheetSource): DecodedText {
  const found: Encoding = { encoding: 'utf-8', bom: false }
  return {
    found,
    async *chunks() {
      found.encoding = 'utf-8'
      found.bom = false
      const { rest, first } = await begin(source)
      const mark = marks.find(([bytes]) => first.subarray(0, bytes.length).equals(bytes))
      if (mark !== undefined) {
        found.bom = true
        found.encoding = mark[1]
      }
      const skip = mark?.[0].length ?? 0
      const parts = joined(first.subarray(skip), rest)
      if (found.encoding === 'utf-8') yield* fromBytes(parts, skip, source.name, found)
      else yield* fromUtf16(parts, found.encoding, source.name)
    },
  }
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

async function* joined(first: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
    }
  } finally {
    await rest.return?.()
  }
}

async function* fromUtf16(
  parts: AsyncIterable<Buffer>,
  encoding: string,
  name: string,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  const decode = (bytes?: Buffer): Buffer => {
    try {
      const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
      if (text.includes('\0')) throw refusal(name, 'it holds a NUL character', 'Save it again as CSV UTF-8.')
      return Buffer.from(text)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw refusal(name, `it is not ${encoding.toUpperCase()} throughout`, 'Save it again as CSV UTF-8.')
    }
  }
  for await (const bytes of parts) yield decode(bytes)
  yield decode()
}

/** UTF-8 until a byte says otherwise; see `decodedText`. */
async function* fromBytes(
  parts: AsyncIterable<Buffer>,
  skipped: number,
  name: string,
  found: Encoding,
): AsyncGenerator<Buffer> {
  let offset = skipped
  let sure = found.bom
  let cut: Buffer = Buffer.alloc(0)
  const take = (whole: Buffer, at: number): Buffer => {
    if (isAscii(whole)) return whole
    if (found.encoding === 'utf-8') {
      const wrong = isUtf8(whole) ? -1 : firstWrong(whole)
      if (wrong === -1) {
        sure = true
        return whole
      }
      if (sure || hasSequence(whole)) throw damaged(name, at + wrong, whole[wrong])
      found.encoding = 'windows-1252'
    }
    if (hasSequence(whole)) throw damaged(name, at + firstWrong(whole), whole[Math.max(0, firstWrong(whole))])
    return fromWindows1252(whole, at, name)
  }
  for await (const part of parts) {
    const nul = part.indexOf(0)
    if (nul !== -1) throw withNul(name, offset + nul)
    const whole = cut.length === 0 ? part : Buffer.concat([cut, part])
    const at = offset - cut.length
    offset += part.length
    const end = found.encoding === 'utf-8' ? lastWhole(whole) : whole.length
    cut = whole.subarray(end)
    yield take(whole.subarray(0, end), at)
  }
  if (cut.length > 0) yield take(cut, offset - cut.length)
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

function hasSequence(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) >= 0x80 && sequenceAt(bytes, at) > 0) return true
  }
  return false
}

const undefinedIn1252 = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])
const windows1252 = new TextDecoder('windows-1252')

function fromWindows1252(bytes: Buffer, offset: number, name: string): Buffer {
  const wrong = bytes.findIndex((byte) => undefinedIn1252.has(byte))
  if (wrong !== -1) throw damaged(name, offset + wrong, bytes[wrong])
  const odd = notWestern(bytes)
  if (odd === -1) return Buffer.from(windows1252.decode(bytes))
  const around = windows1252.decode(bytes.subarray(Math.max(0, odd - 12), odd + 12))
  const word = around
    .split(/[\s,;|"]+/)
    .find((each) => each.includes(windows1252.decode(bytes.subarray(odd, odd + 1))))
  throw refusal(
    name,
    `byte ${String(offset + odd)} is not UTF-8, and as Windows-1252 it would read ${shown(word ?? around)}`,
    'Save it again as "CSV UTF-8", then run this again.',
  )
}

function damaged(name: string, offset: number, byte = 0) {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0')
  return refusal(
    name,
    `byte ${String(offset)} (0x${hex}) is not UTF-8`,
    'Save it again as "CSV UTF-8", then run this again.',
  )
}

function withNul(name: string, offset: number) {
  return refusal(
    name,
    `byte ${String(offset)} is NUL, which no text holds`,
    'Save it as "CSV UTF-8" or XLSX. (UTF-16 needs its byte order mark.)',
  )
}
