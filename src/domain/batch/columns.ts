import { recipientFields } from '../../contract/package-schema.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import { nearest } from '../form/nearest.ts'
import { formFields } from '../form/fields.ts'
import { placeOf, type SheetFormat } from '../sheet/cell.ts'
import type { HiddenRows } from './doubts.ts'
import { headerName, type Mapping, mappingFlags } from './mapping.ts'
import { shellWord } from '../wording/shell-word.ts'
import { suggestColumn } from './suggest.ts'
import { columnNames, knownFields, ownPrefix, type Target, targetName, targetOf, unused } from './targets.ts'

/** How a person said that the columns of a file are to be read. */
export interface ColumnChoices {
  /** The package of rows that name none. */
  packageId: number | undefined
  /** A sheet of a workbook, by name. */
  sheet: string | undefined
  /** `header=column`. */
  map: readonly string[] | undefined
  /** Headers to leave out. */
  ignore: readonly string[] | undefined
  /** The name of a kept mapping. */
  mapping: string | undefined
  /** The name to keep this one under. */
  saveMapping: string | undefined
  /** Two letters, for phones without a country code. */
  defaultCountry: string | undefined
  /** The line that names the columns, as a spreadsheet program counts. */
  headerRow: number | undefined
  /** Of bytes that are no UTF-8. */
  encoding: string | undefined
  /** What becomes of rows that are not shown. */
  hidden: HiddenRows | undefined
  /** Lines whose names are right though they look damaged. */
  acceptLines: readonly number[] | undefined
}

/** A header that no rule explains, and what it may have been meant to be. */
export interface UnknownColumn {
  header: string
  suggestion: string | undefined
  /** What it and another column could both mean; neither is proposed then. */
  rival?: string | undefined
}

export interface ColumnMatch {
  /** One for each column of the file. */
  targets: Target[]
  unknown: UnknownColumn[]
}

/** Which column says what: by exact name, or as the person said. Nothing is guessed. */
export function matchColumns(
  headers: readonly string[],
  schemas: readonly PackageSchema[],
  mapping: Mapping,
): ColumnMatch {
  const fields = knownFields(schemas)
  const names = columnNames(fields)
  const unknown: UnknownColumn[] = []
  const targets = headers.map((header): Target => {
    const name = headerName(header)
    if (name === '' || mapping.ignore.some((each) => headerName(each) === name)) return unused
    const mapped = Object.hasOwn(mapping.map, name) ? mapping.map[name] : undefined
    const target = targetOf(mapped ?? name, fields)
    if (target !== undefined) return target
    if (mapped === undefined && name.startsWith(ownPrefix)) return unused
    unknown.push({ header: name, suggestion: suggestColumn(mapped ?? name, names) })
    return unused
  })
  const taken = new Set(targets.map(targetName))
  const wanted = Map.groupBy(unknown, ({ suggestion }) => suggestion)
  return {
    targets,
    unknown: unknown.map(({ header, suggestion }) => {
      if (suggestion === undefined || taken.has(suggestion)) return { header, suggestion: undefined }
      return wanted.get(suggestion)?.length === 1
        ? { header, suggestion }
        : { header, suggestion: undefined, rival: suggestion }
    }),
  }
}

/** What a table says of its columns. */
export interface OpenedColumns {
  name: string
  columns: readonly string[]
  headerLine: number
  hiddenColumns: ReadonlySet<number>
  dialect: { format: SheetFormat }
}

/** The columns as they will be read, or an InvalidInputError that says what stands in the way. */
export function settledColumns(
  sheet: OpenedColumns,
  { targets, unknown }: ColumnMatch,
  schemas: readonly PackageSchema[],
  hidden: HiddenRows | undefined,
): Target[] {
  const { name, columns } = sheet
  if (unknown.length > 0) throw unknownColumns(name, unknown)
  const first = new Map<string, number>()
  for (const [at, target] of targets.entries()) {
    if (target.kind === 'unused') continue
    const whole = target.kind === 'field' && target.path.length > 0 ? first.get(target.column) : undefined
    const other = first.get(targetName(target)) ?? whole
    if (other !== undefined) throw saidTwice(sheet, other, at, target)
    first.set(targetName(target), at)
    if (sheet.hiddenColumns.has(at) && hidden !== 'include') {
      const header = headerName(columns[at] ?? '')
      throw new InvalidInputError(`${name}: the column "${header}" is hidden, and would be sent`, {
        hint: `Show it and look at it, or leave it out with --ignore ${shellWord(header)}, or send it as it is with --hidden include.`,
        field: header,
      })
    }
  }
  requireColumns(name, targets, schemas)
  return targets
}

