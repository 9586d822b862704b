import { isAscii, isUtf8 } from 'node:buffer'

import type { Dialect } from '../domain/sheet/cell.ts'
import { InvalidInputError, UndecidedError } from '../errors/kinds.ts'
import { refusal, type SheetSource } from './sheet.ts'

/** Decodes bytes chunk by chunk. Throws a TypeError for bytes that the encoding does not define. */
export interface Decoder {
  decode(bytes: Uint8Array): string
  end(): string
}

/** Returns the canonical name of an encoding; undefined for an encoding that cannot be read. */
async function canonicalEncoding(name: string): Promise<string | undefined> {
  const label = name.trim().toLowerCase()
  if (label === '' || label.length > 40) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    const { default: iconv } = await import('iconv-lite')
    return iconv.encodingExists(label) && !refusedEncodings.has(label.replaceAll(/[^a-z\d]/g, ''))
      ? label
      : undefined
  }
}

/** Names that iconv-lite accepts as encodings but that are not encodings of text, or are unsafe. */
const refusedEncodings = new Set(['base64', 'hex', 'binary', 'internal', 'utf7', 'utf7imap', 'ucs2', 'cesu8'])

/**
 * Returns the canonical name of an encoding. Throws an InvalidInputError for an unknown encoding; `source` names the
 * flag in the message.
 */
export async function requireEncoding(name: string, source: string): Promise<string> {
  const canonical = await canonicalEncoding(name)
  if (canonical !== undefined) return canonical
  throw new InvalidInputError(`${source}: "${name.slice(0, 40)}" is not a known encoding`, {
    hint: 'Try windows-1252, windows-1250, macintosh, cp850, shift_jis, gb18030 or another name of IANA.',
  })
}

