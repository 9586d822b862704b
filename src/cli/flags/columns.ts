import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { HiddenRows } from '../../domain/batch/columns.ts'
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
