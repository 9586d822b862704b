import { isAscii, isUtf8 } from 'node:buffer'

import type { Dialect } from '../domain/sheet/cell.ts'
import { InvalidInputError, UndecidedError } from '../errors/kinds.ts'
import { refusal, type SheetSource } from './sheet.ts'

/** Bytes to text, a chunk after the other. Throws a TypeError for bytes that the encoding does not have. */
export interface Decoder {
  decode(bytes: Uint8Array): string
  end(): string
}

/** The canonical name of an encoding; undefined for one that cannot be read. */
async function encodingName(name: string): Promise<string | undefined> {
  const label = name.trim().toLowerCase()
  if (label === '' || label.length > 40) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    const { default: iconv } = await import('iconv-lite')
    return iconv.encodingExists(label) && !transfers.has(label.replaceAll(/[^a-z\d]/g, ''))
      ? label
      : undefined
  }
}

/** What iconv-lite calls encodings and are none of text. */
const transfers = new Set(['base64', 'hex', 'binary', 'internal', 'utf7', 'utf7imap', 'ucs2', 'cesu8'])

/** The same; an InvalidInputError where there is none. */
export async function requireEncoding(name: string, from: string): Promise<string> {
  const found = await encodingName(name)
  if (found !== undefined) return found
  throw new InvalidInputError(`${from}: "${name.slice(0, 40)}" is not a known encoding`, {
    hint: 'Try windows-1252, windows-1250, macintosh, cp850, shift_jis, gb18030 or another name of IANA.',
  })
}

export async function decoderOf(name: string): Promise<Decoder> {
  try {
    const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true })
    return {
      decode: (bytes) => {
        const text = decoder.decode(bytes, { stream: true })
        return decoder.encoding.startsWith('utf-') ? text : requireDefined(text)
      },
      end: () => decoder.decode(),
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { default: iconv } = await import('iconv-lite')
    const decoder = iconv.getDecoder(name)
    return {
      decode: (bytes) => requireDefined(decoder.write(Buffer.from(bytes))),
      end: () => requireDefined(decoder.end() ?? ''),
    }
  }
}

/** Encodings of one byte have gaps, which come as control characters or U+FFFD. */
function requireDefined(text: string): string {
  if (/[\u0080-\u009F\uFFFD]/.test(text)) throw new TypeError('bytes that the encoding does not have')
  return text
}

/**
 * How a text goes into a file. Old encodings lack letters of many names, so such a file is written as UTF-8 with a
 * byte order mark, which spreadsheets open as it is.
 */
export function encoderOf({ encoding, bom }: Pick<Dialect, 'encoding' | 'bom'>): {
  encode: (text: string) => Uint8Array
  bom: boolean
} {
  if (encoding === 'utf-16le') return { encode: (text) => Buffer.from(text, 'utf16le'), bom: true }
  if (encoding === 'utf-16be') {
    return { encode: (text) => Buffer.from(text, 'utf16le').swap16(), bom: true }
  }
  return { encode: (text) => Buffer.from(text), bom: bom || encoding !== 'utf-8' }
}

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

/** The encoding by the byte order mark at the start of some bytes, else UTF-8. */
export function markedEncoding(bytes: Buffer): string {
  return markOf(bytes)?.[1] ?? 'utf-8'
}

const markOf = (bytes: Buffer) => marks.find(([mark]) => bytes.subarray(0, mark.length).equals(mark))

/**
 * The text of a source: UTF-16 or UTF-8 by its byte order mark, else UTF-8 where all of it is, else in the
 * encoding that was given. Without one the bytes are not decoded: they are distinguished from damaged UTF-8 by
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
      const mark = markOf(first)
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
        `it is not ${encoding.toUpperCase()} throughout: it has other bytes after byte ${offset}`,
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

/** UTF-8 until a byte proves another encoding; see `decodedText`. */
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

/** Offset and length of each sequence of several bytes; the length is 0 for a byte that begins none. */
function* sequencesIn(bytes: Buffer): Generator<[at: number, length: number]> {
  for (let at = 0; at < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) < 0x80) continue
    const length = sequenceAt(bytes, at)
    yield [at, length]
    at += Math.max(0, length - 1)
  }
}

