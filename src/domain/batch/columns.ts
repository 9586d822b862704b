import { createHash } from 'node:crypto'

import { foldedName } from '../submission/similarity.ts'
import { bareObject } from '../../contract/parse-json.ts'
import { recipientFields, type PackageSchema, type RecipientField } from '../../contract/package-schema.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import { formFields } from '../form/fields.ts'
import { positionOf, type SheetFormat } from '../sheet/cell.ts'
import { cutText, findNearestWord } from '../wording/text.ts'
import { shellWord } from '../wording/pasted-command.ts'

/** Whether rows that are hidden or struck through are ordered. */
export type HiddenRows = 'include' | 'skip'

/** The options by which the user states how the columns of a file are read. */
export interface ColumnChoices {
  /** The package of rows that name no package. */
  packageId: number | undefined
  /** The name of the sheet to read from a workbook. */
  sheet: string | undefined
  /** Entries of the form `header=column`. */
  map: readonly string[] | undefined
  /** Headers of columns that are not read. */
  ignore: readonly string[] | undefined
  /** The name of a saved mapping. */
  mapping: string | undefined
  /** The name under which the mapping of these options is to be saved. */
  saveMapping: string | undefined
  /** A country code of two letters, for phones without a calling code. */
  defaultCountry: string | undefined
  /** The line that names the columns, as a spreadsheet program counts. */
  headerRow: number | undefined
  /** The encoding of a file that is not UTF-8. */
  encoding: string | undefined
  /** How rows that are hidden or struck through are treated. */
  hidden: HiddenRows | undefined
  /** Lines whose names are correct although they look damaged. */
  acceptLines: readonly number[] | undefined
}

/** A header that no rule matches, and the column that it may mean. */
export interface UnknownColumn {
  header: string
  suggestion: string | undefined
  /** The field that this header and another one could both mean. Then neither has a suggestion. */
  contestedField?: string | undefined
}

export interface ColumnMatch {
  /** One target for each column of the file, in the order of the columns. */
  targets: Target[]
  /** The columns that no rule matches. */
  unknownColumns: UnknownColumn[]
}

/** Maps each column to a target by its exact name, or by the mapping of the user. It applies no suggestions. */
export function matchColumns(
  headers: readonly string[],
  schemas: readonly PackageSchema[],
  mapping: Mapping,
): ColumnMatch {
  const checkFields = knownFields(schemas)
  const names = columnNames(checkFields)
  const unknownColumns: UnknownColumn[] = []
  const targets = headers.map((header): Target => {
    const name = headerName(header)
    if (name === '' || mapping.ignore.some((each) => headerName(each) === name)) return unusedTarget
    const mappedName = Object.hasOwn(mapping.map, name) ? mapping.map[name] : undefined
    const target = targetOf(mappedName ?? name, checkFields)
    if (target !== undefined) return target
    if (mappedName === undefined && name.toLowerCase().startsWith(ownColumnPrefix)) return unusedTarget
    unknownColumns.push({ header: name, suggestion: suggestColumn(mappedName ?? name, names) })
    return unusedTarget
  })
  const usedNames = new Set(targets.map(targetName))
  const unknownBySuggestion = Map.groupBy(unknownColumns, ({ suggestion }) => suggestion)
  return {
    targets,
    unknownColumns: unknownColumns.map(({ header, suggestion }) => {
      if (suggestion === undefined || usedNames.has(suggestion)) return { header, suggestion: undefined }
      return unknownBySuggestion.get(suggestion)?.length === 1
        ? { header, suggestion }
        : { header, suggestion: undefined, contestedField: suggestion }
    }),
  }
}

/** The columns of an open table. */
interface OpenedColumns {
  /** The name of the file, for messages. */
  name: string
  /** The headers. */
  columns: readonly string[]
  /** The line of the headers, as a spreadsheet program counts. */
  headerLine: number
  /** Indexes of the hidden columns. */
  hiddenColumns: ReadonlySet<number>
  dialect: { format: SheetFormat }
}

