import { shellWord } from '../wording/pasted-command.ts'
import type { ColumnChoices } from './columns.ts'
import type { FileReading } from './new-row.ts'

/** What may be ordered although a similar person was; `shared`: e-mails and phones as they were typed. */
export interface AllowFlags {
  allowDuplicate: boolean
  allowSimilar: boolean
  shared: readonly string[]
  ignoreResults: boolean
}

interface FileCommand {
  file: string
  columns: Partial<ColumnChoices>
  /** Left out of a command that orders nothing. */
  allowed?: AllowFlags | undefined
  /** Words at the end of the line. */
  more?: readonly string[] | undefined
}

/** The command line that reads a file as it was read here, and allows what was allowed; it can be pasted. */
export function fileCommand(
  verb: 'validate' | 'plan' | 'run',
  { file, columns, allowed, more = [] }: FileCommand,
): string {
  const allowing = allowed === undefined ? [] : allowWords(allowed)
  return ['refcheck', 'batch', verb, shellWord(file), ...readingWords(columns), ...allowing, ...more].join(
    ' ',
  )
}

/** What to do where no file was named. */
export const noFileHint = [
  'Give a file, or - for stdin, for example: refcheck batch run people.csv --package 102',
  'Make a file to fill in with: refcheck schema template 102',
].join('\n')

/** The command that writes a file's invalid rows to another one; undefined for stdin, which is read once. */
export function errorsCommand(file: string, columns: ColumnChoices): string | undefined {
  if (file === '-') return undefined
  const ending = /\.(?:xlsx|ods)$/i.test(file) ? 'xlsx' : 'csv'
  return fileCommand('validate', { file, columns, more: ['--errors', `invalid.${ending}`] })
}

/** How a stored batch or plan was read, as flags. */
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

function readingWords(choices: Partial<ColumnChoices>): string[] {
  const { packageId, sheet, headerRow, encoding, hidden, defaultCountry, mapping } = choices
  const one = (flag: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${flag} ${shellWord(String(value))}`]
  return [
    ...one('package', packageId),
    ...one('sheet', sheet),
    ...one('header-row', headerRow),
    ...one('encoding', encoding),
    ...one('hidden', hidden),
    ...one('default-country', defaultCountry),
    ...one('mapping', mapping),
    ...(choices.acceptLines ?? []).flatMap((line) => one('accept-line', line)),
    ...(choices.map ?? []).flatMap((each) => one('map', each)),
    ...(choices.ignore ?? []).flatMap((each) => one('ignore', each)),
  ]
}

function allowWords({ allowDuplicate, allowSimilar, shared, ignoreResults }: AllowFlags): string[] {
  return [
    ...(allowDuplicate ? ['--allow-duplicate'] : []),
    ...(allowSimilar ? ['--allow-similar'] : []),
    ...(ignoreResults ? ['--ignore-results'] : []),
    ...shared.map((value) => `--shared ${shellWord(value)}`),
  ]
}
