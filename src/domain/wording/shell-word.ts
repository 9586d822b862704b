import { UsageError } from '../../errors/kinds.ts'

/** A word as a POSIX shell reads it back, quoted where it must be: a command that is shown can be pasted. */
export function shellWord(word: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * The words of a command line as a person quotes them: 'as it stands', "with \" and \\", or a\ b. No
 * variables, no patterns, no pipes: no shell ever sees it. Throws UsageError for an open quote.
 */
export function commandWords(text: string, what: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? ''
    if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (sign === '\\') {
      at += 1
      word = (word ?? '') + (text[at] ?? '')
    } else if (sign === "'" || sign === '"') {
      const [inner, end] = quoted(text, at, what)
      word = (word ?? '') + inner
      at = end
    } else {
      word = (word ?? '') + sign
    }
  }
  if (word !== undefined) words.push(word)
  if (words.length > 0) return words
  throw new UsageError(`${what}: the command is empty`, {
    hint: `Give a program and its arguments: ${what} 'program argument'`,
  })
}

function quoted(text: string, start: number, what: string): [inner: string, end: number] {
  const quote = text[start]
  let inner = ''
  for (let at = start + 1; at < text.length; at += 1) {
    const sign = text[at] ?? ''
    if (sign === quote) return [inner, at]
    const escaped = quote === '"' && sign === '\\' && /["\\]/.test(text[at + 1] ?? '')
    if (escaped) at += 1
    inner += escaped ? (text[at] ?? '') : sign
  }
  throw new UsageError(`${what}: a quote is not closed`, { hint: 'Close it, or put \\ before it.' })
}