/** Returns the targets of all columns. Throws InvalidInputError for an unknown, hidden, missing or repeated column. */
export function resolveColumns(
  sheet: OpenedColumns,
  { targets, unknownColumns }: ColumnMatch,
  schemas: readonly PackageSchema[],
  hidden: HiddenRows | undefined,
): Target[] {
  const { name, columns } = sheet
  if (unknownColumns.length > 0) throw unknownColumnsError(name, unknownColumns, targets)
  const firstColumnOf = new Map<string, number>()
  for (const [position, target] of targets.entries()) {
    if (target.kind === 'unused') continue
    const wholeFieldPosition =
      target.kind === 'field' && target.path.length > 0 ? firstColumnOf.get(target.column) : undefined
    const firstPosition = firstColumnOf.get(targetName(target)) ?? wholeFieldPosition
    if (firstPosition !== undefined) throw mappedTwiceError(sheet, firstPosition, position, target)
    firstColumnOf.set(targetName(target), position)
    if (sheet.hiddenColumns.has(position) && hidden !== 'include') {
      const header = headerName(columns[position] ?? '')
      throw new InvalidInputError(`${name}: the column "${header}" is hidden, and would be sent`, {
        hint: `Show it and look at it, or leave it out with --ignore ${shellWord(header)}, or send it as it is with --hidden include.`,
        field: header,
      })
    }
  }
  requireColumns(sheet, targets, schemas)
  return targets
}

function mappedTwiceError(
  { name, columns, dialect, headerLine }: OpenedColumns,
  first: number,
  second: number,
  { column }: Target,
): InvalidInputError {
  const [firstHeader = '', secondHeader = ''] = [first, second].map((index) =>
    headerName(columns[index] ?? ''),
  )
  if (firstHeader === secondHeader) {
    const positions = [first, second].map((index) => positionOf(dialect, headerLine, index)).join(' and ')
    return new InvalidInputError(`${name}: the column "${firstHeader}" is there twice: ${positions}`, {
      hint: 'Give each column a different name.',
      field: firstHeader,
    })
  }
  return new InvalidInputError(
    `${name}: the columns "${firstHeader}" and "${secondHeader}" both mean ${column}`,
    {
      hint: `Leave one out: --ignore ${shellWord(secondHeader)}`,
    },
  )
}

const nameColumns: ReadonlySet<string> = new Set(['first_name', 'last_name'])

/** The header of a column that contains first and last name. */
const fullNameHeader = /^(?:full |whole |complete )?name$/i

/** Returns the hint to split a column of full names. Only the user knows where a first name ends. */
function splitNameHint(headers: readonly string[]): string | undefined {
  const fullNameColumn = headers.find((header) => fullNameHeader.test(header))
  return fullNameColumn === undefined
    ? undefined
    : `Split the column "${fullNameColumn}" into two, first_name and last_name, and run it again.`
}

const exampleHeaders = { first_name: 'Given name', last_name: 'Family name', email: 'Mail', phone: 'Mobile' }

/** Returns an example of a value for --map: a header that is mapped to the missing column `column`. */
function exampleMapping(column = 'first_name'): string {
  const header = Object.hasOwn(exampleHeaders, column)
    ? exampleHeaders[column as keyof typeof exampleHeaders]
    : 'Your column'
  return shellWord(`${header}=${column}`)
}

/** Throws one error for the whole file if a column is missing that every row needs. */
function requireColumns(
  { name, columns: headers }: OpenedColumns,
  targets: readonly Target[],
  schemas: readonly PackageSchema[],
): void {
  const missing = missingColumns(targets, schemas)
  if (missing.length === 0) return
  const [noun, verb] = missing.length === 1 ? ['column', 'is'] : ['columns', 'are']
  const advice = missing.some((each) => nameColumns.has(each))
    ? splitNameHint(headers.map(headerName))
    : undefined
  throw new InvalidInputError(`${name}: the ${noun} ${missing.join(', ')} ${verb} missing`, {
    hint:
      advice ??
      `Add a column, or name an existing one, for example with: --map ${exampleMapping(missing[0])}`,
    field: missing[0],
  })
}

