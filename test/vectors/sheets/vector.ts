/** A file as a program saves it, with the table that has to be read from it, or the error that refuses it. */
export type Vector = {
  file: string
  /** The program, and the property of its files that this file shows. Part of the title of the tests. */
  description: string
  bytes: () => Buffer | Promise<Buffer>
  /** The value of --sheet. */
  sheet?: string
  /** The values of --encoding and --header-row. */
  encoding?: string
  headerRow?: number
} & ({ table: string[][]; refusal?: undefined } | { refusal: string; table?: undefined })

/** The characters of these files that Windows-1252 has and Latin-1 has not. */
const windows1252: Record<string, number> = { '€': 0x80, '’': 0x92, '–': 0x96, Š: 0x8a, š: 0x9a }

export function encodeWindows1252(text: string): Buffer {
  return Buffer.from(Array.from(text, (character) => windows1252[character] ?? character.codePointAt(0) ?? 0))
}

export function encodeUtf16(text: string): Buffer {
  return Buffer.from(`\uFEFF${text}`, 'utf16le')
}