function firstWrong(bytes: Buffer): number {
  for (const [at, length] of sequencesIn(bytes)) if (length === 0) return at
  return -1
}

/** Whether a text is UTF-8 with some damage, and not something else that looks like it here and there. */
function isMostlyUtf8(bytes: Buffer): boolean {
  let balance = 0
  for (const [, length] of sequencesIn(bytes)) balance += length === 0 ? -1 : 1
  return balance >= 0
}

function damaged(name: string, offset: number, byte = 0) {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0')
  return refusal(
    name,
    `byte ${offset} (0x${hex}) is not UTF-8`,
    'Save it again as "CSV UTF-8", or name its encoding with --encoding.',
  )
}

function withNul(name: string, offset: number) {
  return refusal(
    name,
    `byte ${offset} is NUL, which no text holds`,
    'Save it as "CSV UTF-8" or XLSX. (UTF-16 needs its byte order mark.)',
  )
}

/**
 * Refuses a text whose bytes are no UTF-8 and that has no given encoding, with the likeliest ones.
 * `samples`: values of it, each byte a character (Latin-1).
 */
export async function undecidedEncoding(
  name: string,
  position: string,
  samples: readonly string[],
): Promise<UndecidedError> {
  const readings = await likelyReadings(samples)
  const describe = ({ encoding, samples: texts }: (typeof readings)[number]): string =>
    `${encoding} (${texts.slice(0, 2).join(', ')})`
  const [first] = readings
  return new UndecidedError(`${name}: ${position} is not UTF-8, so its letters cannot be told for sure`, {
    flag: 'encoding',
    hint:
      first === undefined
        ? 'Save it again as "CSV UTF-8", or name its encoding: --encoding NAME'
        : `Save it as "CSV UTF-8", or say what it is, such as --encoding ${first.encoding}. It may be ${readings.map(describe).join(' or ')}.`,
    question: `${name} is not UTF-8. Which of these is right?`,
    answers: readings.map(({ encoding, of, samples: texts }) => ({
      value: encoding,
      label: `${texts.join(', ')} (${encoding}, ${of})`,
    })),
  })
}

/** A way to read bytes that are no UTF-8, and some of them read in that way. */
interface LikelyReading {
  encoding: string
  /** Whose programs write it. */
  of: string
  samples: string[]
}

const candidates: readonly [encoding: string, of: string][] = [
  ['windows-1252', 'Western Europe'],
  ['windows-1250', 'Central Europe'],
  ['windows-1254', 'Turkish'],
  ['windows-1257', 'Baltic'],
  ['macintosh', 'old Macs'],
  ['cp850', 'DOS, Western Europe'],
  ['cp852', 'DOS, Central Europe'],
  ['windows-1251', 'Cyrillic'],
  ['windows-1253', 'Greek'],
  ['windows-1255', 'Hebrew'],
  ['windows-1256', 'Arabic'],
  ['shift_jis', 'Japanese'],
  ['gb18030', 'Chinese, simplified'],
  ['big5', 'Chinese, traditional'],
  ['euc-kr', 'Korean'],
  ['koi8-r', 'Russian, old'],
  ['windows-874', 'Thai'],
]

/**
 * Letters beyond A to Z that a language's names are written with. What mixes letters that no language mixes
 * is hardly the right reading: Dvořák has two Czech letters, Dvoøák one of Danish and one of Czech.
 */
const alphabets = [
  'äöüßéèà',
  'àâæçéèêëîïôœùûüÿ',
  'áéíóúüñçàèòï',
  'ãõáâàçéêíóôúü',
  'àèéìíòóùú',
  'åäöéüà',
  'æøåéöäüóô',
  'áðéíóúýþæö',
  'ëïéóáúèêöüĳ',
  'áčďéěíňóřšťúůýž',
  'áäčďéíĺľňóôŕšťúýž',
  'ąćęłńóśźż',
  'áéíóöőúüű',
  'ăâîșțşţ',
  'čćđšž',
  'çğıİöşüâîû',
  'āčēģīķļņšūž',
  'ąčęėįšųūž',
  'äõöüšž',
  'áéíóú',
].map((letters) => new Set(letters + letters.toUpperCase().normalize('NFC')))

