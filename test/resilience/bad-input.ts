import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { argumentKinds, fileKinds, flagKinds, type Kind, kinds, odd } from './bad-values.ts'

interface Parameter {
  name: string
  required?: boolean
  multiple?: boolean
  options?: string[]
  helpValue?: string
  type?: string
  dependsOn?: string[]
}

interface CommandManifest {
  args: Record<string, Parameter>
  flags: Record<string, Parameter>
  strict?: boolean
}

/** A command line with one invalid or unusual part. */
export interface BadLine {
  id: string
  /** Describes the invalid part, for the report. */
  what: string
  argv: string[]
  /** The argument or flag that is invalid. */
  about?: string
  /** The value of that argument or flag. */
  value?: string
  /** Whether the command may accept the line, because the argument or flag accepts any text. */
  mayPass: boolean
}

const root = join(import.meta.dirname, '..', '..')
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, CommandManifest>
}

/** The ids of all commands except oclif's `help`. */
export const commandIds = Object.keys(commands).filter((id) => id !== 'help')

const person = [
  '--package=102',
  '--first-name=Ana',
  '--last-name=Lima',
  '--email=ana@example.com',
  '--phone=+61412345678',
]

/** Parts that a line needs in addition to the required ones, so that the command reaches the check of the invalid part. */
const additionalParts: Readonly<Record<string, (about: string | undefined) => readonly string[]>> = {
  'batch:plan': () => ['--package=102'],
  'batch:queue': (about) => (about === 'plan' ? [] : ['--package=102']),
  'batch:run': (about) => (about === 'plan' ? [] : ['--package=102']),
  'batch:validate': () => ['--package=102'],
  'batch:release': (about) => (['row', 'shared'].includes(about ?? '') ? [] : ['--all']),
  'config:set': (about) => (about === 'value' ? [] : ['reports']),
  'request:create': (about) => (['file', 'resume'].includes(about ?? '') ? [] : person),
  // The smallest topic of the suite.
  'sandbox:conformance': () => ['--only=ping'],
  'sandbox:inject': (about) =>
    about === 'on'
      ? ['--fault={"kind":"hang"}']
      : ['scenario', 'fault'].includes(about ?? '')
        ? []
        : ['--clear'],
  'sandbox:restore': (about) => (about === 'file' ? [] : ['no-snapshot.json']),
}

const isOption = ({ type }: Parameter): boolean => type === 'option'

function kindOf(id: string, flag: Parameter): Kind | undefined {
  if (flag.options !== undefined)
    return { right: flag.options[0] ?? '', wrong: [['no such choice', 'no-such-choice']] }
  // These commands accept any text as a status, because a receiver has to be tested with invalid ones.
  if (id.startsWith('webhook:') && flag.name === 'status') return kinds['TEXT']
  return (
    flagKinds[flag.name] ?? (flag.helpValue === 'FILE' ? fileKinds[flag.name] : kinds[flag.helpValue ?? ''])
  )
}

function argumentKind(id: string, { name, options }: Parameter): Kind | undefined {
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

/** Returns all bad lines of a command, each with one invalid part. */
export function badLines(id: string): BadLine[] {
  const { args = {}, flags = {}, strict = true } = commands[id] ?? {}
  const words = id.split(':')
  const positional = Object.values(args)
  const needed = Object.values(flags).filter(({ required }) => required)
  const flagOf = (name: string, value: string): string => `--${name}=${value}`
  const right = (flag: Parameter): string => flagOf(flag.name, kindOf(id, flag)?.right ?? 'x')
  /** Returns a valid line, with another value of one argument, or with the flags on which one flag depends. */
  const line = (but: { argument?: string; value?: string; flag?: Parameter } = {}): string[] => {
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
      ...(additionalParts[id]?.(about) ?? []).filter((each) => !each.startsWith(`--${about ?? ' '}=`)),
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
    // A demonstration takes seconds, and the program compiles an expression before any command, so one command suffices.
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
