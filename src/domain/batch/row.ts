import { z } from 'zod'

import type {
  CheckInformation,
  FieldDefinition,
  PackageSchema,
  RecipientField,
} from '../../contract/package-schema.ts'
import {
  emailAddress,
  type FieldValue,
  phoneNumber,
  type Recipient,
  type RequestBody,
} from '../../contract/request.ts'
import { bareObject } from '../../contract/parse-json.ts'
import type { Cell, SheetRow } from '../sheet/cell.ts'
import { isLongName, longNameProblem } from '../form/recipient.ts'
import type { Problem } from '../form/problem.ts'
import { type DraftBody, validateBody } from '../form/validate.ts'
import { type ValueReading, checkFieldValue } from '../form/field-value.ts'
import {
  cellText,
  cellValue,
  isEmpty,
  isoSuggestion,
  packageIdOf,
  type TextReading,
  textOfCell,
} from './cell-value.ts'
import { findDamage, findNameDamage } from '../sheet/loss.ts'
import { headerName, type Target } from './columns.ts'
import { type PhoneRepair, repairPhone } from '../form/recipient.ts'
import { dateExists, dateRule, looksLikeIsoDate } from '../../contract/date-format.ts'

export interface RowRules {
  /** The headers of the file's columns. */
  headers: readonly string[]
  /** The meaning of each column. */
  targets: readonly Target[]
  /** The schemas of all packages that the file may order. */
  schemas: ReadonlyMap<number, PackageSchema>
  /** The package of rows that name no package. */
  packageId: number | undefined
  /** Completes phones without + with the calling code of a country. */
  repair: PhoneRepair | undefined
  /** Lines whose names are correct although they look damaged. */
  acceptedLines: ReadonlySet<number>
}

/** The data that is the same for all rows of a file. */
interface FileRules extends RowRules {
  columnsToRead: readonly Column[]
  /** The column of the package id; -1 if there is none. */
  packageColumn: number
  packages: ReadonlyMap<number, PackageRules>
}

/** The data that is the same for all rows of a package. */
interface PackageRules {
  schema: PackageSchema
  /** See `compileQuickCheck`. */
  quickCheck: ReturnType<typeof compileQuickCheck>
  /** The field of each column; undefined if the package has no such field. */
  definitions: readonly (FieldDefinition | undefined)[]
  /** For each column, whether it contains names of people. */
  isPersonNameColumn: readonly boolean[]
  /** Creates the empty fields of one check. */
  createFields: () => ByFieldName<FieldValue>
}

/** Returns a function that reads the rows of a file. */
export function createRowReader(rules: RowRules): (source: SheetRow) => RowReading {
  const file: FileRules = {
    ...rules,
    columnsToRead: readingOrder(rules.targets),
    packageColumn: rules.targets.findIndex(({ kind }) => kind === 'package_id'),
    packages: new Map(
      [...rules.schemas].map(([id, schema]) => [id, createPackageRules(schema, rules.targets)]),
    ),
  }
  return (source) => new RowReader(file, source).read()
}

function createPackageRules(schema: PackageSchema, targets: readonly Target[]): PackageRules {
  const definitions = targets.map((target) =>
    target.kind === 'field' ? definitionOf(target, schema) : undefined,
  )
  const isPersonNameColumn = targets.map(
    (target) => target.kind === 'field' && personNameField.test(target.name),
  )
  // An object with a prototype is several times faster. It is used unless a field has the name of a property of the
  // prototype, such as `__proto__`.
  const canUsePlainObject = targets.every(
    (target) => target.kind !== 'field' || !(target.name in Object.prototype),
  )
  const createFields = canUsePlainObject ? () => ({}) : () => bareObject<FieldValue>()
  return { schema, quickCheck: compileQuickCheck(schema), definitions, isPersonNameColumn, createFields }
}

type ByFieldName<T> = Record<string, T>

/** Fields of checks that contain names of people: `previous_names`, `mothers_name`. */
const personNameField = /(?:^|_)names?(?:_|$)/i

