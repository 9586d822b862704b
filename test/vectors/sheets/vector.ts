/** A file as a program saves it, and what it has to be read as, or how it is refused. */
export type Vector = {
  file: string
  /** The program, and the habit of it that this file shows. */
  habit: string
  bytes: () => Buffer | Promise<Buffer>
  /** As --sheet names it. */
  sheet?: string
  /** As --encoding and --header-row say. */
  encoding?: string
  headerRow?: number
} & ({ table: string[][]; refusal?: undefined } | { refusal: string; table?: undefined })

/** What Windows-1252 has beyond Latin-1, as far as these files use it. */
const windows1252: Record<string, number> = { '€': 0x80, '’': 0x92, '–': 0x96, Š: 0x8a, š: 0x9a }

export function western(text: string): Buffer {
  return Buffer.from(Array.from(text, (character) => windows1252[character] ?? character.codePointAt(0) ?? 0))
}

export function utf16(text: string): Buffer {
  return Buffer.from(`\uFEFF${text}`, 'utf16le')
}
