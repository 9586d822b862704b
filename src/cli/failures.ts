import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { nearest } from '../domain/form/problem.ts'
import { commandsFor, shellWord, withFreeFiles } from '../domain/wording/pasted-command.ts'
import { findKeys, redactArgument, redactKeys } from '../domain/wording/redact-argument.ts'
import { type RefcheckError, UsageError } from '../errors/kinds.ts'
import type { Context } from '../app/context.ts'

/** What oclif's parser throws, as far as we read it; its classes are not exported by name. */
interface ParseFailure {
  message: string
  parse?: { input?: { flags?: Record<string, unknown>; context?: { id?: string } } }
  flags?: string[]
  args?: unknown[]
  /** The command whose line failed; see `ofCommand`. */
  command?: string
}

/** Whether an error is oclif's word on the command line. */
export function isParseFailure(error: unknown): error is Error & ParseFailure {
  return error instanceof Error && ('parse' in error || error.constructor.name === 'CLIError')
}

/** The error, with the command whose line it is about: not every error of oclif has it. */
export function ofCommand(error: unknown, id: string | undefined): unknown {
  return isParseFailure(error) ? Object.assign(error, { command: id }) : error
}

/**
 * oclif's parse errors as one line of ours. Values that were typed are shown only where they cannot
 * be a secret: what follows `=` is dropped, and so is a stray argument as long as a key.
 */
export function usageError(error: Error & ParseFailure): UsageError {
  const hint = helpHint(error)
  switch (error.constructor.name) {
    case 'NonExistentFlagsError':
      return unknownFlag(error, hint)
    case 'UnexpectedArgsError': {
      const shown = (error.args ?? []).map((arg) => `"${redactArgument(String(arg))}"`).join(', ')
      const isOfFileName = (error.args ?? []).some((arg) => String(arg).includes('.'))
      const quotes = isOfFileName ? ['Put a name with spaces in quotes, such as "new people.xlsx".'] : []
      return new UsageError(`unexpected argument ${shown}`, { hint: [...quotes, hint].join('\n') })
    }
    case 'RequiredArgsError': {
      const names = (error.args ?? []).map((arg) => argumentName(arg))
      const lists = names.flatMap((name) => listsOf.get(name) ?? [])
      return new UsageError(`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} required`, {
        hint: [...lists, hint].join('\n'),
      })
    }
    default:
      return new UsageError(firstLine(error.message), { hint })
  }
}

/** Where a value that is missing is to be found. */
const listsOf: ReadonlyMap<string, string> = new Map([
  ['BATCH_ID', 'List the batches with: refcheck batch list'],
  ['REQUEST_ID', 'List the requests with: refcheck request list'],
  ['PACKAGE_ID', 'List the packages with: refcheck packages list'],
])

function unknownFlag(error: ParseFailure, hint: string): UsageError {
  const typed = (error.flags ?? []).map((flag) => flag.replace(/=.*$/s, ''))
  const secret = typed.some((flag) => /key|secret|token|password/i.test(flag))
  const known = Object.keys(error.parse?.input?.flags ?? {}).map((name) => `--${name}`)
  const guess = nearest(typed[0] ?? '', known)
  return new UsageError(`unknown flag ${typed.join(', ')}`, {
    hint: secret
      ? 'Keys and secrets are refused on the command line. Give them on stdin, at the prompt, or in the environment.'
      : guess === undefined
        ? hint
        : `Did you mean ${guess}? ${hint}`,
  })
}

function argumentName(arg: unknown): string {
  const name = typeof arg === 'object' && arg !== null && 'name' in arg ? String(arg.name) : String(arg)
  return name.toUpperCase()
}

/** oclif writes a frame of its own into the message of whatever a flag's `parse` throws; this takes it off. */
export function removeFrame(error: RefcheckError): RefcheckError {
  const [, own] = /^Parsing --[\w-]+\s*\n\t([\s\S]*)\nSee more help with --help$/.exec(error.message) ?? []
  return own === undefined
    ? error
    : new UsageError(own, { hint: error.hint, field: error.field, cause: error })
}

function firstLine(message: string): string {
  const text = stripVTControlCharacters(message)
  // A value that was typed may have lines of its own.
  const whole = text.replace(/\nSee more help.*$/s, '')
  const reworded = reword(whole)
  if (reworded !== undefined) return reworded
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('See more help'))
  const [first = 'invalid command line', second] = lines
  const [, flag] = /^Parsing (--[\w-]+)$/.exec(first) ?? []
  if (second === undefined) return reword(first) ?? withoutValue(first)
  if (flag !== undefined) return `${flag}: ${reword(second) ?? withoutValue(second)}`
  const line = /^The following errors? occurred:?$/.test(first) ? second : first
  return reword(line) ?? withoutValue(line)
}

