import { isUtf8 } from 'node:buffer'

/** The prefix of a refused value in results files whose format has only texts. */
export const refusedMark = '#REFUSED!'

/** Matches numbers of which a spreadsheet has dropped digits: `6.14E+10`, or with a decimal comma. */
const lostDigits = /^-?\d[.,]\d+E\+\d{2,3}$/

/** Matches the error values of spreadsheets in English, German, French, Spanish and Italian. */
const errorWord =
  /^#(?:REF!|N\/A|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|FIELD!|BUSY!|GETTING_DATA|BEZUG!|NV|WERT!|ZAHL!|VALEUR!|NOM\?|NOMBRE!|REFERENCIA!|¡REF!|RIF!|VALORE!|NOME\?|#+)$|^(?:Err:\d{3}|#{3,})$/

/** Returns how a spreadsheet or an export has damaged a text; undefined if no damage is found. */
export function findDamage(text: string): string | undefined {
  const first = text.charCodeAt(0)
  // Nearly every text begins with a letter, a + or a digit, and needs no regular expression.
  if (first <= 61 && first !== 43 && !(first > 48 && first <= 57 && !text.includes('E+'))) {
    if (lostDigits.test(text)) {
      return 'is in scientific notation: the spreadsheet has dropped digits; format the column as text and type it again'
    }
    if (text.startsWith(refusedMark)) return 'was refused when it was read before; type it again'
    if (errorWord.test(text.trim())) return `is the error ${text.trim()} of a spreadsheet, not a value`
    const quoted = /^="([^"]*)"$/.exec(text.trim())?.[1]
    if (quoted !== undefined)
      return `is a formula that a spreadsheet shows as "${quoted}"; write that instead`
  } else if (text.startsWith('Err:') && errorWord.test(text.trim())) {
    return `is the error ${text.trim()} of a spreadsheet, not a value`
  }
  if (!text.isWellFormed()) return 'holds half of a letter'
  if (text.includes('\0')) return 'holds a NUL character'
  return text.includes('\uFFFD') ? 'holds \uFFFD, which stands where a letter was lost' : undefined
}

/**
 * Matches invisible characters, and those that change the direction of writing. Joiners are allowed: some scripts
 * need them.
 */
const invisible = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/u

/**
 * Matches names of letters, spaces and punctuation in which no two non-ASCII letters are adjacent. Most names match, so
 * that no slower check is needed.
 */
const plainName = /^(?:[A-Za-z '.-]|[\u00C0-\u017F](?![^\0-\x7F]))*$/

/**
 * Returns the damage of a name, such as `?ukasz` or `JosÃ©`; undefined if none is found. `suggestion`: the likely
 * name.
 */
export function findNameDamage(
  text: string,
): { problem: string; suggestion?: string | undefined } | undefined {
  if (plainName.test(text)) return undefined
  if (text.includes('?')) return { problem: 'holds ?, which may stand for a letter that was lost' }
  const hidden = invisible.exec(text)?.[0]
  if (hidden !== undefined) {
    const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return { problem: `holds U+${code}, an invisible character; type it again` }
  }
  const suggestion = repairEncoding(text)
  return suggestion === undefined
    ? undefined
    : { problem: 'looks like UTF-8 that was read in another encoding', suggestion }
}

/** Matches a UTF-8 letter whose bytes were read as separate characters: é becomes Ã©, ř becomes Å™, ’ becomes â€™. */
const misreadUtf8 = /[\u00C2-\u00C5\u00D0\u00D1\u00E2\u0102\u0139\u00A0√¬][^\0-\x7F]/

/** Returns the text before its bytes were read in a wrong encoding; undefined if that did not happen. */
function repairEncoding(text: string): string | undefined {
  if (!misreadUtf8.test(text)) return undefined
  for (const bytes of ['windows-1252', 'windows-1250', 'macintosh'].map(byteTable)) {
    const words = text.split(/(\s+)/).map((word) => repairWord(word, bytes) ?? word)
    const repaired = words.join('')
    if (repaired !== text) return repaired
  }
  return undefined
}

function repairWord(word: string, bytes: ReadonlyMap<string, number>): string | undefined {
  if (!misreadUtf8.test(word)) return undefined
  const codes: number[] = []
  for (const letter of word) {
    const code = letter <= '\x7F' ? letter.charCodeAt(0) : bytes.get(letter)
    if (code === undefined) return undefined
    codes.push(code)
  }
  const utf8 = Uint8Array.from(codes)
  return isUtf8(utf8) ? new TextDecoder().decode(utf8) : undefined
}

const tables = new Map<string, ReadonlyMap<string, number>>()

/** Returns the byte of each non-ASCII character of an encoding. */
function byteTable(encoding: string): ReadonlyMap<string, number> {
  const cached = tables.get(encoding)
  if (cached !== undefined) return cached
  const decoder = new TextDecoder(encoding)
  const table = new Map<string, number>()
  for (let byte = 0x80; byte <= 0xff; byte += 1) table.set(decoder.decode(Uint8Array.of(byte)), byte)
  tables.set(encoding, table)
  return table
}