/** Returns the columns that every row needs and that no target maps. */
export function missingColumns(targets: readonly Target[], schemas: readonly PackageSchema[]): string[] {
  const mappedColumns = new Set(targets.map(({ column }) => column))
  const requiredBySchema = schemas.map((schema) =>
    formFields(schema).flatMap(({ required, column }) => (required ? [column] : [])),
  )
  const [requiredColumns = [...recipientFields]] = requiredBySchema
  return requiredColumns.filter(
    (column) => !mappedColumns.has(column) && requiredBySchema.every((each) => each.includes(column)),
  )
}

function unknownColumnsError(
  name: string,
  unknown: readonly UnknownColumn[],
  targets: readonly Target[],
): InvalidInputError {
  const isOne = unknown.length === 1
  const list = unknown.map(({ header }) => `"${header}"`).join(', ')
  const map = bareObject(
    unknown.flatMap(({ header, suggestion }) =>
      suggestion === undefined ? [] : [[header, suggestion] as const],
    ),
  )
  const ignore = unknown.flatMap(({ header, suggestion, contestedField }) =>
    suggestion === undefined && contestedField === undefined ? [header] : [],
  )
  const flags = mappingFlags({ map, ignore })
  const hasNameColumn = targets.some(({ column }) => nameColumns.has(column))
  const advice = hasNameColumn ? undefined : splitNameHint(ignore)
  const mappingHint =
    flags === '' ? [] : [`If this is what ${isOne ? 'it means' : 'they mean'}, add: ${flags}`]
  return new InvalidInputError(
    `${name}: ${isOne ? 'the column' : 'the columns'} ${list} ${isOne ? 'is' : 'are'} unknown`,
    {
      hint: [...contestedFieldHints(unknown), ...(advice === undefined ? mappingHint : [advice])].join(' '),
      field: unknown[0]?.header,
    },
  )
}

/**
 * Throws UsageError if a flag names a column that the file or the schemas do not have. Saved mappings are not checked,
 * because they apply to many files.
 */
export function requireKnownMapping(
  headers: readonly string[],
  schemas: readonly PackageSchema[],
  typedMapping: Mapping,
): void {
  const fileHeaders = headers.map(headerName)
  for (const header of typedMapping.ignore) {
    if (fileHeaders.includes(headerName(header))) continue
    throw new UsageError(`--ignore: the file has no column "${header.slice(0, 80)}"`, {
      hint: `Columns of the file: ${fileHeaders.filter((each) => each !== '').join(', ')}`,
    })
  }
  const fields = knownFields(schemas)
  for (const column of Object.values(typedMapping.map)) {
    if (targetOf(column, fields) !== undefined) continue
    const names = columnNames(fields)
    const nearestName = findNearestWord(column, names)
    throw new UsageError(`--map: unknown field "${column.slice(0, 80)}"`, {
      hint: nearestName === undefined ? `Fields: ${names.join(', ')}` : `Did you mean ${nearestName}?`,
    })
  }
}

/** Returns a hint for each field that several columns may mean: the user maps one of them and ignores the others. */
function contestedFieldHints(unknown: readonly UnknownColumn[]): string[] {
  const groups = Map.groupBy(unknown, ({ contestedField }) => contestedField)
  return [...groups].flatMap(([field, columns]) => {
    if (field === undefined) return []
    const [firstHeader = '', ...otherHeaders] = columns.map(({ header }) => header)
    const flags = mappingFlags({ map: { [firstHeader]: field }, ignore: otherHeaders })
    return [`Several columns may be ${field}; say which, as in ${flags}.`]
  })
}

/** The meaning of a column of a batch file (src/docs/cli.md, "Batch files"). */
export type Target =
  | { kind: 'recipient'; column: RecipientField }
  | { kind: 'package_id'; column: 'package_id' }
  /**
   * The field `name` of the check `code`. With a path, the part of that field at the path:
   * `ncc_acic.residential_address.street`.
   */
  | { kind: 'field'; column: string; code: string; name: string; path: readonly string[] }
  /** The column is ignored by name, was written by refcheck, or has no name. */
  | { kind: 'unused'; column: '' }

