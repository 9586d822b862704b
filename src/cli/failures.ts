import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import { findNearestWord } from '../domain/wording/text.ts'
import { commandsFor, shellWord, avoidExistingFileNames } from '../domain/wording/pasted-command.ts'
import { findKeys, redactArgument, redactKeys } from '../domain/wording/redact-argument.ts'
import { type RefcheckError, UsageError } from '../errors/kinds.ts'
import type { Context } from '../app/context.ts'

/** The properties of oclif's parse errors that are used here. oclif does not export their classes by name. */
interface ParseFailure {
  message: string
  parse?: { input?: { flags?: Record<string, unknown>; context?: { id?: string } } }
  flags?: string[]
  args?: unknown[]
  /** The id of the command that was parsed; see `addCommandId`. */
  command?: string
}

/** Returns true if oclif's parser has thrown the error. */
export function isParseFailure(error: unknown): error is Error & ParseFailure {
  return error instanceof Error && ('parse' in error || error.constructor.name === 'CLIError')
}

/** Adds the id of the command to a parse error, because not every parse error of oclif contains it. */
export function addCommandId(error: unknown, id: string | undefined): unknown {
  return isParseFailure(error) ? Object.assign(error, { command: id }) : error
}

/**
 * Converts a parse error of oclif to a message of one line. Typed values are shown only if they cannot be
 * secrets: the text after `=` is removed, and an unexpected argument that is as long as a key is removed too.
 */
export function toUsageError(error: Error & ParseFailure): UsageError {
  const hint = helpHint(error)
  switch (error.constructor.name) {
    case 'NonExistentFlagsError':
      return unknownFlagError(error, hint)
    case 'UnexpectedArgsError': {
      const argumentList = (error.args ?? []).map((arg) => `"${redactArgument(String(arg))}"`).join(', ')
      const mayBeFileName = (error.args ?? []).some((arg) => String(arg).includes('.'))
      const quoteHints = mayBeFileName ? ['Put a name with spaces in quotes, such as "new people.xlsx".'] : []
      return new UsageError(`unexpected argument ${argumentList}`, { hint: [...quoteHints, hint].join('\n') })
    }
    case 'RequiredArgsError': {
      const names = (error.args ?? []).map((arg) => argumentName(arg))
      const listHints = names.flatMap((name) => listHintByArgument.get(name) ?? [])
      return new UsageError(`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} required`, {
        hint: [...listHints, hint].join('\n'),
      })
    }
    default:
      return new UsageError(messageLine(error.message), { hint })
  }
}

/** Hints that name the command which lists the possible values of an argument. */
const listHintByArgument: ReadonlyMap<string, string> = new Map([
  ['BATCH_ID', 'List the batches with: refcheck batch list'],
  ['REQUEST_ID', 'List the requests with: refcheck request list'],
  ['PACKAGE_ID', 'List the packages with: refcheck packages list'],
])

function unknownFlagError(error: ParseFailure, hint: string): UsageError {
  const typedFlags = (error.flags ?? []).map((flag) => flag.replace(/=.*$/s, ''))
  const isSecret = typedFlags.some((flag) => /key|secret|token|password/i.test(flag))
  const knownFlags = Object.keys(error.parse?.input?.flags ?? {}).map((name) => `--${name}`)
  const nearestFlag = findNearestWord(typedFlags[0] ?? '', knownFlags)
  return new UsageError(`unknown flag ${typedFlags.join(', ')}`, {
    hint: isSecret
      ? 'Keys and secrets are refused on the command line. Give them on stdin, at the prompt, or in the environment.'
      : nearestFlag === undefined
        ? hint
        : `Did you mean ${nearestFlag}? ${hint}`,
  })
}

function argumentName(arg: unknown): string {
  const name = typeof arg === 'object' && arg !== null && 'name' in arg ? String(arg.name) : String(arg)
  return name.toUpperCase()
}

/** Removes the text that oclif puts around the message of an error that a flag's `parse` throws. */
export function removeOclifText(error: RefcheckError): RefcheckError {
  const [, message] =
    /^Parsing --[\w-]+\s*\n\t([\s\S]*)\nSee more help with --help$/.exec(error.message) ?? []
  return message === undefined
    ? error
    : new UsageError(message, { hint: error.hint, field: error.field, cause: error })
}

/** Returns the message of a parse error in one line, in the words of refcheck if `rewordings` has them. */
function messageLine(message: string): string {
  const text = stripVTControlCharacters(message)
  const withoutHelp = text.replace(/\nSee more help.*$/s, '')
  // The whole text is tried before its single lines, because a typed value in it may contain line breaks.
  const reworded = reword(withoutHelp)
  if (reworded !== undefined) return reworded
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('See more help'))
  const [firstLine = 'invalid command line', secondLine] = lines
  const [, flag] = /^Parsing (--[\w-]+)$/.exec(firstLine) ?? []
  if (secondLine === undefined) return reword(firstLine) ?? removeValue(firstLine)
  if (flag !== undefined) return `${flag}: ${reword(secondLine) ?? removeValue(secondLine)}`
  const line = /^The following errors? occurred:?$/.test(firstLine) ? secondLine : firstLine
  return reword(line) ?? removeValue(line)
}

