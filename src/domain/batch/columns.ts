import { createHash } from 'node:crypto'

import { foldedName } from '../submission/similarity.ts'
import { bareObject } from '../../contract/parse-json.ts'
import { recipientFields, type PackageSchema, type RecipientField } from '../../contract/package-schema.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import { nearest } from '../form/problem.ts'
import { formFields } from '../form/fields.ts'
import { positionOf, type SheetFormat } from '../sheet/cell.ts'
import { cutText } from '../wording/text.ts'
import { shellWord } from '../wording/pasted-command.ts'

/** Whether rows that are not shown, or struck through, are ordered. */
export type HiddenRows = 'include' | 'skip'

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
  /** The name of a saved mapping. */
  mapping: string | undefined
  /** The name to save this one under. */
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
interface OpenedColumns {
  name: string
  columns: readonly string[]
  headerLine: number
  hiddenColumns: ReadonlySet<number>
  dialect: { format: SheetFormat }
}

/** The columns as they will be read, or an InvalidInputError with what prevents it. */
export function resolveColumns(
  sheet: OpenedColumns,
  { targets, unknown }: ColumnMatch,
  schemas: readonly PackageSchema[],
  hidden: HiddenRows | undefined,
): Target[] {
  const { name, columns } = sheet
  if (unknown.length > 0) throw unknownColumns(name, unknown, targets)
  const first = new Map<string, number>()
  for (const [at, target] of targets.entries()) {
    if (target.kind === 'unused') continue
    const whole = target.kind === 'field' && target.path.length > 0 ? first.get(target.column) : undefined
    const other = first.get(targetName(target)) ?? whole
    if (other !== undefined) throw chosenTwice(sheet, other, at, target)
    first.set(targetName(target), at)
    if (sheet.hiddenColumns.has(at) && hidden !== 'include') {
      const header = headerName(columns[at] ?? '')
      throw new InvalidInputError(`${name}: the column "${header}" is hidden, and would be sent`, {
        hint: `Show it and look at it, or leave it out with --ignore ${shellWord(header)}, or send it as it is with --hidden include.`,
        field: header,
      })
    }
  }
  requireColumns(sheet, targets, schemas)
  return targets
}

function chosenTwice(
  { name, columns, dialect, headerLine }: OpenedColumns,
  first: number,
  again: number,
  { column }: Target,
): InvalidInputError {
  const [one = '', two = ''] = [first, again].map((at) => headerName(columns[at] ?? ''))
  if (one === two) {
    const positions = [first, again].map((at) => positionOf(dialect, headerLine, at)).join(' and ')
    return new InvalidInputError(`${name}: the column "${one}" is there twice: ${positions}`, {
      hint: 'Give each column a different name.',
      field: one,
    })
  }
  return new InvalidInputError(`${name}: the columns "${one}" and "${two}" both mean ${column}`, {
    hint: `Leave one out: --ignore ${shellWord(two)}`,
  })
}

const nameColumns: ReadonlySet<string> = new Set(['first_name', 'last_name'])

/** A column of the first and the last name in one. */
const wholeName = /^(?:full |whole |complete )?name$/i

/** Only a person knows where a first name ends. */
function splitText(headers: readonly string[]): string | undefined {
  const whole = headers.find((header) => wholeName.test(header))
  return whole === undefined
    ? undefined
    : `Split the column "${whole}" into two, first_name and last_name, and run it again.`
}

/** A file without a column that every row needs is refused once, not once a row. */
function requireColumns(
  { name, columns: headers }: OpenedColumns,
  targets: readonly Target[],
  schemas: readonly PackageSchema[],
): void {
  const missing = missingColumns(targets, schemas)
  if (missing.length === 0) return
  const [what, are] = missing.length === 1 ? ['column', 'is'] : ['columns', 'are']
  const advice = missing.some((each) => nameColumns.has(each))
    ? splitText(headers.map(headerName))
    : undefined
  throw new InvalidInputError(`${name}: the ${what} ${missing.join(', ')} ${are} missing`, {
    hint: advice ?? "Add a column, or name an existing one, for example with: --map 'Given name=first_name'",
    field: missing[0],
  })
}

/** Columns that every row needs and no target is. */
export function missingColumns(targets: readonly Target[], schemas: readonly PackageSchema[]): string[] {
  const there = new Set(targets.map(({ column }) => column))
  const always = schemas.map((schema) =>
    formFields(schema).flatMap(({ required, column }) => (required ? [column] : [])),
  )
  const [needed = [...recipientFields]] = always
  return needed.filter((column) => !there.has(column) && always.every((each) => each.includes(column)))
}

function unknownColumns(
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
  const ignore = unknown.flatMap(({ header, suggestion, rival }) =>
    suggestion === undefined && rival === undefined ? [header] : [],
  )
  const flags = mappingFlags({ map, ignore })
  const isNamed = targets.some(({ column }) => nameColumns.has(column))
  const advice = isNamed ? undefined : splitText(ignore)
  const meant = flags === '' ? [] : [`If this is what ${isOne ? 'it means' : 'they mean'}, add: ${flags}`]
  return new InvalidInputError(
    `${name}: ${isOne ? 'the column' : 'the columns'} ${list} ${isOne ? 'is' : 'are'} unknown`,
    {
      hint: [...rivals(unknown), ...(advice === undefined ? meant : [advice])].join(' '),
      field: unknown[0]?.header,
    },
  )
}

