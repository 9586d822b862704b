import { requestStatuses } from '../../contract/statuses.ts'
import { submissionStates } from '../submission/states.ts'

/** What completion needs of a command's description. */
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
  /** What it is, where the shell shows that. */
  about: string
}

/** What only this machine knows. */
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

/** What may stand where the cursor is. */
type Wanted =
  | Candidates
  | { kind: 'files' | 'folders' }
  /** `prefix` precedes each value: `--package=`. */
  | { kind: 'live'; of: LiveKind; prefix: string }

const nothing: Candidates = { kind: 'candidates', candidates: [] }

/** Arguments and flags by their names; a flag that takes a file says so by itself. */
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
/** Values of flags that take a list of them, or more than them. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  'request list --status': [...requestStatuses, 'unknown'],
  'webhook send --status': requestStatuses,
  'sandbox logs --status': requestStatuses,
  'batch rows --state': submissionStates,
  'batch export --state': submissionStates,
}
const fileNames = new Set(['file', 'from', 'to'])

/**
 * What may follow `words`, the finished words after the program's name, where `current` was started. Candidates are
 * those that begin with it. `pages`: names of help pages.
 */
export function wantedAt(
  commands: Readonly<Record<string, CompletedCommand>>,
  words: readonly string[],
  current: string,
  pages: readonly string[] = [],
): Wanted {
  const isHelp = words[0] === 'help'
  const typed = isHelp ? words.slice(1) : words
  if (isHelp && typed.length === 0) {
    const { candidates } = nextWords(commands, typed, current)
    const others = pages.filter((page) => candidates.every(({ value }) => value !== page))
    return { kind: 'candidates', candidates: [...candidates, ...among(others, '', current).candidates] }
  }
  const id = commandIn(commands, typed)
  if (isHelp || id === undefined) return nextWords(commands, typed, current)
  const command = commands[id]
  if (command === undefined) return nothing
  const name = id.replaceAll(':', ' ')
  const rest = typed.slice(name.split(' ').length)
  const deeper = rest.length === 0 ? nextWords(commands, typed, current) : nothing
  const own = within(command, name, rest, current)
  if (deeper.kind !== 'candidates' || deeper.candidates.length === 0) return own
  return own.kind === 'candidates'
    ? { kind: 'candidates', candidates: [...deeper.candidates, ...own.candidates] }
    : own
}

/** The value of `--profile` among the words. */
export function profileIn(words: readonly string[]): string | undefined {
  const at = words.lastIndexOf('--profile')
  return at === -1 ? words.findLast((word) => word.startsWith('--profile='))?.slice(10) : words[at + 1]
}

/** The longest command that the words begin with. */
function commandIn(commands: Readonly<Record<string, CompletedCommand>>, words: readonly string[]) {
  return [3, 2, 1]
    .filter((length) => length <= words.length)
    .map((length) => words.slice(0, length).join(':'))
    .find((id) => Object.hasOwn(commands, id))
}

/** Topics and commands below what was typed. */
function nextWords(
  commands: Readonly<Record<string, CompletedCommand>>,
  words: readonly string[],
  current: string,
): Candidates {
  const above = words.map((word) => `${word}:`).join('')
  const found = new Map<string, string>()
  for (const [id, { summary = '', hidden }] of Object.entries(commands)) {
    if (hidden === true || !id.startsWith(above)) continue
    const [word = '', ...below] = id.slice(above.length).split(':')
    if (word.startsWith(current) && (below.length === 0 || !found.has(word))) {
      found.set(word, below.length === 0 ? summary : '')
    }
  }
  return { kind: 'candidates', candidates: [...found].map(([value, about]) => ({ value, about })) }
}

type Flag = CompletedCommand['flags'][string]

function within(command: CompletedCommand, name: string, rest: readonly string[], current: string): Wanted {
  const flags = Object.values(command.flags)
  const flagOf = (word: string): Flag | undefined => flags.find((each) => word === `--${each.name}`)
  const before = rest.at(-1)
  const open = before === undefined ? undefined : flagOf(before)
  if (open?.type === 'option') return valueOf(open, name, '', current)
  const [, flagName = '', text = ''] = /^(--[a-z][a-z-]*)=(.*)$/s.exec(current) ?? []
  if (flagName !== '') {
    const flag = flagOf(flagName)
    return flag?.type === 'option' ? valueOf(flag, name, `${flagName}=`, text) : nothing
  }
  const unused = flags.filter(
    (flag) => flag.multiple === true || !rest.some((word) => word.split('=')[0] === `--${flag.name}`),
  )
  const offered = unused
    .filter((flag) => `--${flag.name}`.startsWith(current))
    .map((flag) => ({ value: `--${flag.name}`, about: flag.summary ?? '' }))
  if (current.startsWith('-')) return { kind: 'candidates', candidates: offered }
  const argument = argumentAt(command, rest, flagOf)
  if (argument === undefined) return { kind: 'candidates', candidates: offered }
  const [argName, { options }] = argument
  if (options !== undefined) return among(options, '', current)
  const live = liveNames[`${name} ${argName}`] ?? liveNames[argName]
  if (live !== undefined && !isOther(name, argName)) return { kind: 'live', of: live, prefix: '' }
  return fileNames.has(argName) ? { kind: 'files' } : nothing
}

/** `id` is an event's in one topic alone. */
const isOther = (name: string, argument: string): boolean =>
  argument === 'id' && !name.startsWith('webhook events')

/** The argument that is typed next, by how many were typed before. */
function argumentAt(
  { args }: CompletedCommand,
  rest: readonly string[],
  flagOf: (word: string) => Flag | undefined,
): [string, CompletedCommand['args'][string]] | undefined {
  const given = rest.filter(
    (word, at) => !word.startsWith('-') && flagOf(rest[at - 1] ?? '')?.type !== 'option',
  ).length
  const entries = Object.entries(args)
  const last = entries.at(-1)
  return entries[given] ?? (last?.[1].multiple === true ? last : undefined)
}

function valueOf(flag: Flag, command: string, prefix: string, current: string): Wanted {
  if (flag.options !== undefined) return among(flag.options, prefix, current)
  const known = knownValues[`${command} --${flag.name}`]
  if (known !== undefined) {
    // A list of states is completed state by state.
    const finished = flag.name === 'state' ? current.slice(0, current.lastIndexOf(',') + 1) : ''
    return among(known, `${prefix}${finished}`, current.slice(finished.length))
  }
  const live =
    liveNames[`${command} --${flag.name}`] ?? (flag.name === 'id' ? undefined : liveNames[flag.name])
  if (live !== undefined) return { kind: 'live', of: live, prefix }
  const [value = ''] = [flag.helpValue ?? ''].flat()
  if (/\bFILE\b/.test(value)) return { kind: 'files' }
  return /\bDIR\b/.test(value) ? { kind: 'folders' } : nothing
}

function among(options: readonly string[], prefix: string, current: string): Candidates {
  const fitting = options.filter((option) => option.startsWith(current))
  return {
    kind: 'candidates',
    candidates: fitting.map((value) => ({ value: `${prefix}${value}`, about: '' })),
  }
}
