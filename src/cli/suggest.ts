import { distance } from 'fastest-levenshtein'

import { UsageError } from '../errors/kinds.ts'
import { nearest } from '../domain/form/problem.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'

/** Longer words are no misspelt names; the distance costs time by the product of both lengths. */
const longestCompared = 24

/** `batch run` and the others, without those that only serve the shell. */
export function commandNames(config: { commandIDs: readonly string[] }): string[] {
  return config.commandIDs.map((id) => id.replaceAll(':', ' ')).filter((name) => name !== 'help')
}

/** What a mistyped `help WORD` means: a page, or else a command. */
export function unknownHelp(
  words: readonly string[],
  known: readonly string[],
  pages: readonly string[],
): UsageError {
  const [word = '', ...rest] = words
  const page = rest.length === 0 ? nearest(word, pages) : undefined
  if (page === undefined) return unknownCommand(words, known)
  return new UsageError(`unknown command or page "${redactArgument(word)}"`, {
    hint: `Did you mean: refcheck help ${page}`,
  })
}

/** What a mistyped command line means: the nearest command is suggested with what was typed after it, never run. */
export function unknownCommand(words: readonly string[], known: readonly string[]): UsageError {
  const typed = words.slice(0, nameLength(words)).map(redactArgument).join(' ')
  return new UsageError(`unknown command "${typed}"`, { hint: suggestion(words, known) })
}

function suggestion(words: readonly string[], known: readonly string[]): string {
  const found = nearestCommand(words, known)
  if (found !== undefined) {
    const rest = words.slice(found.length)
    const shown = rest.every(
      (word) => redactArgument(word) === word && !/key|secret|token|password/i.test(word),
    )
    return `Did you mean: ${['refcheck', found.name, ...(shown ? rest.map(shellWord) : [])].join(' ')}`
  }
  const topics = [
    ...new Set(known.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
  ]
  const topic = topics.find((each) => stepsBetween(words, [each]) < Infinity)
  return topic === undefined
    ? 'List the commands with: refcheck help'
    : `List the commands of "${topic}" with: refcheck help ${topic}`
}

/** Words that are no part of a command's name, and no misspelling of another either. */
const meanings: ReadonlyMap<string, string> = new Map([
  ['order', 'request create'],
  ['orders', 'request list'],
])

interface Found {
  name: string
  /** How many of the typed words name it. */
  length: number
}

/**
 * The known command whose words are nearest to the first ones typed, each word compared by itself; else the one
 * whose last word alone was typed (`login`).
 */
function nearestCommand(words: readonly string[], known: readonly string[]): Found | undefined {
  let best: Found | undefined
  let least = Infinity
  for (const name of known) {
    const parts = name.split(' ')
    const steps = stepsBetween(words, parts)
    if (steps < least) [best, least] = [{ name, length: parts.length }, steps]
  }
  const first = words[0]?.toLowerCase()
  const meant = meanings.get(first ?? '')
  if (meant !== undefined) return { name: meant, length: 1 }
  if (best !== undefined) return best
  const name = known.find((each) => each.includes(' ') && each.split(' ').at(-1) === first)
  return name === undefined ? undefined : { name, length: 1 }
}

/** Infinity where a word is missing or too far from its part. */
function stepsBetween(words: readonly string[], parts: readonly string[]): number {
  let sum = 0
  for (const [at, part] of parts.entries()) {
    const word = words[at]?.toLowerCase() ?? ''
    if (word.length > longestCompared) return Infinity
    const steps = distance(word, part)
    if (steps > Math.max(2, Math.floor(part.length / 3))) return Infinity
    if (steps >= part.length - 1 && letters(word) !== letters(part)) return Infinity
    sum += steps
  }
  return sum
}

/** Sorted: two letters of a short word that changed places are a slip, two other letters are another word. */
function letters(word: string): string {
  return word.split('').toSorted().join('')
}

/** How many of the words can be the name of a command. */
function nameLength(words: readonly string[]): number {
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/i.test(word))
  return Math.max(1, Math.min(3, end === -1 ? 3 : end))
}
