import { shellWord } from '../wording/pasted-command.ts'
import type { ColumnChoices } from './columns.ts'
import type { FileReading } from './new-row.ts'

/** The flags that allow orders despite conflicts. `shared` are e-mails and phones as the user typed them. */
export interface AllowFlags {
  allowDuplicate: boolean
  allowSimilar: boolean
  shared: readonly string[]
  ignoreResults: boolean
}

interface FileCommand {
  file: string
  columns: Partial<ColumnChoices>
  /** Undefined for a command that orders nothing. */
  allowed?: AllowFlags | undefined
  /** Words at the end of the command line. */
  trailingWords?: readonly string[] | undefined
}

/** Returns a command line for the shell that reads a file with the same options, and allows the same conflicts. */
export function fileCommand(
  verb: 'validate' | 'plan' | 'run',
  { file, columns, allowed, trailingWords = [] }: FileCommand,
): string {
  const allowFlags = allowed === undefined ? [] : flagsOfAllowed(allowed)
  return [
    'refcheck',
    'batch',
    verb,
    shellWord(file),
    ...readingFlags(columns),
    ...allowFlags,
    ...trailingWords,
  ].join(' ')
}

/** The hint for a file that is run with --again although all of its people were ordered before. */
export const orderAgainHint =
  'To order these people once more, add --allow-duplicate. Who was ordered less than 7 days ago is then held for a decision.'

/** The hint for a command line without a file. */
export const noFileHint = [
  'Give a file, or - for stdin, for example: refcheck batch run people.csv --package 102',
  'Make a file to fill in with: refcheck schema template 102',
].join('\n')

/**
 * Returns the command that writes the invalid rows of a file to another file; undefined for stdin, which can be read
 * only once.
 */
export function errorsCommand(file: string, columns: ColumnChoices): string | undefined {
  if (file === '-') return undefined
  const ending = /\.(?:xlsx|ods)$/i.test(file) ? 'xlsx' : 'csv'
  return fileCommand('validate', { file, columns, trailingWords: ['--errors', `invalid.${ending}`] })
}

/** Returns the options with which a stored batch or plan was read. */
export function choicesOf(reading: FileReading, packageId: number | null | undefined): ColumnChoices {
  const { sheet, map, ignore, default_country, header_row, encoding, hidden, accept_lines } = reading
  return {
    packageId: packageId ?? undefined,
    sheet: sheet ?? undefined,
    headerRow: header_row ?? undefined,
    encoding: encoding ?? undefined,
    hidden: hidden ?? undefined,
    acceptLines: accept_lines,
    map: Object.entries(map).map((pair) => pair.join('=')),
    ignore: [...ignore],
    mapping: undefined,
    saveMapping: undefined,
    defaultCountry: default_country ?? undefined,
  }
}

function readingFlags(choices: Partial<ColumnChoices>): string[] {
  const { packageId, sheet, headerRow, encoding, hidden, defaultCountry, mapping } = choices
  const flagWords = (flag: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${flag} ${shellWord(String(value))}`]
  return [
    ...flagWords('package', packageId),
    ...flagWords('sheet', sheet),
    ...flagWords('header-row', headerRow),
    ...flagWords('encoding', encoding),
    ...flagWords('hidden', hidden),
    ...flagWords('default-country', defaultCountry),
    ...flagWords('mapping', mapping),
    ...(choices.acceptLines ?? []).flatMap((line) => flagWords('accept-line', line)),
    ...(choices.map ?? []).flatMap((each) => flagWords('map', each)),
    ...(choices.ignore ?? []).flatMap((each) => flagWords('ignore', each)),
  ]
}

function flagsOfAllowed({ allowDuplicate, allowSimilar, shared, ignoreResults }: AllowFlags): string[] {
  return [
    ...(allowDuplicate ? ['--allow-duplicate'] : []),
    ...(allowSimilar ? ['--allow-similar'] : []),
    ...(ignoreResults ? ['--ignore-results'] : []),
    ...shared.map((value) => `--shared ${shellWord(value)}`),
  ]
}