/** The start of the names of columns that refcheck adds to a file. They are never read. */
const ownColumnPrefix = 'refcheck_'

export const unusedTarget: Target = { kind: 'unused', column: '' }

interface KnownField {
  column: string
  code: string
  name: string
  type: string
}

/** Returns the fields of all checks of the packages. The longest name comes first, so that the longest match wins. */
export function knownFields(schemas: Iterable<PackageSchema>): KnownField[] {
  const fieldByColumn = new Map<string, KnownField>()
  for (const schema of schemas) {
    for (const { column, code, name, type } of formFields(schema)) {
      if (code !== undefined) fieldByColumn.set(column, { column, code, name, type })
    }
  }
  return [...fieldByColumn.values()].sort((a, b) => b.column.length - a.column.length)
}

/** Returns all names that a column may have, for suggestions. */
export function columnNames(fields: readonly KnownField[]): string[] {
  return [...recipientFields, ...fields.map(({ column }) => column), 'package_id']
}

/** Returns the target of a column name; undefined for an unknown name. */
export function targetOf(name: string, fields: readonly KnownField[]): Target | undefined {
  if (name === 'package_id') return { kind: 'package_id', column: 'package_id' }
  const shortName = name.startsWith('recipient.') ? name.slice('recipient.'.length) : name
  const recipient = recipientFields.find((field) => field === shortName)
  if (recipient !== undefined) return { kind: 'recipient', column: recipient }
  for (const field of fields) {
    const { column, code, name: fieldName, type } = field
    if (name === column) return { kind: 'field', column, code, name: fieldName, path: [] }
    if (!name.startsWith(`${column}.`) || !['array', 'object'].includes(type)) continue
    const path = name.slice(column.length + 1).split('.')
    if (path.length <= 8 && path.every((part) => part !== ''))
      return { kind: 'field', column, code, name: fieldName, path }
  }
  return undefined
}

/** Returns one name for each target, however the file spells it. */
export function targetName(target: Target): string {
  return target.kind === 'field' ? [target.column, ...target.path].join('.') : target.column
}

/**
 * Other names of the four recipient fields, as people and the systems that export files write them. Only letters and
 * digits are compared.
 */
const columnSynonyms: Readonly<Record<string, readonly string[]>> = {
  first_name: [
    'givenname',
    'givennames',
    'forename',
    'firstname',
    'first',
    'given',
    'prename',
    'vorname',
    'prenom',
    'candidatefirstname',
    'legalfirstname',
  ],
  last_name: [
    'surname',
    'familyname',
    'lastname',
    'last',
    'family',
    'nachname',
    'nom',
    'candidatelastname',
    'legallastname',
  ],
  email: [
    'email',
    'emailaddress',
    'mail',
    'mailaddress',
    'personalemail',
    'workemail',
    'candidateemail',
    'primaryemail',
  ],
  phone: [
    'phone',
    'phonenumber',
    'mobile',
    'mobilenumber',
    'mobilephone',
    'cell',
    'cellphone',
    'telephone',
    'tel',
    'telefon',
    'handy',
    'contactnumber',
    'primaryphone',
    'candidatephone',
  ],
  package_id: ['package', 'packageid', 'packageno', 'packagenumber'],
}

/**
 * Suggests the column that a header probably means: the same letters, a synonym, a field without the code of its
 * check, or a typing error. A suggestion is applied only if the user confirms it.
 */
export function suggestColumn(header: string, names: readonly string[]): string | undefined {
  const letters = foldHeader(header)
  if (letters === '') return undefined
  const sameLetters = names.find((name) => foldHeader(name) === letters)
  if (sameLetters !== undefined) return sameLetters
  const synonym = names.find(
    (name) => columnSynonyms[name]?.some((each) => headerForms(letters).includes(each)) === true,
  )
  if (synonym !== undefined) return synonym
  const fieldsOfSameName = names.filter((name) => foldHeader(name.slice(name.indexOf('.') + 1)) === letters)
  if (fieldsOfSameName.length === 1) return fieldsOfSameName[0]
  return findNearestWord(header.trim(), names)
}

