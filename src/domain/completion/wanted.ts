import { requestStatuses } from '../../contract/statuses.ts'
import { submissionStates } from '../submission/states.ts'

/** The parts of a command's description that completion uses. */
export interface CompletedCommand {
  summary?: string
  hidden?: boolean
  args: Record<string, { multiple?: boolean; options?: readonly string[] }>
  flags: Record<
    string,
    {
      name: string
      type: 'boolean' | 'option'
      summary?: string
      multiple?: boolean
      options?: readonly string[]
      helpValue?: string | readonly string[]
    }
  >
}

export interface Completion {
  value: string
  /** A description, for shells that show one. */
  description: string
}

/** Values that have to be read from this machine. */
export type ValueSource =
  | 'package'
  | 'profile'
  | 'batch'
  | 'request'
  | 'event'
  | 'mapping'
  | 'setting'
  | 'plan'
  | 'command'
  | 'story'

interface Candidates {
  kind: 'candidates'
  candidates: Completion[]
}

/** What completes the word at the cursor: fixed candidates, paths, or values that are read from this machine. */
type CompletionTarget =
  | Candidates
  | { kind: 'files' | 'folders' }
  /** `prefix` precedes each value, such as `--package=`. */
  | { kind: 'stored'; source: ValueSource; prefix: string }

const noCandidates: Candidates = { kind: 'candidates', candidates: [] }

/** Sources of values by the names of arguments and flags. Flags that take a file are recognised by their help text. */
const sourceByName: Readonly<Record<string, ValueSource>> = {
  package: 'package',
  package_id: 'package',
  'packages list --id': 'package',
  profile: 'profile',
  profiles: 'profile',
  'auth switch name': 'profile',
  'auth logout name': 'profile',
  batch: 'batch',
  batch_id: 'batch',
  request: 'request',
  'request-id': 'request',
  request_id: 'request',
  id: 'event',
  mapping: 'mapping',
  key: 'setting',
  code: 'plan',
  'output-schema': 'command',
  'sandbox trigger story': 'story',
}
/** Values of flags that take a list, or that allow more values than `options` contains. */
const valuesOfFlags: Readonly<Record<string, readonly string[]>> = {
  'request list --status': [...requestStatuses, 'unknown', 'dropped'],
  'webhook send --status': requestStatuses,
  'sandbox logs --status': requestStatuses,
  'batch rows --state': submissionStates,
  'batch export --state': submissionStates,
}
const fileArgumentNames = new Set(['file', 'from', 'to'])

/**
 * Returns what may follow `words`, which are the complete words after the program's name. `current` is the incomplete
 * word, and all candidates begin with it. `pages` are names of help pages.
 */
export function findCompletionTarget(
  commands: Readonly<Record<string, CompletedCommand>>,
  words: readonly string[],
  current: string,
  pages: readonly string[] = [],
): CompletionTarget {
  const isHelp = words[0] === 'help'
  const commandWords = isHelp ? words.slice(1) : words
  if (isHelp && commandWords.length === 0) {
    const { candidates } = nextWords(commands, commandWords, current)
    const otherPages = pages.filter((page) => candidates.every(({ value }) => value !== page))
    return {
      kind: 'candidates',
      candidates: [...candidates, ...matchingOptions(otherPages, '', current).candidates],
    }
  }
  const id = findCommand(commands, commandWords)
  if (isHelp || id === undefined) return nextWords(commands, commandWords, current)
  const command = commands[id]
  if (command === undefined) return noCandidates
  const name = id.replaceAll(':', ' ')
  const argumentWords = commandWords.slice(name.split(' ').length)
  const subcommands = argumentWords.length === 0 ? nextWords(commands, commandWords, current) : noCandidates
  const argumentValues = targetInCommand(command, name, argumentWords, current)
  if (subcommands.kind !== 'candidates' || subcommands.candidates.length === 0) return argumentValues
  return argumentValues.kind === 'candidates'
    ? { kind: 'candidates', candidates: [...subcommands.candidates, ...argumentValues.candidates] }
    : argumentValues
}

/** Returns the value of `--profile` among the words. */
export function findProfile(words: readonly string[]): string | undefined {
  const index = words.lastIndexOf('--profile')
  return index === -1 ? words.findLast((word) => word.startsWith('--profile='))?.slice(10) : words[index + 1]
}

/** Returns the id of the longest command with which the words begin. */
function findCommand(commands: Readonly<Record<string, CompletedCommand>>, words: readonly string[]) {
  return [3, 2, 1]
    .filter((length) => length <= words.length)
    .map((length) => words.slice(0, length).join(':'))
    .find((id) => Object.hasOwn(commands, id))
}

