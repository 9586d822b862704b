import { stripVTControlCharacters } from 'node:util'

const lineBreak = /\r\n|[\n\r\u2028\u2029]/g
const controlCharacter = /(?!\n)\p{Cc}/gu
/** Letters of scripts that join their letters, such as Arabic, and the marks of these letters. */
const cursiveCharacter = String.raw`(?![\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}\p{scx=Inherited}\p{Default_Ignorable_Code_Point}])[\p{L}\p{M}]`
/**
 * A character that is invisible or changes the direction of a text. Not matched: a zero-width joiner between letters or
 * emoji, the selector of the emoji or text form, and the variant selector of a Mongolian letter. Matched: variant
 * selectors of Chinese characters, and tag characters, because they make different names look the same.
 */
const hiddenCharacter = [
  String.raw`[\p{Bidi_Control}\p{Cf}\p{Default_Ignorable_Code_Point}]`,
  String.raw`(?<!(?:${cursiveCharacter}|\p{Emoji_Modifier}|\p{Extended_Pictographic}\uFE0F?)[\u200C\u200D])`,
  String.raw`(?<!\p{Extended_Pictographic}[\uFE0E\uFE0F]|[#*0-9]\uFE0F(?=\u20E3))`,
  String.raw`(?<!\p{Script=Mongolian}[\u180B-\u180D\u180F])`,
].join('')
const hiddenInText = new RegExp(hiddenCharacter, 'gu')
/** Characters that JSON does not escape, although a terminal obeys them or a person does not see them. */
export const hiddenInJson = new RegExp(String.raw`[\u007F-\u009F\u2028\u2029]|${hiddenCharacter}`, 'gu')
const plainText = /^[ -~\n]*$/
const replacement = '\uFFFD'

/** The start of a string sequence (OSC, as in a hyperlink or a title), and its possible ends. */
const sequenceStart = '\u001B]'
const sequenceEnds = ['\u0007', '\u001B\\', '\u009C']

/** Maximal number of characters of a line. Real sentences, names and values are shorter. */
const maxLineLength = 4000

/** Characters that fonts draw as nothing: an empty braille pattern, a hieroglyph, a Khitan letter and a note. */
const blankCharacter = String.raw`[\p{Zs}\u2800\u{13441}\u{13442}\u{16FE4}\u{1D159}]`
/** Several blanks, which look like one. */
const blanks = new RegExp(`${blankCharacter}{2,}`, 'gu')
const plainBlanks = /^ +$/
/** Several groups of blanks and U+FFFD, which are shown as one. */
const blanksBetweenReplacements = new RegExp(String.raw`(?:${blankCharacter}+\uFFFD+){2,}`, 'gu')

export interface SanitizeOptions {
  /** Whether a line of any length is kept whole. */
  isUncut?: boolean | undefined
  /** Whether line breaks become U+FFFD, for a text that is shown on one line. */
  marksLineBreaks?: boolean | undefined
  /** Whether runs of plain spaces are kept, because refcheck laid out the text. */
  keepsLayout?: boolean | undefined
  /**
   * Whether line breaks become \n, and the layout is kept too. Otherwise each line break becomes a space.
   */
  keepsLines?: boolean | undefined
}

/**
 * Makes text from outside the program safe for a terminal. Escape sequences are removed. A tab becomes a space, and a
 * run of blanks one space. Other control characters (C0, DEL, C1) and hidden characters become U+FFFD, so that the
 * visible order is the stored order and nothing is hidden. A long line is cut and ends with the number of characters
 * that are left out.
 */
export function sanitize(text: string, options: SanitizeOptions = {}): string {
  const isLaidOut = options.keepsLines === true || options.keepsLayout === true
  if (!isLaidOut && options.isUncut !== true && text.length > maxLineLength) {
    const cutCharacters = (text.length - maxLineLength).toLocaleString('en')
    const start = text.slice(0, maxLineLength).replace(/[\uD800-\uDBFF]$/, '')
    return `${sanitize(start, { ...options, isUncut: true })}… (${cutCharacters} more characters)`
  }
  const lineEnd = options.keepsLines === true ? '\n' : options.marksLineBreaks === true ? replacement : ' '
  const line = withoutSequences(text).replace(lineBreak, lineEnd).replaceAll('\t', ' ')
  // An escape character that remains from a nested sequence is replaced like any other control character.
  const clean = plainText.test(line)
    ? line
    : line.replace(controlCharacter, replacement).replace(hiddenInText, replacement)
  const singleSpaced = clean.replace(blanks, (run) => (isLaidOut && plainBlanks.test(run) ? run : ' '))
  return isLaidOut ? singleSpaced : singleSpaced.replace(blanksBetweenReplacements, ` ${replacement}`)
}

/**
 * Removes terminal sequences. For each start of a sequence, Node's own function searches for the end in the whole rest
 * of the text, which is quadratic if there is none. After the last end no sequence can end, so starts are replaced
 * there.
 */
function withoutSequences(text: string): string {
  const closedLength = Math.max(
    ...sequenceEnds.map((closer) => {
      const index = text.lastIndexOf(closer)
      return index === -1 ? 0 : index + closer.length
    }),
  )
  const rest = text.slice(closedLength).replaceAll(sequenceStart, `${replacement}]`)
  return stripVTControlCharacters(text.slice(0, closedLength)) + stripVTControlCharacters(rest)
}

const units = String.raw`(?:ms|s|min|h|d|kB|MB|GB)\b`
const beforeUnit = new RegExp(String.raw`(?<=\d) (?=${units})`, 'g')
const noBreakBeforeUnit = new RegExp(String.raw`(?<=\d)\u00A0(?=${units})`, 'g')

/** Replaces the space between a number and its unit by one at which no line is broken, until `separateUnits`. */
export const joinUnits = (text: string): string => text.replaceAll(beforeUnit, '\u00A0')

export const separateUnits = (text: string): string => text.replaceAll(noBreakBeforeUnit, ' ')
