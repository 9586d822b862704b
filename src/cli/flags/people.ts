import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { AllowFlags } from '../../domain/batch/file-command.ts'
import { Flags, type ValuesOf } from '../oclif.ts'
import { packageIdFlag } from './values.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { UsageError } from '../../errors/kinds.ts'

export const defaultCountryFlag = Flags.string({
  summary: 'Country of phone numbers without +, such as AU',
  helpValue: 'CC',
})

/**
 * Flags for reading the columns of a batch file. Every command that reads a batch file has the same flags.
 */
export const columnFlags = {
  package: packageIdFlag({
    summary: 'Package to order (default: column package_id, or the setting "package")',
  }),
  sheet: Flags.string({ summary: 'Name of the sheet to read in a workbook', helpValue: 'NAME' }),
  'header-row': Flags.integer({
    summary: 'Line of the header, as the spreadsheet program counts',
    helpValue: 'N',
    min: 1,
  }),
  encoding: Flags.string({
    summary: 'Encoding of bytes that are not UTF-8, such as windows-1250',
    helpValue: 'NAME',
  }),
  hidden: Flags.option({
    options: ['include', 'skip'] as const,
    summary: 'Include or skip hidden, filtered and struck-through rows',
    helpValue: 'include|skip',
  })(),
  'accept-line': Flags.integer({
    summary: 'This line is right although a name in it looks damaged; repeatable',
    helpValue: 'N',
    min: 1,
    multiple: true,
    multipleNonGreedy: true,
  }),
  map: Flags.string({
    summary: 'Map a column to a field; repeatable',
    helpValue: "'Given name=first_name'",
    multiple: true,
    multipleNonGreedy: true,
  }),
  ignore: Flags.string({
    summary: 'Ignore a column; repeatable',
    helpValue: 'COLUMN',
    multiple: true,
    multipleNonGreedy: true,
  }),
  mapping: Flags.string({ summary: 'Use a mapping saved with --save-mapping', helpValue: 'NAME' }),
  'save-mapping': Flags.string({
    summary: 'Save --map, --ignore and the other choices under this name',
    helpValue: 'NAME',
  }),
  'default-country': defaultCountryFlag,
}

export const showChangesFlag = Flags.boolean({ summary: 'Show every value changed before sending' })

/** Converts the values of `columnFlags`. */
export function columnChoices({
  package: packageId,
  'save-mapping': saveMapping,
  'default-country': defaultCountry,
  'header-row': headerRow,
  'accept-line': acceptLines,
  ...flags
}: ValuesOf<typeof columnFlags>): ColumnChoices {
  const { sheet, map, ignore, mapping, encoding, hidden } = flags
  return {
    packageId,
    sheet,
    map,
    ignore,
    mapping,
    saveMapping,
    defaultCountry,
    headerRow,
    encoding,
    hidden,
    acceptLines,
  }
}

/**
 * Flags that allow orders of people who were ordered before or are similar. Every command that orders from a
 * file has the same flags.
 */
export const allowFlags = {
  'allow-duplicate': Flags.boolean({
    summary: 'Order people again who were accepted more than 7 days ago',
  }),
  'allow-similar': Flags.boolean({ summary: 'Order rows of this file that are similar to one another' }),
  shared: Flags.string({
    summary: 'An e-mail or phone that many people of this file share; repeatable',
    helpValue: 'VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
  'ignore-results': Flags.boolean({ summary: 'Order rows even if a results file says they were ordered' }),
}

/** Converts the values of `allowFlags`. */
export function allowancesOf(flags: ValuesOf<typeof allowFlags>): AllowFlags {
  return {
    allowDuplicate: flags['allow-duplicate'],
    allowSimilar: flags['allow-similar'],
    shared: flags.shared ?? [],
    ignoreResults: flags['ignore-results'],
  }
}

/** Flags for the fields of one order. */
export const bodyFlagDefinitions = {
  'first-name': Flags.string({ summary: 'First name of the person to check', helpValue: 'NAME' }),
  'last-name': Flags.string({ summary: 'Last name', helpValue: 'NAME' }),
  email: Flags.string({ summary: 'E-mail address', helpValue: 'EMAIL' }),
  phone: Flags.string({ summary: 'Phone number, such as +61412345678', helpValue: 'PHONE' }),
  field: Flags.string({
    summary: 'What a check needs beyond the person; repeatable (see: refcheck help orders)',
    helpValue: 'CODE.NAME=VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
}

/** Converts the values of `bodyFlagDefinitions`. */
export function bodyFlagValues({
  'first-name': firstName,
  'last-name': lastName,
  email,
  phone,
  field: fields,
}: ValuesOf<typeof bodyFlagDefinitions>) {
  return { firstName, lastName, email, phone, fields }
}

/** Throws a UsageError if more than one of these is given: --file, --resume, and flags for single fields. */
export function requireOneSource(
  flags: Parameters<typeof bodyFlagValues>[0] &
    Parameters<typeof resumeLine>[0] & { file: string | undefined; resume: boolean },
): void {
  const refuse = (flag: string, other: string, hint: string): never => {
    throw new UsageError(`${flag} cannot be combined with ${other}`, { hint })
  }
  const { file, resume } = flags
  const hasFieldFlags = Object.values(bodyFlagValues(flags)).some((each) => each !== undefined)
  const fieldFlagsLabel = 'flags for single fields'
  if (file !== undefined && resume) refuse('--file', '--resume', 'Leave out one of them.')
  if (file !== undefined && hasFieldFlags)
    refuse('--file', fieldFlagsLabel, 'Put these values into the file, or leave out --file.')
  if (resume && hasFieldFlags)
    refuse('--resume', fieldFlagsLabel, `Change the answers at the review: ${resumeLine(flags)}`)
}

interface OrderFlags {
  profile: string | undefined
  'default-country': string | undefined
  'dry-run': boolean
  'allow-duplicate': boolean
  'allow-similar': boolean
  wait: boolean
  yes: boolean
}

/**
 * Returns the flags that affect how an order is made, without those for the person and the form, whose values are
 * stored.
 */
export function flagsAffectingOrder(flags: OrderFlags): string[] {
  const flagsWithValue = (['profile', 'default-country'] as const).flatMap((name) => {
    const value = flags[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const switches = (['dry-run', 'allow-duplicate', 'allow-similar', 'wait', 'yes'] as const).flatMap((name) =>
    flags[name] ? [`--${name}`] : [],
  )
  return [...flagsWithValue, ...switches]
}

/** Returns the command line that continues from stored answers, with all flags that affect the order. */
export function resumeLine(flags: OrderFlags): string {
  return ['refcheck', 'request', 'create', '--resume', ...flagsAffectingOrder(flags)].map(shellWord).join(' ')
}
