import { stripVTControlCharacters } from 'node:util'

const lineBreak = /\r\n|[\n\r\u2028\u2029]/g
const control = /\p{Cc}/gu
const bidiControl = /\p{Bidi_Control}/gu
/** What JSON leaves as it is although a terminal obeys it, or a person does not see it. */
export const hiddenInJson =
  /[\u007F-\u009F\u2028\u2029\p{Bidi_Control}\u00AD\u115F\u1160\u180E\u200B\u2060-\u2064\u3164\uFEFF\uFFA0\u{E0000}-\u{E007F}]/gu
/** What has no width and no meaning in any text of people: soft hyphen, zero-width space, fillers, tags. */
const invisible = /[\u00AD\u115F\u1160\u180E\u200B\u2060-\u2064\u3164\uFEFF\uFFA0\u{E0000}-\u{E007F}]/gu
/** Joiners belong to scripts that join their letters, and to pictures. */
const joiner = /(?<=^|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Nd}\p{P}\p{Z}])[\u200C\u200D]/gu
const replacement = '\uFFFD'

/** What opens a string sequence (OSC, as of a hyperlink or a title), and what may close one. */
const opener = '\u001B]'
const closers = ['\u0007', '\u001B\\', '\u009C']

/** Characters of one line; no sentence, name or value of people is as long. */
const longestLine = 4000

/** Blanks that a person sees as one, with what has no width between them. */
const blanks = /[\p{Zs}\u2800][\p{Zs}\u2800\p{Default_Ignorable_Code_Point}]*[\p{Zs}\u2800]/gu
const plainBlanks = /^ +$/

export interface SanitizeOptions {
  /** Show line breaks as marks: the text is one of several, each on a line of its own. */
  marksLines?: boolean | undefined
  /** The text was laid out here: runs of plain spaces stay. */
  layout?: boolean | undefined
  /** Keep line breaks, as \n, and the layout; without it each line break becomes a space. */
  lines?: boolean | undefined
}

/**
 * Text from elsewhere, fit for a terminal: escape sequences gone, a tab a space, every other control
 * character (C0, DEL, C1), every bidi control (U+061C, U+200E–F, U+202A–E, U+2066–9) and what is invisible (a zero-width
 * space, tags, a joiner where nothing joins) a visible U+FFFD, a run of blanks one space, so that what is shown is in the order it is stored and nothing hides.
 * A line of its own that is too long is cut, and says by how much.
 */
export function sanitize(text: string, options: SanitizeOptions = {}): string {
  const clean = (line: string): string =>
    [control, bidiControl, invisible, joiner].reduce(
      (shown, each) => shown.replace(each, replacement),
      line.replaceAll('\t', ' '),
    )
  const isLaidOut = options.lines === true || options.layout === true
  if (!isLaidOut && text.length > longestLine) {
    const more = (text.length - longestLine).toLocaleString('en')
    return `${sanitize(text.slice(0, longestLine).toWellFormed())}… (${more} more characters)`
  }
  // An escape left over from a nested sequence is a control character like any other.
  const lines = withoutSequences(text).split(lineBreak)
  return lines
    .map(clean)
    .join(options.lines === true ? '\n' : options.marksLines === true ? replacement : ' ')
    .replace(blanks, (run) => (isLaidOut && plainBlanks.test(run) ? run : ' '))
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