/** Messages of oclif about a command line, and the wording of refcheck for each. */
const rewordings: [pattern: RegExp, formatMessage: (...parts: string[]) => string][] = [
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
  for (const [pattern, formatMessage] of rewordings) {
    const match = pattern.exec(line)
    if (match !== null) return formatMessage(...match.slice(1))
  }
  return undefined
}

/** Removes the text after the = of a flag, because it may be a secret. */
const removeValue = (line: string): string => line.replace(/(?<![\w-])(--[\w-]+)=.*?(?= cannot |$)/g, '$1')

function helpHint(error: ParseFailure): string {
  return helpHintFor(error.command ?? error.parse?.input?.context?.id)
}

/** Returns the hint to show the help of a command. */
function helpHintFor(id: string | undefined): string {
  return id === undefined
    ? 'List the commands with: refcheck help'
    : `Show its help with: refcheck ${id.replaceAll(':', ' ')} --help`
}

type Flags = Readonly<Record<string, { type: string }>>

/**
 * Throws a UsageError for arguments that oclif would misread. oclif reads the text after the = of a switch as
 * an argument, so that `--yes=no` would mean yes and a file "no". NUL characters are refused too, because no
 * shell passes them on and no file name contains them.
 */
export function refuseArgumentsOclifMisreads(
  argv: readonly string[],
  flags: Flags,
  id: string | undefined,
): void {
  const endOfFlags = argv.indexOf('--')
  for (const [index, word] of argv.entries()) {
    const [, name = ''] =
      (endOfFlags === -1 || index < endOfFlags ? /^--([^=]+)=/s.exec(word) : undefined) ?? []
    const isFlag = Object.hasOwn(flags, name)
    if (word.includes('\0'))
      throw new UsageError(`${isFlag ? `--${name}` : 'an argument'} holds a NUL character`, {
        hint: helpHintFor(id),
      })
    if (isFlag && flags[name]?.type === 'boolean')
      throw new UsageError(`--${name} takes no value`, { hint: helpHintFor(id) })
  }
}

/** Throws a UsageError for integers that are too large to be represented exactly. */
export function requireSafeIntegers(flags: Readonly<Record<string, unknown>>, id: string | undefined): void {
  for (const [name, value] of Object.entries(flags)) {
    const isTooLarge = [value].flat().some((each) => typeof each === 'number' && !Number.isSafeInteger(each))
    if (isTooLarge) throw new UsageError(`--${name}: the number is too large`, { hint: helpHintFor(id) })
  }
}

/**
 * Completes a failure before it is printed. In the commands of its hint, the typed flags that select the profile or
 * the service are repeated, and names of files that already exist are replaced by free ones where a new file is
 * proposed. If running the command line again continues the work, the command line is added too. Secrets are removed
 * from all its texts.
 */
export function prepareFailureForOutput(
  failure: RefcheckError,
  { argv = [], cwd, secrets }: Pick<Context, 'argv' | 'cwd' | 'secrets'>,
): void {
  if (failure.hint !== undefined) {
    const fileExists = (name: string): boolean => existsSync(resolve(cwd, name))
    failure.hint = avoidExistingFileNames(commandsFor(argv)(failure.hint), fileExists)
  }
  const keys = argv.flatMap(findKeys)
  const redact = (text: string): string => removeTypedKeys(redactKeys(secrets?.redact(text) ?? text), keys)
  const { hint, rerunLabel } = failure
  if (rerunLabel !== undefined && hint?.includes(rerunLabel) !== true) {
    const isSecret = argv.some((word) => redact(word) !== word)
    const command = isSecret ? 'the same command' : ['refcheck', ...argv].map(shellWord).join(' ')
    failure.hint = [hint, `${rerunLabel}: ${command}`].filter(Boolean).join(' ')
  }
  failure.message = redact(failure.message)
  if (failure.hint !== undefined) failure.hint = redact(failure.hint)
  failure.problems = failure.problems?.map(({ value, text, ...otherProperties }) => ({
    ...otherProperties,
    ...(value !== undefined && { value: redact(value) }),
    text: redact(text),
  }))
}

/**
 * Removes API keys that the user typed. If a key was typed in the place of an id, the message shows it in lowercase,
 * in which `redactKeys` does not recognise it; the key is therefore removed in lowercase too.
 */
function removeTypedKeys(text: string, keys: readonly string[]): string {
  return keys.reduce(
    (redactedText, key) => redactedText.replaceAll(key, '…').replaceAll(key.toLowerCase(), '…'),
    text,
  )
}

/** Thrown by a command that has printed its result and its failure. `main` then only returns the exit code. */
export class AlreadyReported extends Error {
  readonly failure: RefcheckError

  constructor(failure: RefcheckError) {
    super(failure.message)
    this.failure = failure
  }
}