const scripts = [
  /^[\p{Script=Cyrillic}]+$/u,
  /^[\p{Script=Greek}]+$/u,
  /^[\p{Script=Hebrew}\p{M}]+$/u,
  /^[\p{Script=Arabic}\p{M}]+$/u,
  /^[\p{Script=Thai}]+$/u,
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u,
  /^\p{Script=Hangul}+$/u,
]

/** The two or three likeliest readings, the best first. `samples`: values as bytes, each a character (Latin-1). */
export async function likelyReadings(samples: readonly string[]): Promise<LikelyReading[]> {
  const values = [...new Set(samples)].slice(0, 200).map((text) => Buffer.from(text, 'latin1'))
  const scored: (LikelyReading & { score: number })[] = []
  for (const [encoding, of] of candidates) {
    const texts = await decodeAll(values, encoding)
    if (texts === undefined) continue
    const score = texts.reduce((sum, text) => sum + plausibility(text), 0)
    scored.push({ encoding, of, samples: texts, score })
  }
  // A sort that is stable keeps the order above, the commonest first, among equals.
  scored.sort((a, b) => b.score - a.score)
  const distinct: typeof scored = []
  for (const each of scored) {
    if (distinct.every(({ samples: others }) => others.join('\0') !== each.samples.join('\0')))
      distinct.push(each)
  }
  const [best] = distinct
  const near = distinct.filter(({ score }, at) => at < 2 || score > (best?.score ?? 0) / 2)
  return near
    .slice(0, 3)
    .map(({ encoding, of, samples: texts }) => ({ encoding, of, samples: sampleTexts(texts) }))
}

async function decodeAll(values: readonly Buffer[], encoding: string): Promise<string[] | undefined> {
  try {
    const texts: string[] = []
    for (const bytes of values) {
      const decoder = await decoderOf(encoding)
      texts.push(decoder.decode(bytes) + decoder.end())
    }
    return texts
  } catch {
    return undefined
  }
}

/** From 0 to 1: how much of a text's words look like words. */
function plausibility(text: string): number {
  const words = text.split(/[\p{Zs}\d,.;:'’‘“”"()/-]+/u).filter((word) => /[^\0-\x7F]/.test(word))
  if (words.length === 0) return /[‘’“”–€£°«»]/u.test(text) ? 0.9 : 0
  return words.reduce((sum, word) => sum + wordScore(word), 0) / words.length
}

function wordScore(word: string): number {
  const foreign = Array.from(word).filter((letter) => letter > '\x7F')
  if (foreign.some((letter) => !/[\p{L}\p{M}]/u.test(letter)))
    return /^[€£°§©®™«»–—½º]+$/.test(foreign.join('')) ? 0.5 : 0
  if (foreign.length === Array.from(word).length && scripts.some((script) => script.test(word)))
    return rateForeignWord(word)
  // A capital within small letters.
  if (/\p{Lu}\p{Lu}\p{Ll}/u.test(word)) return 0.1
  if (/\p{Ll}\p{Lu}/u.test(word) && !/^(?:Mc|Mac|De|Di|La|Le|O)\p{Lu}/u.test(word)) return 0.1
  const fitting = alphabets.some((alphabet) => foreign.every((letter) => alphabet.has(letter)))
  if (!fitting) return 0.2
  // Half a word of accents is rarely one.
  return foreign.length * 2 > Array.from(word).length && foreign.length > 1 ? 0.5 : 1
}

/** Multi-byte encodings have rare characters for any two bytes; the common ones are what names use. */
function rateForeignWord(word: string): number {
  if (/^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u.test(word)) {
    return /[\uFF61-\uFF9F]|[\u{20000}-\u{3FFFF}]/u.test(word) ? 0.2 : 0.9
  }
  // KOI8 and Windows-1251 read each other's small letters as capitals.
  return /^\p{Lu}?\p{Ll}*$/u.test(word) || !/\p{Ll}/u.test(word) ? 0.95 : 0.1
}

/** Some values that show the difference. */
function sampleTexts(texts: readonly string[]): string[] {
  return texts
    .map((text) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 30))
    .filter((text) => text !== '')
    .slice(0, 4)
}
