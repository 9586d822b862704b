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
  about: string
}

/** Values that have to be read from this machine. */
export type LiveKind =
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

/** The kind of word that is completed at the cursor. */
type Wanted =
  | Candidates
  | { kind: 'files' | 'folders' }
  /** `prefix` precedes each value, such as `--package=`. */
  | { kind: 'live'; source: LiveKind; prefix: string }

const noCandidates: Candidates = { kind: 'candidates', candidates: [] }

/** Sources of values by the names of arguments and flags. Flags that take a file are recognised by their help text. */
const liveNames: Readonly<Record<string, LiveKind>> = {
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
  'request list --status': [...requestStatuses, 'unknown'],
  'webhook send --status': requestStatuses,
  'sandbox logs --status': requestStatuses,
  'batch rows --state': submissionStates,
  'batch export --state': submissionStates,
}
const fileArguments = new Set(['file', 'from', 'to'])

/**
 * Returns what may follow `words`, which are the complete words after the program's name. `current` is the incomplete
 * word, and all candidates begin with it. `pages` are names of help pages.
 */
export function findWanted(
  commands: Readonly<Record<string, CompletedCommand>>,
  words: readonly string[],
  current: string,
  pages: readonly string[] = [],
): Wanted {
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
  const argumentValues = wantedIn(command, name, argumentWords, current)
  if (subcommands.kind !== 'candidates' || subcommands.candidates.length === 0) return argumentValues
  return argumentValues.kind === 'candidates'
    ? { kind: 'candidates', candidates: [...subcommands.candidates, ...argumentValues.candidates] }
    : argumentValues
}

/** Returns the value of `--profile` among the words. */
export function findProfile(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf('--profile')
  return at === -1 ? words.findLast((word) => word.startsWith('--profile='))?.slice(10) : words[at + 1]
}

/** Returns the longest command that the words begin with. */
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
  return { kind: 'candidates', candidates: [...summaryByWord].map(([value, about]) => ({ value, about })) }
}

type Flag = CompletedCommand['flags'][string]

function wantedIn(
  command: CompletedCommand,
  name: string,
  argumentWords: readonly string[],
  current: string,
): Wanted {
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
  const unused = flags.filter(
    (flag) =>
      flag.multiple === true || !argumentWords.some((word) => word.split('=')[0] === `--${flag.name}`),
  )
  const flagCandidates = unused
    .filter((flag) => `--${flag.name}`.startsWith(current))
    .map((flag) => ({ value: `--${flag.name}`, about: flag.summary ?? '' }))
  if (current.startsWith('-')) return { kind: 'candidates', candidates: flagCandidates }
  const argument = argumentAt(command, argumentWords, flagOf)
  if (argument === undefined) return { kind: 'candidates', candidates: flagCandidates }
  const [argName, { options }] = argument
  if (options !== undefined) return matchingOptions(options, '', current)
  const liveKind = liveNames[`${name} ${argName}`] ?? liveNames[argName]
  if (liveKind !== undefined && !isOtherId(name, argName))
    return { kind: 'live', source: liveKind, prefix: '' }
  return fileArguments.has(argName) ? { kind: 'files' } : noCandidates
}

/** An argument `id` is the id of an event only in the topic `webhook events`. */
const isOtherId = (name: string, argument: string): boolean =>
  argument === 'id' && !name.startsWith('webhook events')

/** Returns the argument that is typed next, by the number of arguments before it. */
function argumentAt(
  { args }: CompletedCommand,
  rest: readonly string[],
  flagOf: (word: string) => Flag | undefined,
): [string, CompletedCommand['args'][string]] | undefined {
  const givenCount = rest.filter(
    (word, at) => !word.startsWith('-') && flagOf(rest[at - 1] ?? '')?.type !== 'option',
  ).length
  const entries = Object.entries(args)
  const lastArgument = entries.at(-1)
  return entries[givenCount] ?? (lastArgument?.[1].multiple === true ? lastArgument : undefined)
}

function valueOf(flag: Flag, command: string, prefix: string, current: string): Wanted {
  if (flag.options !== undefined) return matchingOptions(flag.options, prefix, current)
  const flagValues = valuesOfFlags[`${command} --${flag.name}`]
  if (flagValues !== undefined) {
    // Each state of a list of states is completed separately.
    const finished = flag.name === 'state' ? current.slice(0, current.lastIndexOf(',') + 1) : ''
    return matchingOptions(flagValues, `${prefix}${finished}`, current.slice(finished.length))
  }
  const liveKind =
    liveNames[`${command} --${flag.name}`] ?? (flag.name === 'id' ? undefined : liveNames[flag.name])
  if (liveKind !== undefined) return { kind: 'live', source: liveKind, prefix }
  const [value = ''] = [flag.helpValue ?? ''].flat()
  if (/\bFILE\b/.test(value)) return { kind: 'files' }
  return /\bDIR\b/.test(value) ? { kind: 'folders' } : noCandidates
}

function matchingOptions(options: readonly string[], prefix: string, current: string): Candidates {
  const matching = options.filter((option) => option.startsWith(current))
  return {
    kind: 'candidates',
    candidates: matching.map((value) => ({ value: `${prefix}${value}`, about: '' })),
  }
}
