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

/** A file that a hint proposes to write. */
const proposedFile = /(--(?:errors|output) )((?:again|invalid|results)\b)(\.\w+)/g

/** A file that is there is never overwritten: each proposed one gets a number until it is free, so that its command works. */
export function withFreeFiles(text: string, isThere: (name: string) => boolean): string {
  return text.replace(proposedFile, (_whole, flag: string, name: string, ending: string) => {
    let free = `${name}${ending}`
    for (let number = 2; isThere(free); number += 1) free = `${name}-${number}${ending}`
    return `${flag}${free}`
  })
}

/**
 * Flags that select the profile, store and folders of a command. A command line in a hint repeats those that were given,
 * wherever it is printed: an error's hint, a note, a view, a `command` in JSON. What else changes the meaning of one command
 * alone is added where that line is built (`fileCommand`, `again` of an error).
 */
interface RepeatedFlag {
  name: string
  /** Topics and commands that act in that world; `auth login` is a command, `auth` all of a topic. */
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

/** Of the sandbox those that act on none. */
const ofNone = new Set(['start', 'demo', 'conformance', 'openapi', 'scenarios', 'rules'])

/** How a text repeats the flags of `argv`. */
export type FlagRepeater = (text: string) => string

export const repeatNoFlags: FlagRepeater = (text) => text

/** What was typed in `argv` that the commands of a hint repeat; `repeatNoFlags` where that is nothing. */
export function commandsFor(argv: readonly string[]): FlagRepeater {
  const end = argv.indexOf('--')
  const typed = end === -1 ? argv : argv.slice(0, end)
  const given = repeatedFlags.flatMap(({ name, commands }) => {
    const value = valueOf(typed, name)
    const isMeant = commands.some((each) => startsWith(typed, each))
    return value === undefined || !isMeant ? [] : [{ name, value, commands }]
  })
  if (given.length === 0) return repeatNoFlags
  return (text) =>
    text.includes('refcheck ')
      ? given.reduce(
          (repeatedText, { name, value, commands }) => repeated(repeatedText, name, value, commands),
          text,
        )
      : text
}

/** Only what a shell takes as it is: a profile's name, a plain URL. */
function valueOf(argv: readonly string[], name: string): string | undefined {
  for (const [at, word] of argv.entries()) {
    const value =
      word === `--${name}`
        ? argv[at + 1]
        : word.startsWith(`--${name}=`)
          ? word.slice(name.length + 3)
          : undefined
    if (value !== undefined) return /^(?!-)[\w.:/[\]-]+$/.test(value) ? value : undefined
  }
  return undefined
}

const startsWith = (words: readonly string[], command: string): boolean =>
  command.split(' ').every((word, at) => words[at] === word)

/** A command line begins with a command, and ends with its line, or where a sentence goes on after it. */
const line = /(?<=^|[\s"`])refcheck((?: (?:'[^']*'|\\.|[^\s'"`()<>|\\])+)+)/g

function repeated(text: string, name: string, value: string, commands: readonly string[]): string {
  return text.replace(line, (whole: string, rest: string) => {
    const words = wordsOf(rest)
    const isMeant =
      commands.some((each) => startsWith(words, each)) &&
      !(words[0] === 'sandbox' && ofNone.has(words[1] ?? ''))
    if (!isMeant || words.includes('--help')) return whole
    const command = ['refcheck', ...words].join(' ')
    if (words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))) return whole
    return `${command} --${name} ${value}${whole.slice(command.length)}`
  })
}

/** The words up to the end of the sentence that contains the line. */
function wordsOf(rest: string): string[] {
  const words = rest.match(/(?<= )(?:'[^']*'|\\.|[^\s'])+/g) ?? []
  const last = words.findIndex((word) => /[.,;:]$/.test(word))
  return last === -1 ? words : [...words.slice(0, last), (words[last] ?? '').slice(0, -1)]
}

/** The same in what --json prints: under `command` and `hint` alone, which are this program's own words. */
export function repeatFlagsInJson(value: unknown, keep: FlagRepeater): unknown {
  if (keep === repeatNoFlags || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => repeatFlagsInJson(each, keep))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      typeof each === 'string' && (key === 'command' || key === 'hint')
        ? keep(each)
        : repeatFlagsInJson(each, keep),
    ]),
  )
}
