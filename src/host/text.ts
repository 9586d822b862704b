import { stripVTControlCharacters } from 'node:util'

const lineBreak = /\r\n|[\n\r\u2028\u2029]/g
const control = /(?!\n)\p{Cc}/gu
/** Letters of scripts that join their letters, and their marks. */
const cursiveCharacter = String.raw`(?![\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}\p{scx=Inherited}\p{Default_Ignorable_Code_Point}])[\p{L}\p{M}]`
/**
 * Of what Unicode says is not seen or turns the order of a text, all but: a joiner where letters or pictures join, the
 * selector that makes a character a picture or text, and a Mongolian letter's variant. Variants of Chinese characters and
 * tags are marked: two names that look the same are not the same.
 */
const hidden = [
  String.raw`[\p{Bidi_Control}\p{Cf}\p{Default_Ignorable_Code_Point}]`,
  String.raw`(?<!(?:${cursiveCharacter}|\p{Emoji_Modifier}|\p{Extended_Pictographic}\uFE0F?)[\u200C\u200D])`,
  String.raw`(?<!\p{Extended_Pictographic}[\uFE0E\uFE0F]|[#*0-9]\uFE0F(?=\u20E3))`,
  String.raw`(?<!\p{Script=Mongolian}[\u180B-\u180D\u180F])`,
].join('')
const hiddenInText = new RegExp(hidden, 'gu')
/** What JSON leaves as it is although a terminal obeys it, or a person does not see it. */
export const hiddenInJson = new RegExp(String.raw`[\u007F-\u009F\u2028\u2029]|${hidden}`, 'gu')
const plain = /^[ -~\n]*$/
const replacement = '\uFFFD'

/** What opens a string sequence (OSC, as of a hyperlink or a title), and what may close one. */
const opener = '\u001B]'
const closers = ['\u0007', '\u001B\\', '\u009C']

/** Characters of one line; no sentence, name or value of people is as long. */
const longestLine = 4000

/** Signs that fonts draw as nothing: an empty braille pattern, a hieroglyph, a Khitan letter and a note. */
const blank = String.raw`[\p{Zs}\u2800\u{13441}\u{13442}\u{16FE4}\u{1D159}]`
/** Blanks that a person sees as one. */
const blanks = new RegExp(`${blank}{2,}`, 'gu')
const plainBlanks = /^ +$/
const markedBlanks = new RegExp(String.raw`(?:${blank}+\uFFFD+){2,}`, 'gu')

export interface SanitizeOptions {
  /** Keep all of a line, however long it is. */
  uncut?: boolean | undefined
  /** Show line breaks as marks: the text is one of several, each on a line of its own. */
  marksLines?: boolean | undefined
  /** The text was laid out here: runs of plain spaces stay. */
  layout?: boolean | undefined
  /** Keep line breaks, as \n, and the layout; without it each line break becomes a space. */
  lines?: boolean | undefined
}

/**
 * Text from elsewhere, fit for a terminal: escape sequences gone, a tab a space, every other control character (C0,
 * DEL, C1) and what is hidden (see above) a visible U+FFFD, a run of blanks one space, so that what is shown is in the
 * order it is stored and nothing hides.
 * A line of its own that is too long is cut, and ends with how many characters are left out.
 */
export function sanitize(text: string, options: SanitizeOptions = {}): string {
  const isLaidOut = options.lines === true || options.layout === true
  if (!isLaidOut && options.uncut !== true && text.length > longestLine) {
    const more = (text.length - longestLine).toLocaleString('en')
    const start = text.slice(0, longestLine).replace(/[\uD800-\uDBFF]$/, '')
    return `${sanitize(start, { ...options, uncut: true })}… (${more} more characters)`
  }
  // An escape left over from a nested sequence is a control character like any other.
  const lineEnd = options.lines === true ? '\n' : options.marksLines === true ? replacement : ' '
  const line = withoutSequences(text).replace(lineBreak, lineEnd).replaceAll('\t', ' ')
  const clean = plain.test(line)
    ? line
    : line.replace(control, replacement).replace(hiddenInText, replacement)
  const shown = clean.replace(blanks, (run) => (isLaidOut && plainBlanks.test(run) ? run : ' '))
  return isLaidOut ? shown : shown.replace(markedBlanks, ` ${replacement}`)
}

/**
 * Node's own stripping looks for the closer of every opener up to the end of the text, which is
 * quadratic where none comes; past the last closer no string sequence can end, so none is looked for.
 */
function withoutSequences(text: string): string {
  const closed = Math.max(
    ...closers.map((closer) => {
      const at = text.lastIndexOf(closer)
      return at === -1 ? 0 : at + closer.length
    }),
  )
  const rest = text.slice(closed).replaceAll(opener, `${replacement}]`)
  return stripVTControlCharacters(text.slice(0, closed)) + stripVTControlCharacters(rest)
}
