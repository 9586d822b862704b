import { wrapAnsi } from 'fast-wrap-ansi'
import stringWidth from 'fast-string-width'

/** A command at the end of a line, after a colon: `Resume with: refcheck batch resume 3f2b8c1e`; or the flags to add to one. */
const withCommand = /^(.*?:) ((?:printf .* \| )?refcheck .*|(?<= add: )--.*)$/
const indent = '  '

/**
 * Text for a terminal of that width: a line that is too long goes on below, between two words. A command then has a
 * line of its own and can be pasted, however long it is. Text for a pipe or file (`undefined`) stays as it is.
 */
export function wrapped(text: string, columns: number | undefined): string {
  if (columns === undefined) return text
  return text
    .split('\n')
    .map((line) => (stringWidth(line) <= columns ? line : wrappedLine(line, columns)))
    .join('\n')
}

/** As much of the start of a line as has room in so many columns. */
export function cutTo(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line
  let cut = ''
  let taken = 0
  for (const character of line) {
    taken += stringWidth(character)
    if (taken > columns) break
    cut += character
  }
  return cut
}

function wrappedLine(line: string, columns: number): string {
  const [, alone] = /^ +(refcheck .*)$/.exec(line) ?? []
  if (alone !== undefined) return wrappedCommand(alone, columns)
  const [, sentence, command] = withCommand.exec(line) ?? []
  if (sentence === undefined || command === undefined) return wrappedSentence(line, columns)
  return `${wrappedSentence(sentence, columns)}\n${wrappedCommand(command, columns)}`
}

/** What stands below goes in as far as its line, so that a list stays one. */
function wrappedSentence(line: string, columns: number): string {
  const [start = ''] = /^ */.exec(line) ?? []
  const [first = '', ...rest] = wrapAnsi(line.slice(start.length), columns - start.length).split('\n')
  const below = start === '' ? '' : `${start}${indent}`
  const again = rest.length === 0 ? [] : wrapAnsi(rest.join(' '), columns - below.length).split('\n')
  return [start + first, ...again.map((each) => below + each)].join('\n')
}

/** As a shell takes several lines for one: a blank, a backslash and a line end between two words. */
function wrappedCommand(command: string, columns: number): string {
  const lines: string[] = []
  let line = indent
  for (const word of wordsOf(command)) {
    const next = line.trim() === '' ? `${line}${word}` : `${line} ${word}`
    if (stringWidth(next) + 2 <= columns || line.trim() === '') line = next
    else {
      lines.push(`${line} \\`)
      line = `${indent}${indent}${word}`
    }
  }
  return [...lines, line].join('\n')
}

/** Between quotes a blank belongs to the word, and a flag keeps its value beside it. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\.|[^\s'])+/g) ?? []
  const joined: string[] = []
  for (const word of words) {
    const last = joined.at(-1)
    if (last !== undefined && /^--[\w-]+$/.test(last) && !word.startsWith('-'))
      joined[joined.length - 1] = `${last} ${word}`
    else joined.push(word)
  }
  return joined
}