/** Flags that name what is not there are mistakes; a mapping saved for many files may name it. */
export function checkFlags(
  headers: readonly string[],
  schemas: readonly PackageSchema[],
  chosen: Mapping,
): void {
  const known = headers.map(headerName)
  for (const header of chosen.ignore) {
    if (known.includes(headerName(header))) continue
    throw new UsageError(`--ignore: the file has no column "${header.slice(0, 80)}"`, {
      hint: `Columns of the file: ${known.filter((each) => each !== '').join(', ')}`,
    })
  }
  const fields = knownFields(schemas)
  for (const column of Object.values(chosen.map)) {
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

/** What a column of a batch file says (src/docs/cli.md, "Batch files"). */
export type Target =
  | { kind: 'recipient'; column: RecipientField }
  | { kind: 'package_id'; column: 'package_id' }
  /** A field of a check, or with a path a part of one: `ncc_acic.residential_address.street`. */
  | { kind: 'field'; column: string; code: string; name: string; path: readonly string[] }
  /** Ignored by name, written by us, or nameless. */
  | { kind: 'unused'; column: '' }

/** Columns that we add to a person's file begin so, and are never read. */
const ownPrefix = 'refcheck_'

export const unused: Target = { kind: 'unused', column: '' }

interface KnownField {
  column: string
  code: string
  name: string
  type: string
}

/** The fields of checks of all packages in use, the longest name first, so that the longest one wins. */
export function knownFields(schemas: Iterable<PackageSchema>): KnownField[] {
  const known = new Map<string, KnownField>()
  for (const schema of schemas) {
    for (const { column, code, name, type } of formFields(schema)) {
      if (code !== undefined) known.set(column, { column, code, name, type })
    }
  }
  return [...known.values()].sort((a, b) => b.column.length - a.column.length)
}

/** Every name a column may have, for suggestions. */
export function columnNames(fields: readonly KnownField[]): string[] {
  return [...recipientFields, ...fields.map(({ column }) => column), 'package_id']
}

/** What a name says; undefined for one that is no column's. */
export function targetOf(name: string, fields: readonly KnownField[]): Target | undefined {
  if (name === 'package_id') return { kind: 'package_id', column: 'package_id' }
  const short = name.startsWith('recipient.') ? name.slice('recipient.'.length) : name
  const recipient = recipientFields.find((field) => field === short)
  if (recipient !== undefined) return { kind: 'recipient', column: recipient }
  for (const field of fields) {
    const { column, code, name: own, type } = field
    if (name === column) return { kind: 'field', column, code, name: own, path: [] }
    if (!name.startsWith(`${column}.`) || !['array', 'object'].includes(type)) continue
    const path = name.slice(column.length + 1).split('.')
    if (path.length <= 8 && path.every((part) => part !== ''))
      return { kind: 'field', column, code, name: own, path }
  }
  return undefined
}

/** One name for one target, whichever way a file writes it. */
export function targetName(target: Target): string {
  return target.kind === 'field' ? [target.column, ...target.path].join('.') : target.column
}

/** What people, and the systems they export from, call the recipient's four fields. Letters and digits only. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
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
 * The column that a header probably means: the same letters, another word for it, the same field without its
 * code, or a slip of the finger. Never applied unless the person says so.
 */
export function suggestColumn(header: string, names: readonly string[]): string | undefined {
  const letters = foldHeader(header)
  if (letters === '') return undefined
  const same = names.find((name) => foldHeader(name) === letters)
  if (same !== undefined) return same
  const other = names.find((name) => otherNames[name]?.some((each) => forms(letters).includes(each)) === true)
  if (other !== undefined) return other
  const ends = names.filter((name) => foldHeader(name.slice(name.indexOf('.') + 1)) === letters)
  if (ends.length === 1) return ends[0]
  return nearest(header.trim(), names)
}

/** A header without its plural and without whose it is: "Candidate Email(s)", "Person : Email". */
function forms(letters: string): string[] {
  const own = letters.replace(
    /^(?:candidate|person|people|applicant|employee|recipient|contact|worker)s?(?=.)/,
    '',
  )
  return [letters, own].flatMap((each) => [each, each.replace(/s$/, ''), each.replace(/es$/, '')])
}

/** Letters and digits alone, accents folded. */
const foldHeader = (text: string): string => foldedName(text.slice(0, 100))

/** What a person said about the columns of a file: header → column, and headers to leave out. */
export interface Mapping {
  map: Readonly<Record<string, string>>
  ignore: readonly string[]
}

export const noMapping: Mapping = { map: {}, ignore: [] }

/**
 * Reads `--map 'Given name=first_name'`. A header may hold `=` itself, so the split is taken whose left side
 * the file has; without one, the last.
 */
export function readMapFlags(flags: readonly string[], headers: readonly string[]): Record<string, string> {
  const map = bareObject<string>()
  const known = new Set(headers.map(headerName))
  for (const flag of flags) {
    const [header, column] = split(flag, known)
    if (map[header] !== undefined) {
      throw new UsageError(`--map: the column "${header}" is mapped twice`, { hint: 'Map it once.' })
    }
    map[header] = column
  }
  return map
}

function split(flag: string, known: ReadonlySet<string>): [header: string, column: string] {
  for (let at = flag.indexOf('='); at !== -1; at = flag.indexOf('=', at + 1)) {
    const header = headerName(flag.slice(0, at))
    if (known.has(header)) return [header, flag.slice(at + 1).trim()]
  }
  const last = flag.lastIndexOf('=')
  if (last < 1) {
    throw new UsageError(`--map: "${flag.slice(0, 80)}" has no =`, {
      hint: "Give the column and the field: --map 'Given name=first_name'",
    })
  }
  throw new UsageError(`--map: the file has no column "${flag.slice(0, last).trim().slice(0, 80)}"`, {
    hint: `Columns of the file: ${[...known].filter((header) => header !== '').join(', ')}`,
  })
}

/** Flags override the saved mapping. */
export function mergeMappings(stored: Mapping, now: Mapping): Mapping {
  const ignore = [...stored.ignore.filter((header) => now.map[header] === undefined), ...now.ignore]
  const map = { ...stored.map, ...now.map }
  const left = Object.entries(map).filter(([header]) => !now.ignore.includes(header))
  return {
    map: bareObject(left),
    ignore: [...new Set(ignore)],
  }
}

/** The flags that say the same on a command line. */
export function mappingFlags({ map, ignore }: Mapping): string {
  return [
    ...Object.entries(map).map(([header, column]) => `--map ${shellWord(`${header}=${column}`)}`),
    ...ignore.map((header) => `--ignore ${shellWord(header)}`),
  ].join(' ')
}

/** The name under which answers about a header are saved: they apply to the same columns and the same fields. */
export function headerMappingName(headers: readonly string[], schemas: readonly PackageSchema[]): string {
  const text = JSON.stringify([headers.map(headerName).sort(), columnNames(knownFields(schemas)).sort()])
  return `columns-${createHash('sha256').update(text).digest('hex').slice(0, 10)}`
}

/** A field as a person says it: `first name`, `ncc_acic.date_of_birth`. */
export function fieldName(column: string): string {
  return [...recipientFields, 'package_id'].includes(column) ? column.replace('_', ' ') : column
}

/** A column of a file that is about to be read: `field` is undefined where it is left out. */
interface ProposedColumn {
  header: string
  field: string | undefined
  /** Its first value. */
  example: string
}

const maxHeader = 26
const maxField = 30
const lineWidth = 78

/** How the columns of a file are about to be read, in lines of at most 78 characters, but for what is left out. */
export function proposedColumnLines(columns: readonly ProposedColumn[]): string[] {
  const mapped = columns.filter(({ header, field }) => field !== undefined && field !== header)
  const byName = columns.filter(({ header, field }) => field === header)
  const left = columns.filter(({ field }) => field === undefined)
  const cells = mapped.map(({ header, field = '', example }) => ({
    header: cutText(header, maxHeader),
    field: cutText(fieldName(field), maxField),
    example,
  }))
  const headerWidth = Math.max(0, ...cells.map(({ header }) => header.length))
  const fieldWidth = Math.max(0, ...cells.map(({ field }) => field.length))
  const room = lineWidth - headerWidth - fieldWidth - 9
  const list = (some: readonly ProposedColumn[]): string => some.map(({ header }) => header).join(', ')
  return [
    ...cells.map(({ header, field, example }) =>
      `  ${header.padEnd(headerWidth)}  → ${field.padEnd(fieldWidth)}  ${cutText(example, room)}`.trimEnd(),
    ),
    ...(byName.length === 0 ? [] : [`  By their own names: ${list(byName)}`]),
    ...(left.length === 0 ? [] : [`  ${list(left)} → left out`]),
  ]
}

/** What is said where a file is read as was agreed before, and how that is changed. */
export function agreedText({ map, ignore }: Mapping, name: string): string {
  const columns = Object.entries(map).map(([header, field]) => `${header} → ${fieldName(field)}`)
  const left = ignore.length === 0 ? [] : [`${ignore.join(', ')} → left out`]
  const [header = ignore[0] ?? ''] = Object.keys(map)
  const change = `--map ${shellWord(`${header}=FIELD`)} --save-mapping ${name}`
  return `Columns as agreed before: ${[...columns, ...left].join('; ')}\nTo change this, add: ${change}`
}

/** A header as it is spoken of: line breaks and other white space within it are one space. */
export function headerName(header: string): string {
  return header.trim().replaceAll(/\s+/g, ' ')
}

/** How a kind of file is read besides its columns, as a saved mapping keeps it. Lines are of one file alone. */
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

/** A saved reading out of JSON; undefined for anything else. */
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
