import type { Dialect } from '../domain/sheet/cell.ts'
import { InvalidInputError } from '../errors/kinds.ts'

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
        return decoder.encoding.startsWith('utf-') ? text : defined(text)
      },
      end: () => decoder.decode(),
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const { default: iconv } = await import('iconv-lite')
    const decoder = iconv.getDecoder(name)
    return {
      decode: (bytes) => defined(decoder.write(Buffer.from(bytes))),
      end: () => defined(decoder.end() ?? ''),
    }
  }
}

/** Encodings of one byte have gaps, which come as control characters or U+FFFD. */
function defined(text: string): string {
  if (/[\u0080-\u009F\uFFFD]/.test(text)) throw new TypeError('bytes that the encoding does not have')
  return text
}

/**
 * How a text goes into a file. Old encodings cannot say every name, so such a file goes on as UTF-8 with a
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