/**
 * Returns the spellings of a header that are compared: each with and without a word for the person at the start, and
 * with and without a plural ending.
 */
function headerForms(letters: string): string[] {
  const withoutPerson = letters.replace(
    /^(?:candidate|person|people|applicant|employee|recipient|contact|worker)s?(?=.)/,
    '',
  )
  return [letters, withoutPerson].flatMap((each) => [each, each.replace(/s$/, ''), each.replace(/es$/, '')])
}

/** Keeps only letters and digits, without accents. */
const foldHeader = (text: string): string => foldedName(text.slice(0, 100))

/** The mapping of the user: header → column, and headers of columns that are not read. */
export interface Mapping {
  map: Readonly<Record<string, string>>
  ignore: readonly string[]
}

export const noMapping: Mapping = { map: {}, ignore: [] }

/**
 * Reads `--map 'Given name=first_name'`. A header may contain `=`, so the flag is split where the left side is a
 * header of the file.
 */
export function readMapFlags(flags: readonly string[], headers: readonly string[]): Record<string, string> {
  const map = bareObject<string>()
  const fileHeaders = new Set(headers.map(headerName))
  for (const flag of flags) {
    const [header, column] = splitMapFlag(flag, fileHeaders)
    if (map[header] !== undefined) {
      throw new UsageError(`--map: the column "${header}" is mapped twice`, { hint: 'Map it once.' })
    }
    map[header] = column
  }
  return map
}

function splitMapFlag(flag: string, fileHeaders: ReadonlySet<string>): [header: string, column: string] {
  for (let index = flag.indexOf('='); index !== -1; index = flag.indexOf('=', index + 1)) {
    const header = headerName(flag.slice(0, index))
    if (fileHeaders.has(header)) return [header, flag.slice(index + 1).trim()]
  }
  const lastEquals = flag.lastIndexOf('=')
  if (lastEquals < 1) {
    throw new UsageError(`--map: "${flag.slice(0, 80)}" has no =`, {
      hint: "Give the column and the field: --map 'Given name=first_name'",
    })
  }
  throw new UsageError(`--map: the file has no column "${flag.slice(0, lastEquals).trim().slice(0, 80)}"`, {
    hint: `Columns of the file: ${[...fileHeaders].filter((header) => header !== '').join(', ')}`,
  })
}

/** Merges two mappings. The flags (`current`) override the saved mapping (`stored`). */
export function mergeMappings(stored: Mapping, current: Mapping): Mapping {
  const ignore = [...stored.ignore.filter((header) => current.map[header] === undefined), ...current.ignore]
  const map = { ...stored.map, ...current.map }
  const remaining = Object.entries(map).filter(([header]) => !current.ignore.includes(header))
  return {
    map: bareObject(remaining),
    ignore: [...new Set(ignore)],
  }
}

/** Returns the flags that are equivalent to a mapping. */
export function mappingFlags({ map, ignore }: Mapping): string {
  return [
    ...Object.entries(map).map(([header, column]) => `--map ${shellWord(`${header}=${column}`)}`),
    ...ignore.map((header) => `--ignore ${shellWord(header)}`),
  ].join(' ')
}

/**
 * Returns the name under which answers about a header are saved. The answers apply to files with the same
 * columns and the same fields.
 */
export function headerMappingName(headers: readonly string[], schemas: readonly PackageSchema[]): string {
  const text = JSON.stringify([headers.map(headerName).sort(), columnNames(knownFields(schemas)).sort()])
  return `columns-${createHash('sha256').update(text).digest('hex').slice(0, 10)}`
}

/** Returns the name of a field in messages: `first name`, `ncc_acic.date_of_birth`. */
export function fieldText(column: string): string {
  return [...recipientFields, 'package_id'].includes(column) ? column.replace('_', ' ') : column
}

/** A column as it would be read. `field` is undefined if the column is left out. */
interface ProposedColumn {
  header: string
  field: string | undefined
  /** The first value of the column. */
  example: string
}

