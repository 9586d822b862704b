import type { ColumnChoices, HiddenRows } from '../../domain/batch/columns.ts'
import type { Allowed } from '../../domain/batch/file-command.ts'
import { Flags } from '../oclif.ts'
import { packageIdFlag } from './identifiers.ts'

export const defaultCountryFlag = Flags.string({
  summary: 'Country of phone numbers without +, such as AU',
  helpValue: 'CC',
})

/** How the columns of a batch file are read; the same for every command that takes one. */
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

/** What the flags say, as the rules of columns take it. */
export function columnChoices(flags: {
  package: number | undefined
  sheet: string | undefined
  'header-row': number | undefined
  encoding: string | undefined
  hidden: HiddenRows | undefined
  'accept-line': number[] | undefined
  map: string[] | undefined
  ignore: string[] | undefined
  mapping: string | undefined
  'save-mapping': string | undefined
  'default-country': string | undefined
}): ColumnChoices {
  const { package: packageId, sheet, map, ignore, mapping, encoding, hidden } = flags
  return {
    packageId,
    sheet,
    map,
    ignore,
    mapping,
    saveMapping: flags['save-mapping'],
    defaultCountry: flags['default-country'],
    headerRow: flags['header-row'],
    encoding,
    hidden,
    acceptLines: flags['accept-line'],
  }
}

/** What may be ordered although a similar person was; the same for every command that takes a file. */
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

/** The same as a use case takes it. */
export function allowancesOf(flags: {
  'allow-duplicate': boolean
  'allow-similar': boolean
  shared: string[] | undefined
  'ignore-results': boolean
}): Allowed {
  return {
    allowDuplicate: flags['allow-duplicate'],
    allowSimilar: flags['allow-similar'],
    shared: flags.shared ?? [],
    ignoreResults: flags['ignore-results'],
  }
}
