import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { argumentKinds, fileKinds, flagKinds, type ValueKind, kinds, unusualValues } from './bad-values.ts'

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
  invalidPart?: string
  /** The value of that argument or flag. */
  value?: string
  /** Whether the command may accept the line, because the argument or flag accepts any text. */
  canBeAccepted: boolean
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
const additionalParts: Readonly<Record<string, (invalidPart: string | undefined) => readonly string[]>> = {
  'batch:plan': () => ['--package=102'],
  'batch:queue': (invalidPart) => (invalidPart === 'plan' ? [] : ['--package=102']),
  'batch:run': (invalidPart) => (invalidPart === 'plan' ? [] : ['--package=102']),
  'batch:validate': () => ['--package=102'],
  'batch:release': (invalidPart) => (['row', 'shared'].includes(invalidPart ?? '') ? [] : ['--all']),
  'config:set': (invalidPart) => (invalidPart === 'value' ? [] : ['reports']),
  'request:create': (invalidPart) => (['file', 'resume'].includes(invalidPart ?? '') ? [] : person),
  // The topic with the fewest conformance tests.
  'sandbox:conformance': () => ['--only=ping'],
  'sandbox:inject': (invalidPart) =>
    invalidPart === 'on'
      ? ['--fault={"kind":"hang"}']
      : ['scenario', 'fault'].includes(invalidPart ?? '')
        ? []
        : ['--clear'],
  'sandbox:restore': (invalidPart) => (invalidPart === 'file' ? [] : ['no-snapshot.json']),
}

const isOption = ({ type }: Parameter): boolean => type === 'option'

function findFlagKind(id: string, flag: Parameter): ValueKind | undefined {
  if (flag.options !== undefined)
    return { validValue: flag.options[0] ?? '', invalidValues: [['no such choice', 'no-such-choice']] }
  // These commands accept any text as a status, because a receiver has to be tested with invalid ones.
  if (id.startsWith('webhook:') && flag.name === 'status') return kinds['TEXT']
  return (
    flagKinds[flag.name] ?? (flag.helpValue === 'FILE' ? fileKinds[flag.name] : kinds[flag.helpValue ?? ''])
  )
}

function findArgumentKind(id: string, { name, options }: Parameter): ValueKind | undefined {
  if (options !== undefined)
    return { validValue: options[0] ?? '', invalidValues: [['no such choice', 'no-such-choice']] }
  return id === 'store:backup' ? fileKinds['output'] : argumentKinds[name]
}

/** Arguments and flags of all commands for which no bad value is listed. */
export const parametersWithoutKind: readonly string[] = commandIds.flatMap((id) => {
  const { args = {}, flags = {} } = commands[id] ?? {}
  return [
    ...Object.values(args).filter((each) => findArgumentKind(id, each) === undefined),
    ...Object.values(flags).filter((each) => isOption(each) && findFlagKind(id, each) === undefined),
  ].map(({ name }) => `${id} ${name}`)
})