/** The messages of oclif about a command line, in the words of this program. */
const sentences: [pattern: RegExp, say: (...parts: string[]) => string][] = [
  [/^Missing required flag:? ([\w-]+)$/, (flag) => `--${flag} is required`],
  [/^Flag (--[\w-]+) expects a value$/, (flag) => `${flag} requires a value`],
  [
    /^Expected (--[\w-]+)=(.*) to be one of: (.*)$/s,
    (flag, value, options) => `${flag}: "${redactArgument(value ?? '')}" is not one of: ${options}`,
  ],
  [
    /^Expected (?!an integer)(.*) to be one of: (.*)$/s,
    (value, options) => `"${redactArgument(value ?? '')}" is not one of: ${options}`,
  ],
  [
    /^(--[\w-]+)(?:=.*)? cannot also be provided when using (--[\w-]+)$/s,
    (one, other) => `${one} and ${other} cannot be combined`,
  ],
  [
    /^All of the following must be provided when using (--[\w-]+): (.*)$/s,
    (flag, others) => `${flag} requires ${others}`,
  ],
  [
    /^Expected an integer but received: (.*)$/s,
    (value) => `"${redactArgument(value ?? '')}" is not a whole number`,
  ],
  [
    /^Expected an integer (greater|less) than or equal to (-?\d+) but received: (.*)$/s,
    (side, limit, value) =>
      `"${redactArgument(value ?? '')}" is ${side === 'greater' ? 'less' : 'more'} than ${limit}`,
  ],
]

function reword(line: string): string | undefined {
  for (const [pattern, say] of sentences) {
    const found = pattern.exec(line)
    if (found !== null) return say(...found.slice(1))
  }
  return undefined
}

/** What stood behind the = of a flag may be a secret. */
const withoutValue = (line: string): string => line.replace(/(?<![\w-])(--[\w-]+)=.*?(?= cannot |$)/g, '$1')

function helpHint(error: ParseFailure): string {
  return helpOf(error.command ?? error.parse?.input?.context?.id)
}

/** Where to read on about a command. */
function helpOf(id: string | undefined): string {
  return id === undefined
    ? 'List the commands with: refcheck help'
    : `Show its help with: refcheck ${id.replaceAll(':', ' ')} --help`
}

type Flags = Readonly<Record<string, { type: string }>>

/**
 * Refuses words that oclif would misread: it takes what follows the = of a switch for an argument, so that `--yes=no` is a
 * yes and a file "no". No shell passes a NUL on, and no name of a file has one.
 */
export function requireWords(argv: readonly string[], flags: Flags, id: string | undefined): void {
  const end = argv.indexOf('--')
  for (const [at, word] of argv.entries()) {
    const [, name = ''] = (end === -1 || at < end ? /^--([^=]+)=/s.exec(word) : undefined) ?? []
    const isFlag = Object.hasOwn(flags, name)
    if (word.includes('\0'))
      throw new UsageError(`${isFlag ? `--${name}` : 'an argument'} holds a NUL character`, {
        hint: helpOf(id),
      })
    if (isFlag && flags[name]?.type === 'boolean')
      throw new UsageError(`--${name} takes no value`, { hint: helpOf(id) })
  }
}

/** Refuses numbers that are not counted one by one any more. */
export function requireCountable(flags: Readonly<Record<string, unknown>>, id: string | undefined): void {
  for (const [name, value] of Object.entries(flags)) {
    const tooLarge = [value].flat().some((each) => typeof each === 'number' && !Number.isSafeInteger(each))
    if (tooLarge) throw new UsageError(`--${name}: the number is too large`, { hint: helpOf(id) })
  }
}

/**
 * Makes the commands of a hint whole: the flags that choose the profile and the files are repeated, and the command line that was
 * typed ends it, for a failure whose remedy is to run it again. Neither `secrets` nor what looks like one is left in any text of it.
 */
export function nameCommand(
  failure: RefcheckError,
  { argv = [], cwd, secrets }: Pick<Context, 'argv' | 'cwd' | 'secrets'>,
): void {
  if (failure.hint !== undefined) {
    const isThere = (name: string): boolean => existsSync(resolve(cwd, name))
    failure.hint = withFreeFiles(commandsFor(argv)(failure.hint), isThere)
  }
  const keys = argv.flatMap(findKeys)
  const redacted = (text: string): string => removeTypedKeys(redactKeys(secrets?.redact(text) ?? text), keys)
  const { hint, again } = failure
  if (again !== undefined && hint?.includes(again) !== true) {
    const isSecret = argv.some((word) => redacted(word) !== word)
    const command = isSecret ? 'the same command' : ['refcheck', ...argv].map(shellWord).join(' ')
    failure.hint = [hint, `${again}: ${command}`].filter(Boolean).join(' ')
  }
  failure.message = redacted(failure.message)
  if (failure.hint !== undefined) failure.hint = redacted(failure.hint)
  failure.problems = failure.problems?.map(({ value, text, ...rest }) => ({
    ...rest,
    ...(value !== undefined && { value: redacted(value) }),
    text: redacted(text),
  }))
}

/** Ids are compared in lowercase, and a key in lowercase is harder to distinguish from words. */
function removeTypedKeys(text: string, keys: readonly string[]): string {
  return keys.reduce((rest, key) => rest.replaceAll(key, '…').replaceAll(key.toLowerCase(), '…'), text)
}

/** Ends a command that has printed its answer, failure included: only the exit code is left to do. */
export class AlreadyReported extends Error {
  readonly failure: RefcheckError

  constructor(failure: RefcheckError) {
    super(failure.message)
    this.failure = failure
  }
}
