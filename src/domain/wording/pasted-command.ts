import { UsageError } from '../../errors/kinds.ts'

/** Quotes a word for a POSIX shell if necessary, so that a printed command can be pasted. */
export function shellWord(word: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** Matches a word of a command line with its quotes and backslashes. */
const quotedWord = /(?:\\.?|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+/gs
/** Matches an escaped character or a quoted part of a word. */
const quotedPart = /\\(.?)|'([^']*)'|"((?:\\.|[^"\\])*)"/gs

/**
 * Splits a command line into words. Quotes and backslashes work as in a shell: 'a b', "with \" and \\", or a\ b.
 * Variables, patterns and pipes have no effect, because no shell runs the command. Throws a UsageError, which names
 * `source`, if a quote is not closed or there are no words.
 */
export function splitCommandLine(text: string, source: string): string[] {
  if (/\S/.test(text.replaceAll(quotedWord, ''))) {
    throw new UsageError(`${source}: a quote is not closed`, { hint: 'Close it, or put \\ before it.' })
  }
  const words = (text.match(quotedWord) ?? []).map(withoutQuotes)
  if (words.length > 0) return words
  throw new UsageError(`${source}: the command is empty`, {
    hint: `Give a program and its arguments: ${source} 'program argument'`,
  })
}

const withoutQuotes = (word: string): string =>
  word.replaceAll(
    quotedPart,
    (_part, escaped?: string, single?: string, double?: string) =>
      escaped ?? single ?? double?.replaceAll(/\\(["\\])/g, '$1') ?? '',
  )

/** Matches the flag and the name of a file that a hint proposes to write. */
const proposedFile = /(--(?:errors|output) )((?:again|invalid|results)\b)(\.\w+)/g

/** Adds numbers to the proposed files in a hint until no such file exists, because commands do not overwrite files. */
export function avoidExistingFileNames(text: string, isExisting: (name: string) => boolean): string {
  return text.replace(proposedFile, (_match, flag: string, name: string, ending: string) => {
    let freeName = `${name}${ending}`
    for (let number = 2; isExisting(freeName); number += 1) freeName = `${name}-${number}${ending}`
    return `${flag}${freeName}`
  })
}

/**
 * A flag that selects the profile or service of a command. If the user gave the flag, every printed command repeats
 * it: in hints of errors, notes, views, and under `command` in JSON. Flags that only one command has are added where
 * its line is built (`fileCommand`, and the failures of cli/failures.ts).
 */
interface RepeatedFlag {
  name: string
  /** The commands that have the flag: a topic such as `batch`, or a single command such as `auth login`. */
  commands: readonly string[]
}

export const repeatedFlags: readonly RepeatedFlag[] = [
  {
    name: 'profile',
    commands: [
      'api',
      'approve',
      'auth login',
      'auth status',
      'batch',
      'config',
      'doctor',
      'packages',
      'ping',
      'quota',
      'report',
      'request',
      'schema',
      'status',
      'store',
      'users',
      'webhook',
    ],
  },
  { name: 'base-url', commands: ['sandbox'] },
]

/** The commands of `sandbox` that do not call a running sandbox, so that they have no --base-url. */
const offlineSandboxCommands = new Set(['start', 'demo', 'conformance', 'openapi', 'scenarios', 'rules'])

/** Adds the flags that the user gave to the commands in a text. */
export type FlagRepeater = (text: string) => string

export const repeatNoFlags: FlagRepeater = (text) => text

/**
 * Returns a function that adds the repeated flags of `argv` to commands; `repeatNoFlags` if `argv` has none of them.
 */
export function commandsFor(argv: readonly string[]): FlagRepeater {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  const givenFlags = repeatedFlags.flatMap(({ name, commands }) => {
    const value = flagValue(words, name)
    const hasFlag = commands.some((each) => startsWith(words, each))
    return value === undefined || !hasFlag ? [] : [{ name, value, commands }]
  })
  if (givenFlags.length === 0) return repeatNoFlags
  return (text) =>
    text.includes('refcheck ')
      ? givenFlags.reduce((result, { name, value, commands }) => addFlag(result, name, value, commands), text)
      : text
}

/** Returns the value of a flag if it needs no quotes in a shell, as names of profiles and plain URLs do. */
function flagValue(argv: readonly string[], name: string): string | undefined {
  for (const [index, word] of argv.entries()) {
    const value =
      word === `--${name}`
        ? argv[index + 1]
        : word.startsWith(`--${name}=`)
          ? word.slice(name.length + 3)
          : undefined
    if (value !== undefined) return /^(?!-)[\w.:/[\]-]+$/.test(value) ? value : undefined
  }
  return undefined
}

const startsWith = (words: readonly string[], command: string): boolean =>
  command.split(' ').every((word, index) => words[index] === word)

/** Matches a command line in a text, up to the end of the line or to a character that no command has. */
const commandLine = /(?<=^|[\s"`])refcheck((?: (?:'[^']*'|\\.|[^\s'"`()<>|\\])+)+)/g

function addFlag(text: string, name: string, value: string, commands: readonly string[]): string {
  return text.replace(commandLine, (line: string, rest: string) => {
    const words = wordsOfCommand(rest)
    const hasFlag =
      commands.some((each) => startsWith(words, each)) &&
      !(words[0] === 'sandbox' && offlineSandboxCommands.has(words[1] ?? ''))
    if (!hasFlag || words.includes('--help')) return line
    const command = ['refcheck', ...words].join(' ')
    if (words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))) return line
    return `${command} --${name} ${value}${line.slice(command.length)}`
  })
}

/** Returns the words up to the first that ends in a punctuation mark, which ends the sentence and not the command. */
function wordsOfCommand(rest: string): string[] {
  const words = rest.match(/(?<= )(?:'[^']*'|\\.|[^\s'])+/g) ?? []
  const last = words.findIndex((word) => /[.,;:]$/.test(word))
  return last === -1 ? words : [...words.slice(0, last), (words[last] ?? '').slice(0, -1)]
}

/** Adds the flags to the JSON of a command, under `command` and `hint` only: other texts may not be of refcheck. */
export function repeatFlagsInJson(value: unknown, repeatFlags: FlagRepeater): unknown {
  if (repeatFlags === repeatNoFlags || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => repeatFlagsInJson(each, repeatFlags))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      typeof each === 'string' && (key === 'command' || key === 'hint')
        ? repeatFlags(each)
        : repeatFlagsInJson(each, repeatFlags),
    ]),
  )
}
