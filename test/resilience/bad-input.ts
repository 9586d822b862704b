import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { argumentKinds, fileKinds, flagKinds, type Kind, kinds, odd } from './bad-values.ts'

interface Value {
  name: string
  required?: boolean
  multiple?: boolean
  options?: string[]
  helpValue?: string
  type?: string
  dependsOn?: string[]
}

interface Described {
  args: Record<string, Value>
  flags: Record<string, Value>
  strict?: boolean
}

/** A command line with one thing that is wrong, or odd, in it. */
export interface BadLine {
  id: string
  /** What is wrong, for the report. */
  what: string
  argv: string[]
  /** The argument or flag that it is about. */
  about?: string
  /** What it was given. */
  value?: string
  /** Where text of any kind may stand it may be taken, and then does no harm. */
  mayPass: boolean
}

const root = join(import.meta.dirname, '..', '..')
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, Described>
}

/** Every command of our own. */
export const commandIds = Object.keys(commands).filter((id) => id !== 'help')

const person = [
  '--package=102',
  '--first-name=Ana',
  '--last-name=Lima',
  '--email=ana@example.com',
  '--phone=+61412345678',
]

/** What stands on a line besides what the command requires, so that it comes as far as what is wrong in it. */
const besides: Readonly<Record<string, (about: string | undefined) => readonly string[]>> = {
  'batch:plan': () => ['--package=102'],
  'batch:queue': (about) => (about === 'plan' ? [] : ['--package=102']),
  'batch:run': (about) => (about === 'plan' ? [] : ['--package=102']),
  'batch:validate': () => ['--package=102'],
  'batch:release': (about) => (['row', 'shared'].includes(about ?? '') ? [] : ['--all']),
  'config:set': (about) => (about === 'value' ? [] : ['reports']),
  'request:create': (about) => (['file', 'resume'].includes(about ?? '') ? [] : person),
  // The least that it can do.
  'sandbox:conformance': () => ['--only=ping'],
  'sandbox:inject': (about) =>
    about === 'on'
      ? ['--fault={"kind":"hang"}']
      : ['scenario', 'fault'].includes(about ?? '')
        ? []
        : ['--clear'],
  'sandbox:restore': (about) => (about === 'file' ? [] : ['no-snapshot.json']),
}

const isOption = ({ type }: Value): boolean => type === 'option'

function kindOf(id: string, flag: Value): Kind | undefined {
  if (flag.options !== undefined)
    return { right: flag.options[0] ?? '', wrong: [['no such choice', 'no-such-choice']] }
  // A receiver is tried with statuses that are none, and may have been sent one.
  if (id.startsWith('webhook:') && flag.name === 'status') return kinds['TEXT']
  return (
    flagKinds[flag.name] ?? (flag.helpValue === 'FILE' ? fileKinds[flag.name] : kinds[flag.helpValue ?? ''])
  )
}

function argumentKind(id: string, { name, options }: Value): Kind | undefined {
  if (options !== undefined) return { right: options[0] ?? '', wrong: [['no such choice', 'no-such-choice']] }
  return id === 'store:backup' ? fileKinds['output'] : argumentKinds[name]
}

/** Arguments and flags of all commands for which no bad value is listed. */
export const withoutKind: readonly string[] = commandIds.flatMap((id) => {
  const { args = {}, flags = {} } = commands[id] ?? {}
  return [
    ...Object.values(args).filter((each) => argumentKind(id, each) === undefined),
    ...Object.values(flags).filter((each) => isOption(each) && kindOf(id, each) === undefined),
  ].map(({ name }) => `${id} ${name}`)
})

