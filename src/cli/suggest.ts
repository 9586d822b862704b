import { distance } from 'fastest-levenshtein'

import { UsageError } from '../errors/kinds.ts'
import { findNearestWord } from '../domain/wording/text.ts'
import { shellWord } from '../domain/wording/pasted-command.ts'
import { redactArgument } from '../domain/wording/redact-argument.ts'

/**
 * Longer words are not compared. They are not misspelt names, and the time grows with the product of both
 * lengths.
 */
const maxComparedLength = 24

/** Returns the names of all commands, such as `batch run`, except `help`. */
export function commandNames(config: { commandIDs: readonly string[] }): string[] {
  return config.commandIDs.map((id) => id.replaceAll(':', ' ')).filter((name) => name !== 'help')
}

/** Returns the error for an unknown `help WORD`. The error suggests a similar page, or else a command. */
export function unknownHelpError(
  words: readonly string[],
  knownCommands: readonly string[],
  pages: readonly string[],
): UsageError {
  const [word = '', ...laterWords] = words
  const page = laterWords.length === 0 ? findNearestWord(word, pages) : undefined
  if (page === undefined) return unknownCommandError(words, knownCommands)
  return new UsageError(`unknown command or page "${redactArgument(word)}"`, {
    hint: `Did you mean: refcheck help ${page}`,
  })
}

/**
 * Returns the error for an unknown command. The error suggests the nearest command with the arguments that
 * were typed after it.
 */
export function unknownCommandError(words: readonly string[], knownCommands: readonly string[]): UsageError {
  const typedName = words.slice(0, countNameWords(words)).map(redactArgument).join(' ')
  return new UsageError(`unknown command "${typedName}"`, { hint: suggestCommand(words, knownCommands) })
}

function suggestCommand(words: readonly string[], knownCommands: readonly string[]): string {
  const nearestName = nearestCommand(words, knownCommands)
  if (nearestName !== undefined) {
    const laterWords = words.slice(nearestName.length)
    const isSafeToShow = laterWords.every(
      (word) => redactArgument(word) === word && !/key|secret|token|password/i.test(word),
    )
    return `Did you mean: ${['refcheck', nearestName.name, ...(isSafeToShow ? laterWords.map(shellWord) : [])].join(' ')}`
  }
  const topics = [
    ...new Set(knownCommands.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0] ?? '')),
  ]
  const topic = topics.find((each) => stepsBetween(words, [each]) < Infinity)
  return topic === undefined
    ? 'List the commands with: refcheck help'
    : `List the commands of "${topic}" with: refcheck help ${topic}`
}

/**
 * The commands for words that users type instead of them, although the words are not part of their names and
 * not misspellings of them.
 */
const commandBySynonym: ReadonlyMap<string, string> = new Map([
  ['order', 'request create'],
  ['orders', 'request list'],
])

interface NearestCommand {
  name: string
  /** The number of typed words that form the name. */
  length: number
}

/**
 * Returns the known command with the nearest name, compared word by word. If there is none, returns the
 * command whose last word was typed alone (`login`).
 */
function nearestCommand(
  words: readonly string[],
  knownCommands: readonly string[],
): NearestCommand | undefined {
  let best: NearestCommand | undefined
  let fewestSteps = Infinity
  for (const name of knownCommands) {
    const parts = name.split(' ')
    const steps = stepsBetween(words, parts)
    if (steps < fewestSteps) [best, fewestSteps] = [{ name, length: parts.length }, steps]
  }
  const firstWord = words[0]?.toLowerCase()
  const synonymousCommand = commandBySynonym.get(firstWord ?? '')
  if (synonymousCommand !== undefined) return { name: synonymousCommand, length: 1 }
  if (best !== undefined) return best
  const name = knownCommands.find((each) => each.includes(' ') && each.split(' ').at(-1) === firstWord)
  return name === undefined ? undefined : { name, length: 1 }
}

/**
 * Returns the number of letters that differ; Infinity if a word is missing or too different from its part of the name.
 */
function stepsBetween(words: readonly string[], parts: readonly string[]): number {
  let sum = 0
  for (const [index, part] of parts.entries()) {
    const word = words[index]?.toLowerCase() ?? ''
    if (word.length > maxComparedLength) return Infinity
    const steps = distance(word, part)
    if (steps > Math.max(2, Math.floor(part.length / 3))) return Infinity
    if (steps >= part.length - 1 && sortedLetters(word) !== sortedLetters(part)) return Infinity
    sum += steps
  }
  return sum
}

/**
 * Returns the letters in order. Two exchanged letters in a short word are a typing error, but two different
 * letters make another word.
 */
function sortedLetters(word: string): string {
  return word.split('').toSorted().join('')
}

/** Returns the number of words that may be the name of a command. */
function countNameWords(words: readonly string[]): number {
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/i.test(word))
  return Math.max(1, Math.min(3, end === -1 ? 3 : end))
}
