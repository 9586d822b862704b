import type { Dialect } from '../domain/sheet/cell.ts'

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
