import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'

import type { Style, Terminal } from './terminal.ts'

const barWidth = 20

/** `[#####---------------]` for a quarter: full only where all of it is, and empty only where nothing is. */
export function bar(part: number): string {
  const done = part <= 0 ? 0 : Math.max(1, Math.floor(Math.min(1, part) * barWidth))
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}]`
}

/** The one line that everything long shows: how much of it is done, in words, and the seconds that are left where they are known. */
export function progressLine(part: number, text: string, secondsLeft?: number): string {
  const left = secondsLeft === undefined ? '' : `; ${formatDuration(secondsLeft)} left`
  return `${bar(part)}  ${text}${left}`
}

/** 4 s, 3 min, 5 h 10 min, 2 d 3 h: as exact as anybody needs it. */
export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90 && minutes !== 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const narrowest = 20

/** Text below a heading, every line of it behind `indent`, wrapped to what is left of the terminal. */
export function indented(text: string, indent: string, { columns }: Terminal): string {
  const lines = columns === undefined ? text : wrapAnsi(text, Math.max(narrowest, columns - indent.length))
  return lines.replace(/^/gm, indent)
}

/** A command at the end of a line, after a colon: `Resume with: refcheck batch resume 3f2b8c1e`; or the flags to add to one. */
const withCommand = /^(.*?:) ((?:printf .* \| )?refcheck .*|(?<= add: )--.*)$/
const continuationIndent = '  '

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
  const below = start === '' ? '' : `${start}${continuationIndent}`
  const again = rest.length === 0 ? [] : wrapAnsi(rest.join(' '), columns - below.length).split('\n')
  return [start + first, ...again.map((each) => below + each)].join('\n')
}

/** As a shell takes several lines for one: a blank, a backslash and a line end between two words. */
function wrappedCommand(command: string, columns: number): string {
  const lines: string[] = []
  let line = continuationIndent
  for (const word of wordsOf(command)) {
    const next = line.trim() === '' ? `${line}${word}` : `${line} ${word}`
    if (stringWidth(next) + 2 <= columns || line.trim() === '') line = next
    else {
      lines.push(`${line} \\`)
      line = `${continuationIndent}${continuationIndent}${word}`
    }
  }
  return [...lines, line].join('\n')
}

/** A blank between quotes belongs to the word, and a flag stays on the line of its value. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\.|[^\s'])+/g) ?? []
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && /^--[\w-]+$/.test(last) && !word.startsWith('-'))
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** One colour for each status of packages, requests, checks and referees; none for one we do not know. */
export function statusStyle(status: string): Style | undefined {
  switch (status) {
    case 'COMPLETED':
    case 'ACTIVE':
      return 'green'
    case 'PARTIAL':
    case 'INACTIVE':
      return 'yellow'
    case 'IN_PROGRESS':
      return 'blue'
    case 'RECEIVED':
      return 'cyan'
    case 'ERROR':
    case 'DISABLED':
      return 'red'
    case 'CANCELLED':
      return 'magenta'
    default:
      return undefined
  }
}