export async function createDecoder(name: string): Promise<Decoder> {
  try {
    const decoder = new TextDecoder(name, { fatal: true, ignoreBOM: true })
    return {
      decode: (bytes) => {
        const text = decoder.decode(bytes, { stream: true })
        return decoder.encoding.startsWith('utf-') ? text : refuseUndefinedBytes(text)
      },
      end: () => decoder.decode(),
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { default: iconv } = await import('iconv-lite')
    const decoder = iconv.getDecoder(name)
    return {
      decode: (bytes) => refuseUndefinedBytes(decoder.write(Buffer.from(bytes))),
      end: () => refuseUndefinedBytes(decoder.end() ?? ''),
    }
  }
}

/**
 * Throws for bytes that a single-byte encoding leaves undefined; decoders return them as control characters or
 * U+FFFD.
 */
function refuseUndefinedBytes(text: string): string {
  if (/[\u0080-\u009F\uFFFD]/.test(text)) throw new TypeError('bytes that the encoding does not have')
  return text
}

/**
 * Returns the encoder for a file whose input had this encoding. Only Unicode encodings are written, because others lack
 * letters of many names. Instead of any other encoding it writes UTF-8 with a byte order mark, by which spreadsheet
 * programs recognise UTF-8.
 */
export function createEncoder({ encoding, bom }: Pick<Dialect, 'encoding' | 'bom'>): {
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
  /** The detected encoding; final once the whole text has been read. */
  readonly detected: Encoding
  /** Yields UTF-8 without a byte order mark. Bytes of an unknown encoding become the characters U+0080 to U+00FF. */
  chunks(): AsyncGenerator<Buffer>
}

const byteOrderMarks: [bytes: Buffer, encoding: string][] = [
  [Buffer.of(0xef, 0xbb, 0xbf), 'utf-8'],
  [Buffer.of(0xff, 0xfe), 'utf-16le'],
  [Buffer.of(0xfe, 0xff), 'utf-16be'],
]

/** Returns the encoding by the byte order mark at the start of the bytes, or UTF-8 without one. */
export function encodingByMark(bytes: Buffer): string {
  return byteOrderMarkOf(bytes)?.[1] ?? 'utf-8'
}

const byteOrderMarkOf = (bytes: Buffer) =>
  byteOrderMarks.find(([mark]) => bytes.subarray(0, mark.length).equals(mark))

/**
 * Decodes a source. A byte order mark decides between UTF-16 and UTF-8. Without one, a text that is valid UTF-8 is
 * UTF-8, and any other text is in the encoding `givenEncoding`. If none is given and most multi-byte
 * sequences are valid UTF-8, the text is treated as damaged UTF-8: the first invalid byte is refused with its offset.
 * Otherwise the encoding is unknown and the bytes are not decoded. NUL is always refused.
 */
export function decodeSource(source: SheetSource, givenEncoding?: string): DecodedText {
  const detected: Encoding = { encoding: 'utf-8', bom: false }
  let shouldDecodeAsUtf8: boolean | undefined
  return {
    detected,
    async *chunks() {
      shouldDecodeAsUtf8 ??=
        givenEncoding === undefined || givenEncoding === 'utf-8' || (await isPlainUtf8(source))
      const { rest, first } = await readMarkBytes(source)
      const mark = byteOrderMarkOf(first)
      detected.bom = mark !== undefined
      detected.encoding = mark?.[1] ?? (shouldDecodeAsUtf8 ? 'utf-8' : givenEncoding)
      const markLength = mark?.[0].length ?? 0
      const parts = joinChunks(first.subarray(markLength), rest)
      if (detected.encoding === 'utf-8')
        yield* decodeUtf8(parts, markLength, source.name, detected, givenEncoding === 'utf-8')
      else
        yield* decodeWith(
          parts,
          await createDecoder(detected.encoding ?? ''),
          source.name,
          detected.encoding ?? '',
        )
    },
  }
}

/** Returns whether the whole source is valid UTF-8 without NUL. */
async function isPlainUtf8(source: SheetSource): Promise<boolean> {
  let incomplete: Buffer = Buffer.alloc(0)
  for await (const part of source.chunks()) {
    const whole = Buffer.concat([incomplete, part])
    const end = offsetOfIncompleteCharacter(whole)
    if (whole.includes(0) || !isUtf8(whole.subarray(0, end))) return false
    incomplete = whole.subarray(end)
  }
  return isUtf8(incomplete)
}

/** Reads enough bytes for a byte order mark (`first`); `rest` yields the following chunks. */
async function readMarkBytes(source: SheetSource) {
  const rest = source.chunks()[Symbol.asyncIterator]()
  let firstBytes = Buffer.alloc(0)
  while (firstBytes.length < 3) {
    const next = await rest.next()
    if (next.done === true) break
    firstBytes = Buffer.concat([firstBytes, next.value])
  }
  return { rest, first: firstBytes }
}

async function* joinChunks(firstBytes: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer> {
  try {
    yield firstBytes
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
    }
  } finally {
    await rest.return?.()
  }
}

async function* decodeWith(
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

/**
 * Yields UTF-8 until a byte shows that the text has another encoding; see `decodeSource`. `markLength`: the length of the
 * byte order mark, which the parts do not contain. `isStatedByUser`: the user has stated that the text is UTF-8.
 */
async function* decodeUtf8(
  parts: AsyncIterable<Buffer>,
  markLength: number,
  name: string,
  detected: Encoding,
  isStatedByUser: boolean,
): AsyncGenerator<Buffer> {
  let offset = markLength
  let isCertainlyUtf8 = detected.bom || isStatedByUser
  let incomplete: Buffer = Buffer.alloc(0)
  const decode = (whole: Buffer, offsetOfWhole: number): Buffer => {
    if (isAscii(whole)) return whole
    if (detected.encoding === 'utf-8') {
      if (isUtf8(whole)) {
        isCertainlyUtf8 = true
        return whole
      }
      if (isCertainlyUtf8 || isMostlyUtf8(whole)) {
        const index = indexOfInvalidByte(whole)
        throw invalidByteError(name, offsetOfWhole + index, whole[index])
      }
      detected.encoding = undefined
    }
    return Buffer.from(whole.toString('latin1'))
  }
  for await (const part of parts) {
    const nul = part.indexOf(0)
    if (nul !== -1) throw nulByteError(name, offset + nul)
    const whole = incomplete.length === 0 ? part : Buffer.concat([incomplete, part])
    const offsetOfWhole = offset - incomplete.length
    offset += part.length
    const end = detected.encoding === 'utf-8' ? offsetOfIncompleteCharacter(whole) : whole.length
    incomplete = whole.subarray(end)
    yield decode(whole.subarray(0, end), offsetOfWhole)
  }
  if (incomplete.length > 0) yield decode(incomplete, offset - incomplete.length)
}

/** Returns the offset of the last character if the end of the chunk cuts it off; otherwise the length of the chunk. */
function offsetOfIncompleteCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

/** Returns the length of the well-formed UTF-8 sequence at an offset (RFC 3629); 0 if there is none. */
function sequenceLengthAt(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  return lead >= 0xc2 &&
    lead <= 0xf4 &&
    isUtf8(bytes.subarray(at, at + length)) &&
    at + length <= bytes.length
    ? length
    : 0
}

/** Yields the offset and length of each multi-byte sequence; the length is 0 for a byte that begins none. */
function* multiByteSequences(bytes: Buffer): Generator<[at: number, length: number]> {
  for (let at = 0; at < bytes.length; at += 1) {
    if ((bytes[at] ?? 0) < 0x80) continue
    const length = sequenceLengthAt(bytes, at)
    yield [at, length]
    at += Math.max(0, length - 1)
  }
}

function indexOfInvalidByte(bytes: Buffer): number {
  for (const [at, length] of multiByteSequences(bytes)) if (length === 0) return at
  return -1
}

/**
 * Whether at least half of the multi-byte sequences are valid UTF-8: then the text is damaged UTF-8, not another
 * encoding.
 */
function isMostlyUtf8(bytes: Buffer): boolean {
  let balance = 0
  for (const [, length] of multiByteSequences(bytes)) balance += length === 0 ? -1 : 1
  return balance >= 0
}

function invalidByteError(name: string, offset: number, byte = 0) {
  const hex = byte.toString(16).toUpperCase().padStart(2, '0')
  return refusal(
    name,
    `byte ${offset} (0x${hex}) is not UTF-8`,
    'Save it again as "CSV UTF-8", or name its encoding with --encoding.',
  )
}

function nulByteError(name: string, offset: number) {
  return refusal(
    name,
    `byte ${offset} is NUL, which no text holds`,
    'Save it as "CSV UTF-8" or XLSX. (UTF-16 needs its byte order mark.)',
  )
}

/**
 * Returns the error for a text that is not UTF-8 and has no given encoding, with the likeliest encodings. `samples`
 * are values of the text with one character per byte (Latin-1).
 */
export async function undecidedEncodingError(
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
    answers: readings.map(({ encoding, usedBy, samples: texts }) => ({
      value: encoding,
      label: `${texts.join(', ')} (${encoding}, ${usedBy})`,
    })),
  })
}