/** Every line of a command with one thing wrong in it. */
export function badLines(id: string): BadLine[] {
  const { args = {}, flags = {}, strict = true } = commands[id] ?? {}
  const words = id.split(':')
  const positional = Object.values(args)
  const needed = Object.values(flags).filter(({ required }) => required)
  const flagOf = (name: string, value: string): string => `--${name}=${value}`
  const right = (flag: Value): string => flagOf(flag.name, kindOf(id, flag)?.right ?? 'x')
  /** A right line but for one argument, or what a flag of it has with it. */
  const line = (but: { argument?: string; value?: string; flag?: Value } = {}): string[] => {
    const about = but.flag?.name ?? but.argument
    const isSheet =
      positional.some(({ name }) => name === 'file') && id.startsWith('batch:') && about !== 'plan'
    return [
      ...words,
      ...positional
        .filter(({ name, required }) => required || name === but.argument || isSheet)
        .map((each) =>
          each.name === but.argument ? (but.value ?? '') : (argumentKind(id, each)?.right ?? 'x'),
        ),
      ...needed.filter(({ name }) => name !== about).map(right),
      ...(besides[id]?.(about) ?? []).filter((each) => !each.startsWith(`--${about ?? ' '}=`)),
      ...(but.flag?.dependsOn ?? []).flatMap((name) => {
        const other = flags[name]
        return other === undefined ? [] : [isOption(other) ? right(other) : `--${name}`]
      }),
    ]
  }
  const bad = (
    what: string,
    argv: string[],
    about?: string,
    { mayPass = false, value = '' } = {},
  ): BadLine => ({
    id,
    what,
    argv,
    mayPass,
    value,
    ...(about !== undefined && { about }),
  })
  const values = (kind: Kind): [what: string, value: string, mayPass: boolean][] => {
    const { wrong, takesText = false } = kind
    // A demonstration takes seconds in whatever folder, and an expression is compiled before a command starts.
    const isCostly = takesText && (id === 'sandbox:demo' || (kind === kinds['EXPR'] && id !== 'ping'))
    return [...wrong, ...(isCostly ? [] : odd)].map(([what, value]) => [what, value, takesText])
  }
  const ofArguments = positional.flatMap((each) => {
    const kind = argumentKind(id, each)
    return kind === undefined
      ? []
      : values(kind).map(([what, value, mayPass]) =>
          bad(what, line({ argument: each.name, value }), each.name.toUpperCase(), { mayPass, value }),
        )
  })
  const options = Object.values(flags).filter(isOption)
  const ofFlags = options.flatMap((flag) => {
    const kind = kindOf(id, flag)
    if (kind === undefined) return []
    const about = `--${flag.name}`
    const twice = bad('twice', line({ flag }).concat(right(flag), right(flag)), about)
    return values(kind)
      .map(([what, value, mayPass]) =>
        bad(what, line({ flag }).concat(flagOf(flag.name, value)), about, { mayPass, value }),
      )
      .concat(bad('no value', line({ flag }).concat(about), about), flag.multiple === true ? [] : twice)
  })
  const switches = Object.values(flags).filter((flag) => !isOption(flag))
  return [
    ...(strict
      ? [
          bad('an unknown flag', [...line(), '--no-such-flag'], '--no-such-flag'),
          bad('an unknown flag of 100 KB', [...line(), `--${'x'.repeat(100_000)}`]),
          bad('an unknown letter', [...line(), '-Z'], '-Z'),
          bad('a stray terminal code', [...line(), '--no-\u001B[2J']),
        ]
      : []),
    ...(strict && positional.every(({ multiple }) => multiple !== true)
      ? [bad('stray words', [...line(), ...positional.map(() => 'x'), 'stray', 'words'])]
      : []),
    ...positional
      .filter(({ required }) => required)
      .slice(0, 1)
      .map(({ name }) => bad('nothing', words, name.toUpperCase())),
    ...needed.map((flag) => bad('missing', line({ flag }), `--${flag.name}`)),
    ...switches.map(({ name }) => bad('a value for a switch', [...line(), `--${name}=maybe`], `--${name}`)),
    ...ofArguments,
    ...ofFlags,
  ]
}