function saidTwice(
  { name, columns, dialect, headerLine }: OpenedColumns,
  first: number,
  again: number,
  { column }: Target,
): InvalidInputError {
  const [one = '', two = ''] = [first, again].map((at) => headerName(columns[at] ?? ''))
  if (one === two) {
    const places = [first, again].map((at) => placeOf(dialect, headerLine, at)).join(' and ')
    return new InvalidInputError(`${name}: the column "${one}" is there twice: ${places}`, {
      hint: 'Give each column a different name.',
      field: one,
    })
  }
  return new InvalidInputError(`${name}: the columns "${one}" and "${two}" both mean ${column}`, {
    hint: `Leave one out: --ignore ${shellWord(two)}`,
  })
}

/** A file without a column that every row needs is refused once, not once a row. */
function requireColumns(name: string, targets: readonly Target[], schemas: readonly PackageSchema[]): void {
  const there = new Set(targets.map(({ column }) => column))
  const always = schemas.map((schema) =>
    formFields(schema).flatMap(({ required, column }) => (required ? [column] : [])),
  )
  const [needed = [...recipientFields]] = always
  const missing = needed.filter(
    (column) => !there.has(column) && always.every((each) => each.includes(column)),
  )
  if (missing.length === 0) return
  const what = missing.length === 1 ? 'column' : 'columns'
  throw new InvalidInputError(
    `${name}: the ${what} ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    {
      hint: "Add a column, or name an existing one, for example with: --map 'Given name=first_name'",
      field: missing[0],
    },
  )
}

function unknownColumns(name: string, unknown: readonly UnknownColumn[]): InvalidInputError {
  const list = unknown.map(({ header }) => `"${header}"`).join(', ')
  const map = unknown.flatMap(({ header, suggestion }) =>
    suggestion === undefined ? [] : [[header, suggestion]],
  )
  const ignore = unknown.flatMap(({ header, suggestion, rival }) =>
    suggestion === undefined && rival === undefined ? [header] : [],
  )
  const flags = mappingFlags({ map: Object.fromEntries(map) as Record<string, string>, ignore })
  return new InvalidInputError(
    `${name}: ${unknown.length === 1 ? 'the column' : 'the columns'} ${list} ${unknown.length === 1 ? 'is' : 'are'} unknown`,
    {
      hint: [
        ...rivals(unknown),
        ...(flags === ''
          ? []
          : [`If this is what ${unknown.length === 1 ? 'it means' : 'they mean'}, add: ${flags}`]),
      ].join(' '),
      field: unknown[0]?.header,
    },
  )
}

/** Flags that name what is not there are slips; a mapping kept for many files may well. */
export function checkFlags(
  headers: readonly string[],
  schemas: readonly PackageSchema[],
  said: Mapping,
): void {
  const known = headers.map(headerName)
  for (const header of said.ignore) {
    if (known.includes(headerName(header))) continue
    throw new UsageError(`--ignore: the file has no column "${header.slice(0, 80)}"`, {
      hint: `Columns of the file: ${known.filter((each) => each !== '').join(', ')}`,
    })
  }
  const fields = knownFields(schemas)
  for (const column of Object.values(said.map)) {
    if (targetOf(column, fields) !== undefined) continue
    const names = columnNames(fields)
    const meant = nearest(column, names)
    throw new UsageError(`--map: unknown field "${column.slice(0, 80)}"`, {
      hint: meant === undefined ? `Fields: ${names.join(', ')}` : `Did you mean ${meant}?`,
    })
  }
}

/** Which columns could be the same field: a person says which, and leaves the others out. */
function rivals(unknown: readonly UnknownColumn[]): string[] {
  const groups = Map.groupBy(unknown, ({ rival }) => rival)
  return [...groups].flatMap(([field, columns]) => {
    if (field === undefined) return []
    const [one = '', ...others] = columns.map(({ header }) => header)
    const flags = mappingFlags({ map: { [one]: field }, ignore: others })
    return [`Several columns may be ${field}; say which, as in ${flags}.`]
  })
}