/** An encoding that bytes which are not UTF-8 may have, with some values decoded in it. */
interface LikelyReading {
  encoding: string
  /** The region or system that uses the encoding, for the question to the user. */
  usedBy: string
  samples: string[]
}

const candidateEncodings: readonly [encoding: string, usedBy: string][] = [
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
 * Letters other than A to Z in the names of one language each. A text that mixes letters of several languages was
 * probably decoded wrongly: "Dvořák" has two Czech letters, but "Dvoøák" has a Danish and a Czech one.
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

/**
 * Returns the two or three likeliest encodings, the best first. `samples` are values with one character per byte
 * (Latin-1).
 */
export async function likelyReadings(samples: readonly string[]): Promise<LikelyReading[]> {
  const values = [...new Set(samples)].slice(0, 200).map((text) => Buffer.from(text, 'latin1'))
  const scoredReadings: (LikelyReading & { score: number })[] = []
  for (const [encoding, usedBy] of candidateEncodings) {
    const texts = await decodeAll(values, encoding)
    if (texts === undefined) continue
    const score = texts.reduce((sum, text) => sum + plausibility(text), 0)
    scoredReadings.push({ encoding, usedBy, samples: texts, score })
  }
  // The sort is stable: candidates with equal scores stay in the order of `candidateEncodings`, the most common first.
  scoredReadings.sort((a, b) => b.score - a.score)
  const distinctReadings: typeof scoredReadings = []
  for (const each of scoredReadings) {
    if (distinctReadings.every(({ samples: others }) => others.join('\0') !== each.samples.join('\0')))
      distinctReadings.push(each)
  }
  const [best] = distinctReadings
  const plausible = distinctReadings.filter(({ score }, at) => at < 2 || score > (best?.score ?? 0) / 2)
  return plausible
    .slice(0, 3)
    .map(({ encoding, usedBy, samples: texts }) => ({ encoding, usedBy, samples: sampleTexts(texts) }))
}

async function decodeAll(values: readonly Buffer[], encoding: string): Promise<string[] | undefined> {
  try {
    const texts: string[] = []
    for (const bytes of values) {
      const decoder = await createDecoder(encoding)
      texts.push(decoder.decode(bytes) + decoder.end())
    }
    return texts
  } catch {
    return undefined
  }
}

/** Returns from 0 to 1 how plausible the words of a text are. */
function plausibility(text: string): number {
  const words = text.split(/[\p{Zs}\d,.;:'’‘“”"()/-]+/u).filter((word) => /[^\0-\x7F]/.test(word))
  if (words.length === 0) return /[‘’“”–€£°«»]/u.test(text) ? 0.9 : 0
  return words.reduce((sum, word) => sum + wordScore(word), 0) / words.length
}

/** Rates from 0 to 1 how plausible a word is that has characters other than ASCII. */
function wordScore(word: string): number {
  const nonAscii = Array.from(word).filter((letter) => letter > '\x7F')
  if (nonAscii.some((letter) => !/[\p{L}\p{M}]/u.test(letter)))
    return /^[€£°§©®™«»–—½º]+$/.test(nonAscii.join('')) ? 0.5 : 0
  if (nonAscii.length === Array.from(word).length && scripts.some((script) => script.test(word)))
    return scriptWordScore(word)
  // A capital letter among small letters is a sign of wrong decoding.
  if (/\p{Lu}\p{Lu}\p{Ll}/u.test(word)) return 0.1
  if (/\p{Ll}\p{Lu}/u.test(word) && !/^(?:Mc|Mac|De|Di|La|Le|O)\p{Lu}/u.test(word)) return 0.1
  const isOneAlphabet = alphabets.some((alphabet) => nonAscii.every((letter) => alphabet.has(letter)))
  if (!isOneAlphabet) return 0.2
  // A word of which more than half is accented letters is improbable.
  return nonAscii.length * 2 > Array.from(word).length && nonAscii.length > 1 ? 0.5 : 1
}

/**
 * Rates a word in a script other than Latin. Wrong decoding in a multi-byte encoding yields rare characters, which
 * names do not have.
 */
function scriptWordScore(word: string): number {
  if (/^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u.test(word)) {
    return /[\uFF61-\uFF9F]|[\u{20000}-\u{3FFFF}]/u.test(word) ? 0.2 : 0.9
  }
  // Small letters of KOI8 are capitals in Windows-1251, and the reverse.
  return /^\p{Lu}?\p{Ll}*$/u.test(word) || !/\p{Ll}/u.test(word) ? 0.95 : 0.1
}

/** Returns up to four values for the question to the user. */
function sampleTexts(texts: readonly string[]): string[] {
  return texts
    .map((text) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 30))
    .filter((text) => text !== '')
    .slice(0, 4)
}