/** Maximum numbers of characters of a header, of a field and of a line in `proposedColumnLines`. */
const maxHeaderLength = 26
const maxFieldLength = 30
const lineWidth = 78

/**
 * Describes how the columns would be read. Lines have at most 78 characters, except those of columns that are left out
 * or keep their names.
 */
export function proposedColumnLines(columns: readonly ProposedColumn[]): string[] {
  const mapped = columns.filter(({ header, field }) => field !== undefined && field !== header)
  const namedColumns = columns.filter(({ header, field }) => field === header)
  const leftOut = columns.filter(({ field }) => field === undefined)
  const cells = mapped.map(({ header, field = '', example }) => ({
    header: cutText(header, maxHeaderLength),
    field: cutText(fieldText(field), maxFieldLength),
    example,
  }))
  const headerList = (columnsToList: readonly ProposedColumn[]): string =>
    columnsToList.map(({ header }) => header).join(', ')
  const leftOutHeaders = headerList(leftOut)
  const alignedHeaders = [
    ...cells.map(({ header }) => header),
    ...(leftOutHeaders.length <= maxHeaderLength ? [leftOutHeaders] : []),
  ]
  const headerWidth = Math.max(...alignedHeaders.map(({ length }) => length), 0)
  const fieldWidth = Math.max(0, ...cells.map(({ field }) => field.length))
  const exampleWidth = lineWidth - headerWidth - fieldWidth - 9
  return [
    ...cells.map(({ header, field, example }) =>
      `  ${header.padEnd(headerWidth)}  → ${field.padEnd(fieldWidth)}  ${cutText(example, exampleWidth)}`.trimEnd(),
    ),
    ...(namedColumns.length === 0 ? [] : [`  By their own names: ${headerList(namedColumns)}`]),
    ...(leftOut.length === 0 ? [] : [`  ${leftOutHeaders.padEnd(headerWidth)}  → left out`]),
  ]
}

/** Describes a mapping that the user confirmed for an earlier file and that is saved as `name`, and how to change it. */
export function confirmedMappingText({ map, ignore }: Mapping, name: string): string {
  const columns = Object.entries(map).map(([header, field]) => `${header} → ${fieldText(field)}`)
  const leftOut = ignore.length === 0 ? [] : [`${ignore.join(', ')} → left out`]
  const [header = ignore[0] ?? ''] = Object.keys(map)
  const changeFlags = `--map ${shellWord(`${header}=FIELD`)} --save-mapping ${name}`
  return `Columns as agreed before: ${[...columns, ...leftOut].join('; ')}\nTo change this, add: ${changeFlags}\nFIELD: first_name, last_name, email, phone, or of: refcheck schema show PACKAGE`
}

/** Returns a header for messages: each run of white space becomes one space. */
export function headerName(header: string): string {
  return header.trim().replaceAll(/\s+/g, ' ')
}

/**
 * The options for reading a kind of file, other than the mapping of its columns. They are saved with the mapping. Lines
 * that were accepted are not among them, because their numbers are those of a single file.
 */
export interface StoredReading {
  sheet?: string | undefined
  header_row?: number | undefined
  encoding?: string | undefined
  hidden?: HiddenRows | undefined
  default_country?: string | undefined
}

export interface StoredMapping extends Mapping {
  reading?: StoredReading | undefined
}

/** Parses a saved reading; undefined if it is not an object. */
export function parseStoredReading(value: unknown): StoredReading | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { sheet, header_row, encoding, hidden, default_country } = value as Record<string, unknown>
  const reading: StoredReading = {}
  if (typeof sheet === 'string') reading.sheet = sheet
  if (typeof header_row === 'number' && Number.isInteger(header_row) && header_row > 0)
    reading.header_row = header_row
  if (typeof encoding === 'string') reading.encoding = encoding
  if (hidden === 'include' || hidden === 'skip') reading.hidden = hidden
  if (typeof default_country === 'string') reading.default_country = default_country
  return reading
}
