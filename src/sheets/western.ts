/**
 * Bytes that are not UTF-8 say nothing of what they are. Read as Windows-1252, a name saved as Mac Roman,
 * Cyrillic or Chinese becomes another name, so what no Western text looks like is not taken for one.
 * Patterns are of bytes, as Latin-1 characters.
 */
const upper = String.raw`\x8A\x8C\x8E\x9F\xC0-\xD6\xD8-\xDE`
const lower = String.raw`\x9A\x9C\x9E\xDF-\xF6\xF8-\xFF`
const letter = `A-Za-z${upper}${lower}`

const unlikely = new RegExp(
  [
    // A whole word of accented letters alone: Иван, 李明.
    `(?<![${letter}])[${upper}${lower}]{2,}(?![${letter}])`,
    String.raw`[\x80-\xFF]{4,}`,
    // A capital within small letters: José of a Mac is JosŽ, Jürgen is JŸrgen.
    `[a-z${lower}][${upper}]`,
    `[${letter}][${upper}](?=[a-z${lower}])`,
    // A sign within a word: Nu–ez, Ren•e; or at its end: Micha³.
    String.raw`[a-z${lower}][\x96\x97](?=[a-z${lower}])`,
    String.raw`[${letter}][\x80\x82-\x89\x8B\x93-\x95\x98\x99\x9B\xA1-\xAC\xAE-\xB3\xB5\xB6\xB8-\xBF\xD7\xF7](?=[${letter}])`,
    String.raw`[a-z]{2}[\x83\x86-\x89\x8B\x98\x9B\xA1\xA3\xA5\xB1\xB3\xB6\xB9\xBC\xBE\xBF]`,
  ].join('|'),
)

/** Line ends of a carriage return alone are of old Macs, whose letters are not those of Windows. */
const oldMac = /\r(?!\n)/

/** Where a text first looks like anything but Windows-1252; -1 where it may well be that. */
export function notWestern(bytes: Buffer): number {
  const text = bytes.toString('latin1')
  if (oldMac.test(text) && !text.includes('\n')) return text.search(/[\x80-\xFF]/)
  const found = unlikely.exec(text)
  if (found === null) return -1
  const within = found[0].search(/[\x80-\xFF]/)
  return found.index + Math.max(0, within)
}