/** Returns the topics and commands below the typed words. */
function nextWords(
  commands: Readonly<Record<string, CompletedCommand>>,
  words: readonly string[],
  current: string,
): Candidates {
  const typedPrefix = words.map((word) => `${word}:`).join('')
  const summaryByWord = new Map<string, string>()
  for (const [id, { summary = '', hidden }] of Object.entries(commands)) {
    if (hidden === true || !id.startsWith(typedPrefix)) continue
    const [word = '', ...below] = id.slice(typedPrefix.length).split(':')
    if (word.startsWith(current) && (below.length === 0 || !summaryByWord.has(word))) {
      summaryByWord.set(word, below.length === 0 ? summary : '')
    }
  }
  return {
    kind: 'candidates',
    candidates: [...summaryByWord].map(([value, description]) => ({ value, description })),
  }
}

type Flag = CompletedCommand['flags'][string]

function targetInCommand(
  command: CompletedCommand,
  name: string,
  argumentWords: readonly string[],
  current: string,
): CompletionTarget {
  const flags = Object.values(command.flags)
  const flagOf = (word: string): Flag | undefined => flags.find((each) => word === `--${each.name}`)
  const lastWord = argumentWords.at(-1)
  const openFlag = lastWord === undefined ? undefined : flagOf(lastWord)
  if (openFlag?.type === 'option') return valueOf(openFlag, name, '', current)
  const [, flagName = '', text = ''] = /^(--[a-z][a-z-]*)=(.*)$/s.exec(current) ?? []
  if (flagName !== '') {
    const flag = flagOf(flagName)
    return flag?.type === 'option' ? valueOf(flag, name, `${flagName}=`, text) : noCandidates
  }
  const unusedFlags = flags.filter(
    (flag) =>
      flag.multiple === true || !argumentWords.some((word) => word.split('=')[0] === `--${flag.name}`),
  )
  const flagCandidates = unusedFlags
    .filter((flag) => `--${flag.name}`.startsWith(current))
    .map((flag) => ({ value: `--${flag.name}`, description: flag.summary ?? '' }))
  if (current.startsWith('-')) return { kind: 'candidates', candidates: flagCandidates }
  const argument = argumentAt(command, argumentWords, flagOf)
  if (argument === undefined) return { kind: 'candidates', candidates: flagCandidates }
  const [argName, { options }] = argument
  if (options !== undefined) return matchingOptions(options, '', current)
  const valueSource = sourceByName[`${name} ${argName}`] ?? sourceByName[argName]
  if (valueSource !== undefined && !isOtherId(name, argName))
    return { kind: 'stored', source: valueSource, prefix: '' }
  return fileArgumentNames.has(argName) ? { kind: 'files' } : noCandidates
}

/** Whether an argument `id` is not the id of an event, as in all topics except `webhook events`. */
const isOtherId = (name: string, argument: string): boolean =>
  argument === 'id' && !name.startsWith('webhook events')

/** Returns the argument that is typed next, by the number of arguments before it. */
function argumentAt(
  { args }: CompletedCommand,
  argumentWords: readonly string[],
  flagOf: (word: string) => Flag | undefined,
): [string, CompletedCommand['args'][string]] | undefined {
  const givenCount = argumentWords.filter(
    (word, at) => !word.startsWith('-') && flagOf(argumentWords[at - 1] ?? '')?.type !== 'option',
  ).length
  const entries = Object.entries(args)
  const lastArgument = entries.at(-1)
  return entries[givenCount] ?? (lastArgument?.[1].multiple === true ? lastArgument : undefined)
}

function valueOf(flag: Flag, command: string, prefix: string, current: string): CompletionTarget {
  if (flag.options !== undefined) return matchingOptions(flag.options, prefix, current)
  const flagValues = valuesOfFlags[`${command} --${flag.name}`]
  if (flagValues !== undefined) {
    // Each state of a list of states is completed separately.
    const finishedStates = flag.name === 'state' ? current.slice(0, current.lastIndexOf(',') + 1) : ''
    return matchingOptions(flagValues, `${prefix}${finishedStates}`, current.slice(finishedStates.length))
  }
  const valueSource =
    sourceByName[`${command} --${flag.name}`] ?? (flag.name === 'id' ? undefined : sourceByName[flag.name])
  if (valueSource !== undefined) return { kind: 'stored', source: valueSource, prefix }
  const [value = ''] = [flag.helpValue ?? ''].flat()
  if (/\bFILE\b/.test(value)) return { kind: 'files' }
  return /\bDIR\b/.test(value) ? { kind: 'folders' } : noCandidates
}

function matchingOptions(options: readonly string[], prefix: string, current: string): Candidates {
  const matching = options.filter((option) => option.startsWith(current))
  return {
    kind: 'candidates',
    candidates: matching.map((value) => ({ value: `${prefix}${value}`, description: '' })),
  }
}