const emptyRecipient: Recipient = { first_name: '', last_name: '', email: '', phone: '' }

class RowReader {
  readonly #file: FileRules
  readonly #source: SheetRow
  readonly #changes: RowChange[] = []
  readonly #problems: RowProblem[] = []
  /** Columns that have a problem. Further problems of the same column are not reported. */
  #columnsWithProblem: Set<string> | undefined
  readonly #recipient: Partial<Recipient> = {}
  readonly #entries: { code: string; fields: ByFieldName<FieldValue> }[] = []

  constructor(file: FileRules, source: SheetRow) {
    this.#file = file
    this.#source = source
  }

  read(): RowReading {
    const { row, cells } = this.#source
    const packageRules = this.#findPackage()
    for (const { position, target } of this.#file.columnsToRead) {
      const cell = cells[position] ?? ''
      if (isEmpty(cell)) continue
      if (typeof cell !== 'string' && cell.kind === 'escaped')
        this.#addChange(position, cell.written, cell.text)
      if (target.kind === 'recipient') this.#readRecipient(target.column, cell, position)
      else if (target.kind === 'field' && packageRules !== undefined)
        this.#readField(target, cell, position, packageRules)
    }
    const body = packageRules === undefined ? undefined : this.#checkBody(packageRules)
    const person = body?.recipient ?? { ...emptyRecipient, ...this.#recipient }
    if (this.#problems.length > 0) {
      const name = `${person.first_name.trim()} ${person.last_name.trim()}`.trim()
      for (const problem of this.#problems) problem.person = name === '' ? person.email : name
    }
    return {
      row,
      source: this.#source,
      packageId: packageRules?.schema.id,
      person,
      body,
      changes: this.#changes,
      problems: this.#problems,
      invalidDetails:
        this.#columnsWithProblem && personDetails.filter((each) => this.#columnsWithProblem?.has(each)),
    }
  }

  #findPackage(): PackageRules | undefined {
    const { packageColumn: columnIndex, packageId, packages } = this.#file
    const id = columnIndex === -1 ? 'none' : packageIdOf(this.#source.cells[columnIndex] ?? '')
    const addProblem = (text: string): undefined => this.#addProblem('package_id', columnIndex, text)
    if (id === 'none') {
      if (packageId === undefined) return addProblem('is missing, and no --package was given')
      return packages.get(packageId)
    }
    if (id === 'wrong') return addProblem('is not a package id, a whole number such as 12')
    if (packageId !== undefined && packageId !== id)
      return addProblem(`is not the given package, ${packageId}`)
    return packages.get(id) ?? addProblem('is not a package that this user may order')
  }

  #readRecipient(column: RecipientField, cell: Cell, position: number): undefined {
    const reading = cellText(cell)
    if (reading.problem !== undefined) return this.#addProblem(column, position, reading.problem)
    const { text } = reading
    const damage = findDamage(text)
    if (damage !== undefined) return this.#addProblem(column, position, damage)
    const isName = column !== 'email' && column !== 'phone'
    if (isName && isLongName(text)) return this.#addProblem(column, position, longNameProblem(text))
    // A damaged name is stored too: a row with a problem is also compared with other rows, to find the same person.
    this.#recipient[column] = text
    if (isName && this.#rejectDamagedName(column, text, position)) return undefined
    if (column !== 'phone') return undefined
    const phone = repairPhone(text, this.#file.repair)
    if (phone !== text) this.#addChange(position, text, phone)
    this.#recipient.phone = phone
    return undefined
  }

  #readField(
    target: Extract<Target, { kind: 'field' }>,
    cell: Cell,
    position: number,
    { schema, definitions, isPersonNameColumn, createFields }: PackageRules,
  ): undefined {
    const { code, name, path, column } = target
    const definition = definitions[position]
    if (definition === undefined) {
      return this.#addProblem(
        column,
        position,
        `is not a field of package ${schema.id}; leave it empty in this row`,
      )
    }
    const fields = this.#fieldsOf(code, createFields)
    const isPersonName = isPersonNameColumn[position] === true
    if (path.length > 0)
      return this.#readPart(fields, target, cell, position, { type: definition.type, isPersonName })
    const { value, problem } = cellValue(definition, cell)
    if (problem !== undefined) return this.#addProblem(column, position, problem)
    if (isPersonName && this.#rejectDamagedName(column, value, position)) return undefined
    if (typeof value === 'number' && typeof cell === 'string' && String(value) !== cell.trim()) {
      this.#addChange(position, cell, String(value))
    }
    fields[name] = value
    return undefined
  }

  /** Returns true, and adds a problem, if letters of a name were lost. */
  #rejectDamagedName(column: string, value: FieldValue, position: number): boolean {
    if (this.#file.acceptedLines.has(this.#source.line)) return false
    for (const text of Array.isArray(value) ? value : [value]) {
      const damage = typeof text === 'string' ? findNameDamage(text) : undefined
      if (damage === undefined) continue
      this.#addProblem(
        column,
        position,
        `${damage.problem}; if it is right, add --accept-line ${this.#source.line}`,
        damage.suggestion,
      )
      return true
    }
    return false
  }

  /** Returns the fields of a check in the body, which are created at the first call. */
  #fieldsOf(code: string, createFields: () => ByFieldName<FieldValue>): ByFieldName<FieldValue> {
    for (const entry of this.#entries) if (entry.code === code) return entry.fields
    const fields = createFields()
    this.#entries.push({ code, fields })
    return fields
  }

  /** Reads a column of an array or object: `previous_names.1`, `residential_address.street`. */
  #readPart(
    fields: ByFieldName<FieldValue>,
    { name, path, column }: Extract<Target, { kind: 'field' }>,
    cell: Cell,
    position: number,
    { type, isPersonName }: { type: string; isPersonName: boolean },
  ): undefined {
    const isJson = typeof cell !== 'string' && cell.kind === 'json'
    const reading: ValueReading = isJson ? { value: cell.value } : toValueReading(cellText(cell))
    const problem =
      reading.problem ?? (typeof reading.value === 'string' ? findDamage(reading.value) : undefined)
    if (problem !== undefined) return this.#addProblem(column, position, problem)
    if (reading.value === undefined) return undefined
    if (isPersonName && this.#rejectDamagedName(column, reading.value, position)) return undefined
    const combined = insertNested(fields[name], type === 'array', path, reading.value)
    if (combined === undefined) {
      return this.#addProblem(column, position, 'has a column name that contradicts the columns beside it')
    }
    fields[name] = combined
    return undefined
  }

  #checkBody({ schema, quickCheck, definitions }: PackageRules): RequestBody | undefined {
    const draft: DraftBody = { package_id: schema.id, recipient: this.#recipient }
    if (this.#entries.length > 0) draft.additional_information = this.#entries
    const checkedBody = this.#problems.length === 0 ? quickCheck(draft) : undefined
    if (checkedBody !== undefined) return checkedBody
    const { body, changes, problems } = validateBody(draft, schema)
    for (const { column = '', from, to } of changes ?? [])
      this.#addChange(this.#findPosition(column), from, to)
    for (const each of problems ?? []) this.#addFormProblem(each, definitions)
    return this.#problems.length === 0 ? body : undefined
  }

  #addFormProblem(
    // `flagProblem` is the problem in the wording for a typed text, which a cell contains too.
    { column, path, problem, flagProblem = problem, suggestion }: Problem,
    definitions: PackageRules['definitions'],
  ): void {
    const name = column ?? path
    if (this.#columnsWithProblem?.has(name) === true) return
    const position = this.#findPosition(name)
    const definition = definitions[position]
    const dateSuggestion =
      definition === undefined
        ? undefined
        : isoSuggestion(definition, textOfCell(this.#source.cells[position] ?? ''))
    this.#addProblem(name, position, flagProblem, suggestion ?? dateSuggestion)
  }

  #findPosition(name: string): number {
    return this.#file.targets.findIndex(({ column }) => column === name)
  }

  #addProblem(column: string, position: number, problem: string, suggestion?: string): undefined {
    this.#columnsWithProblem ??= new Set()
    this.#columnsWithProblem.add(column)
    const cell = this.#source.cells[position] ?? ''
    this.#problems.push({
      row: this.#source.row,
      line: this.#source.line,
      person: '',
      column: position === -1 ? column : headerName(this.#file.headers[position] ?? column),
      value: textOfCell(cell),
      problem,
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  }

  #addChange(position: number, from: string, to: string): void {
    const { row, line } = this.#source
    const column = headerName(this.#file.headers[position] ?? '')
    const earlierChange = this.#changes.find((change) => change.column === column)
    if (earlierChange === undefined) this.#changes.push({ row, line, column, from, to })
    else earlierChange.to = to
  }
}

function definitionOf(
  { code, name }: Extract<Target, { kind: 'field' }>,
  schema: PackageSchema,
): FieldDefinition | undefined {
  const check = schema.fields.additional_information.find((each) => each.code === code)
  return check !== undefined && Object.hasOwn(check.fields, name) ? check.fields[name] : undefined
}

function toValueReading({ text, problem }: TextReading): ValueReading {
  return problem === undefined ? { value: text } : { problem }
}

/** A problem of a row. */
export interface RowProblem {
  /** The number of the data row, from 1. */
  row: number
  /** The row's line as a spreadsheet program counts. */
  line: number
  /** The name or e-mail of the row's person; '' if neither can be read. */
  person: string
  /** The header in the file; the name in the contract if the file has no such column. */
  column: string
  /** The text of the cell; '' if it is empty. */
  value: string
  problem: string
  suggestion?: string | undefined
}

/** A value that its type allows but that is improbable. The user is asked to confirm it, and it is sent unchanged. */
export type UnlikelyValue = Omit<RowProblem, 'suggestion'>

/** A value that is changed before it is sent. */
export interface RowChange {
  /** The number of the data row, from 1. */
  row: number
  /** The row's line as a spreadsheet program counts. */
  line: number
  /** The header in the file. */
  column: string
  /** The text of the cell. */
  from: string
  /** The value that is sent. */
  to: string
}

const personDetails = ['email', 'phone'] as const

/** A detail by which a person is found, besides the name. */
export type PersonDetail = (typeof personDetails)[number]

/** The result of reading a row. */
export interface RowReading {
  /** The number of the data row, from 1. */
  row: number
  source: SheetRow
  /** Undefined if the row names no package that can be ordered. */
  packageId: number | undefined
  /** The person as far as it can be read, even if the row is invalid. It is used to compare rows. */
  person: Recipient
  /** A body that can be sent; undefined if the row has a problem. */
  body: RequestBody | undefined
  changes: RowChange[]
  problems: RowProblem[]
  /** Which of the details by which a person is found are invalid, whatever the headers of their columns are. */
  invalidDetails?: readonly PersonDetail[] | undefined
  /** An earlier row with the same order. It is set when rows are compared. */
  duplicateOf?: number | undefined
}

/** A column that is read, and its position. */
interface Column {
  position: number
  target: Target
}

/** Returns the columns in file order, except that the columns of one list are ordered by their numbers. */
export function readingOrder(targets: readonly Target[]): Column[] {
  // The columns of a list are sorted by the position of the list's first column, then by their numbers.
  const sortKey = (target: Target, position: number): [first: number, number: number] =>
    target.kind === 'field' && /^\d+$/.test(target.path[0] ?? '')
      ? [targets.findIndex(({ column }) => column === target.column), Number(target.path[0])]
      : [position, 0]
  const sortedColumns = [...targets.entries()].map(([position, target]) => ({
    position,
    target,
    key: sortKey(target, position),
  }))
  sortedColumns.sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1] || a.position - b.position)
  return sortedColumns.flatMap(({ position, target }) =>
    target.kind === 'recipient' || target.kind === 'field' ? [{ position, target }] : [],
  )
}

/**
 * Inserts a value into a list or an object by its dotted name. Returns undefined if the name contradicts the container.
 */
export function insertNested(
  container: FieldValue | undefined,
  isList: boolean,
  [first = '', ...rest]: readonly string[],
  value: FieldValue,
): FieldValue | undefined {
  if (isList) {
    // `readingOrder` has sorted the columns by these numbers, so the value is appended. Empty cells leave no gap.
    if (!/^\d{1,4}$/.test(first) || rest.length > 0) return undefined
    const items = container ?? []
    return Array.isArray(items) ? [...items, value] : undefined
  }
  const object = container ?? bareObject<FieldValue>()
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return undefined
  const inner = rest.length === 0 ? value : insertNested(object[first], false, rest, value)
  if (inner === undefined || (rest.length === 0 && Object.hasOwn(object, first))) return undefined
  object[first] = inner
  return object
}

/** Longer names, and names with other characters, are checked by the slower `validateBody`. */
const usualName = z
  .string()
  .max(200)
  .regex(/^[^\s\p{C}]+(?: [^\s\p{C}]+)*$/u)

/**
 * Returns a quick check for bodies that can be sent unchanged. If the check returns undefined, `validateBody` decides,
 * because it is exact. In large files nearly all rows are valid, and this compiled check takes a tenth of the time.
 */
export function compileQuickCheck(schema: PackageSchema): (draft: DraftBody) => RequestBody | undefined {
  const recipient = z.compile(
    z.strictObject({ first_name: usualName, last_name: usualName, email: emailAddress, phone: phoneNumber }),
  )
  const checks = schema.fields.additional_information
  // A zod object has no property of this name, so only `validateBody` detects that it is missing.
  if (checks.some(({ fields }) => Object.hasOwn(fields, '__proto__'))) return () => undefined
  const entrySchemas = new Map(checks.map((check) => [check.code, z.compile(entrySchema(check))]))
  const requiredCodes = new Set(
    checks.flatMap(({ code, fields }) =>
      Object.values(fields).some(({ required }) => required) ? [code] : [],
    ),
  )
  return (draft) => {
    if (draft.package_id !== schema.id || !z.validate(recipient, draft.recipient)) return undefined
    const information = draft.additional_information ?? []
    let missingCount = requiredCodes.size
    let checkedCount = 0
    for (const { code, fields } of information) {
      const schemaOfEntry = entrySchemas.get(code)
      if (schemaOfEntry === undefined || !z.validate(schemaOfEntry, fields)) return undefined
      for (let earlier = 0; earlier < checkedCount; earlier += 1)
        if (information[earlier]?.code === code) return undefined
      if (requiredCodes.has(code)) missingCount -= 1
      checkedCount += 1
    }
    return missingCount === 0 ? (draft as RequestBody) : undefined
  }
}

function entrySchema({ fields }: CheckInformation) {
  const shape = bareObject<z.ZodType>()
  for (const [field, definition] of Object.entries(fields)) {
    shape[field] = definition.required ? valueSchema(definition) : valueSchema(definition).optional()
  }
  return z.strictObject(shape)
}

function valueSchema(definition: FieldDefinition): z.ZodType {
  if (definition.type === 'boolean') return z.boolean()
  if (definition.type !== 'string') {
    return z.custom((value) => value !== undefined && checkFieldValue(definition, value) === undefined)
  }
  const text = z.string().regex(/\S/)
  switch (dateRule(definition.description)) {
    case 'iso':
      return text.refine((value) => looksLikeIsoDate(value) && dateExists(value))
    case 'mentioned':
      return text.refine((value) => !looksLikeIsoDate(value) || dateExists(value))
    case undefined:
      return text
  }
}
