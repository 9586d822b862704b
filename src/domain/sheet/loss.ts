import { isUtf8 } from 'node:buffer'

/** The prefix of a value that was refused, where it is written into a file that has texts only. */
export const refusedMark = '#REFUSED!'

/** Digits that a spreadsheet has dropped: `6.14E+10`, in whichever language it runs. */
const lostDigits = /^-?\d[.,]\d+E\+\d{2,3}$/

/** What spreadsheets write for a value they have not, in English, German, French, Spanish and Italian. */
const errorWord =
  /^#(?:REF!|N\/A|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|FIELD!|BUSY!|GETTING_DATA|BEZUG!|NV|WERT!|ZAHL!|VALEUR!|NOM\?|NOMBRE!|REFERENCIA!|¡REF!|RIF!|VALORE!|NOME\?|#+)$|^(?:Err:\d{3}|#{3,})$/

/**
 * Why a text is no longer what was typed: a spreadsheet or an export has had its hands on it. Undefined where
 * nothing is seen.
 */
export function findDamage(text: string): string | undefined {
  const first = text.charCodeAt(0)
  // Nearly every text begins with a letter, a + or a digit, and is plain.
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

/** Letters that are not shown, or turn what follows them around. Joiners are letters of some scripts. */
const invisible = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/u

/** Letters, spaces, hyphens, apostrophes and full stops alone, and no two letters beyond A to Z side by side. */
const plainName = /^(?:[A-Za-z '.-]|[\u00C0-\u017F](?![^\0-\x7F]))*$/

/** The same for names, where a ? is no question: `?ukasz`, `JosÃ©`. `suggestion`: what it may have been. */
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
  const meant = undone(text)
  return meant === undefined
    ? undefined
    : { problem: 'looks like UTF-8 that was read in another encoding', suggestion: meant }
}

/** What a letter of UTF-8 begins with when its bytes are read one by one: é is Ã©, ř is Å™, ’ is â€™. */
const misread = /[\u00C2-\u00C5\u00D0\u00D1\u00E2\u0102\u0139\u00A0√¬][^\0-\x7F]/

/** The text as it was before its bytes were read in the wrong encoding; undefined where they were not. */
function undone(text: string): string | undefined {
  if (!misread.test(text)) return undefined
  for (const bytes of ['windows-1252', 'windows-1250', 'macintosh'].map(bytesIn)) {
    const words = text.split(/(\s+)/).map((word) => utf8In(word, bytes) ?? word)
    const whole = words.join('')
    if (whole !== text) return whole
  }
  return undefined
}

function utf8In(word: string, bytes: ReadonlyMap<string, number>): string | undefined {
  if (!misread.test(word)) return undefined
  const codes: number[] = []
  for (const letter of word) {
    const code = letter <= '\x7F' ? letter.charCodeAt(0) : bytes.get(letter)
    if (code === undefined) return undefined
    codes.push(code)
  }
  const whole = Uint8Array.from(codes)
  return isUtf8(whole) ? new TextDecoder().decode(whole) : undefined
}

const tables = new Map<string, ReadonlyMap<string, number>>()

/** The byte of each letter beyond ASCII. */
function bytesIn(encoding: string): ReadonlyMap<string, number> {
  const known = tables.get(encoding)
  if (known !== undefined) return known
  const decoder = new TextDecoder(encoding)
  const table = new Map<string, number>()
  for (let byte = 0x80; byte <= 0xff; byte += 1) table.set(decoder.decode(Uint8Array.of(byte)), byte)
  tables.set(encoding, table)
  return table
}
