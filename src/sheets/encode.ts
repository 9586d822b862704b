import type { Dialect } from '../domain/sheet/cell.ts'

/**
 * How a text goes into a file. Windows-1252 cannot say every name, so such a file goes on as UTF-8 with a
 * byte order mark, which spreadsheets open as it is.
 */
export function encoderOf({ encoding, bom }: Pick<Dialect, 'encoding' | 'bom'>): {
  encode: (text: string) => Uint8Array
  bom: boolean
} {
  switch (encoding) {
    case 'utf-16le':
      return { encode: (text) => Buffer.from(text, 'utf16le'), bom: true }
    case 'utf-16be':
      return { encode: (text) => Buffer.from(text, 'utf16le').swap16(), bom: true }
    case 'windows-1252':
      return { encode: (text) => Buffer.from(text), bom: true }
    case 'utf-8':
      return { encode: (text) => Buffer.from(text), bom }
  }
}