/** Returns all bad lines of a command, each with one invalid part. */
export function badLines(id: string): BadLine[] {
  const { args = {}, flags = {}, strict = true } = commands[id] ?? {}
  const words = id.split(':')
  const positional = Object.values(args)
  const requiredFlags = Object.values(flags).filter(({ required }) => required)
  const formatFlag = (name: string, value: string): string => `--${name}=${value}`
  const formatValidFlag = (flag: Parameter): string =>
    formatFlag(flag.name, findFlagKind(id, flag)?.validValue ?? 'x')
  /** Returns a valid line, with another value of one argument, or with the flags on which one flag depends. */
  const createLine = (changes: { argument?: string; value?: string; flag?: Parameter } = {}): string[] => {
    const invalidPart = changes.flag?.name ?? changes.argument
    const isSheet =
      positional.some(({ name }) => name === 'file') && id.startsWith('batch:') && invalidPart !== 'plan'
    return [
      ...words,
      ...positional
        .filter(({ name, required }) => required || name === changes.argument || isSheet)
        .map((each) =>
          each.name === changes.argument
            ? (changes.value ?? '')
            : (findArgumentKind(id, each)?.validValue ?? 'x'),
        ),
      ...requiredFlags.filter(({ name }) => name !== invalidPart).map(formatValidFlag),
      ...(additionalParts[id]?.(invalidPart) ?? []).filter(
        (each) => !each.startsWith(`--${invalidPart ?? ' '}=`),
      ),
      ...(changes.flag?.dependsOn ?? []).flatMap((name) => {
        const other = flags[name]
        return other === undefined ? [] : [isOption(other) ? formatValidFlag(other) : `--${name}`]
      }),
    ]
  }
  const createBadLine = (
    what: string,
    argv: string[],
    invalidPart?: string,
    { canBeAccepted = false, value = '' } = {},
  ): BadLine => ({
    id,
    what,
    argv,
    canBeAccepted,
    value,
    ...(invalidPart !== undefined && { invalidPart }),
  })
  const listValues = (kind: ValueKind): [what: string, value: string, canBeAccepted: boolean][] => {
    const { invalidValues, acceptsAnyText = false } = kind
    // A demonstration takes seconds, and the program compiles an expression before any command, so one command suffices.
    const isCostly = acceptsAnyText && (id === 'sandbox:demo' || (kind === kinds['EXPR'] && id !== 'ping'))
    return [...invalidValues, ...(isCostly ? [] : unusualValues)].map(([what, value]) => [
      what,
      value,
      acceptsAnyText,
    ])
  }
  const linesForArguments = positional.flatMap((each) => {
    const kind = findArgumentKind(id, each)
    return kind === undefined
      ? []
      : listValues(kind).map(([what, value, canBeAccepted]) =>
          createBadLine(what, createLine({ argument: each.name, value }), each.name.toUpperCase(), {
            canBeAccepted,
            value,
          }),
        )
  })
  const options = Object.values(flags).filter(isOption)
  const linesForFlags = options.flatMap((flag) => {
    const kind = findFlagKind(id, flag)
    if (kind === undefined) return []
    const invalidPart = `--${flag.name}`
    const repeatedFlagLine = createBadLine(
      'twice',
      createLine({ flag }).concat(formatValidFlag(flag), formatValidFlag(flag)),
      invalidPart,
    )
    return listValues(kind)
      .map(([what, value, canBeAccepted]) =>
        createBadLine(what, createLine({ flag }).concat(formatFlag(flag.name, value)), invalidPart, {
          canBeAccepted,
          value,
        }),
      )
      .concat(
        createBadLine('no value', createLine({ flag }).concat(invalidPart), invalidPart),
        flag.multiple === true ? [] : repeatedFlagLine,
      )
  })
  const switches = Object.values(flags).filter((flag) => !isOption(flag))
  return [
    ...(strict
      ? [
          createBadLine('an unknown flag', [...createLine(), '--no-such-flag'], '--no-such-flag'),
          createBadLine('an unknown flag of 100 KB', [...createLine(), `--${'x'.repeat(100_000)}`]),
          createBadLine('an unknown letter', [...createLine(), '-Z'], '-Z'),
          createBadLine('a stray terminal code', [...createLine(), '--no-\u001B[2J']),
        ]
      : []),
    ...(strict && positional.every(({ multiple }) => multiple !== true)
      ? [createBadLine('stray words', [...createLine(), ...positional.map(() => 'x'), 'stray', 'words'])]
      : []),
    ...positional
      .filter(({ required }) => required)
      .slice(0, 1)
      .map(({ name }) => createBadLine('nothing', words, name.toUpperCase())),
    ...requiredFlags.map((flag) => createBadLine('missing', createLine({ flag }), `--${flag.name}`)),
    ...switches.map(({ name }) =>
      createBadLine('a value for a switch', [...createLine(), `--${name}=maybe`], `--${name}`),
    ),
    ...linesForArguments,
    ...linesForFlags,
  ]
}
