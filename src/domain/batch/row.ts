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
import { isLongName, longName } from '../form/recipient.ts'
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
  headers: readonly string[]
  targets: readonly Target[]
  /** Of every package the file may order. */
  schemas: ReadonlyMap<number, PackageSchema>
  /** For rows that do not say one. */
  packageId: number | undefined
  repair: PhoneRepair | undefined
  /** Lines whose names are right though they look damaged. */
  accepted: ReadonlySet<number>
}

/** What is the same for all rows. */
interface File extends RowRules {
  order: readonly Column[]
  /** -1 where there is no such column. */
  packageAt: number
  packages: ReadonlyMap<number, PackageReading>
}

/** What is the same for all rows of a package. */
interface PackageReading {
  schema: PackageSchema
  ready: ReturnType<typeof readyBody>
  /** By column: the field that it is of; undefined where the package has none like it. */
  definitions: readonly (FieldDefinition | undefined)[]
  /** By column: whether it holds names of people. */
  named: readonly boolean[]
  /** The fields of one check, none of them filled in. */
  noFields: () => Names<FieldValue>
}

/** Makes the reader of a file's rows. */
export function rowReader(rules: RowRules): (source: SheetRow) => RowReading {
  const file: File = {
    ...rules,
    order: readingOrder(rules.targets),
    packageAt: rules.targets.findIndex(({ kind }) => kind === 'package_id'),
    packages: new Map([...rules.schemas].map(([id, schema]) => [id, packageReading(schema, rules.targets)])),
  }
  return (source) => new RowReader(file, source).result()
}

function packageReading(schema: PackageSchema, targets: readonly Target[]): PackageReading {
  const definitions = targets.map((target) =>
    target.kind === 'field' ? definitionOf(target, schema) : undefined,
  )
  const named = targets.map((target) => target.kind === 'field' && namesPeople.test(target.name))
  // Where no field is called as an object's own, such as __proto__, an object is several times faster than one without.
  const isPlain = targets.every((target) => target.kind !== 'field' || !(target.name in Object.prototype))
  const noFields = isPlain ? () => ({}) : () => bareObject<FieldValue>()
  return { schema, ready: readyBody(schema), definitions, named, noFields }
}

type Names<T> = Record<string, T>

/** Fields of checks that hold names of people: `previous_names`, `mothers_name`. */
const namesPeople = /(?:^|_)names?(?:_|$)/i

const emptyRecipient: Recipient = { first_name: '', last_name: '', email: '', phone: '' }

class RowReader {
  readonly #file: File
  readonly #source: SheetRow
  readonly #changes: RowChange[] = []
  readonly #problems: RowProblem[] = []
  /** Columns that have their problem: what follows from it is not said again. */
  #wrong: Set<string> | undefined
  readonly #recipient: Partial<Recipient> = {}
  readonly #entries: { code: string; fields: Names<FieldValue> }[] = []

  constructor(file: File, source: SheetRow) {
    this.#file = file
    this.#source = source
  }

  result(): RowReading {
    const { row, cells } = this.#source
    const ordered = this.#package()
    for (const { at, target } of this.#file.order) {
      const cell = cells[at] ?? ''
      if (isEmpty(cell)) continue
      if (typeof cell !== 'string' && cell.kind === 'marked') this.#change(at, cell.written, cell.text)
      if (target.kind === 'recipient') this.#takeRecipient(target.column, cell, at)
      else if (target.kind === 'field' && ordered !== undefined) this.#takeField(target, cell, at, ordered)
    }
    const body = ordered === undefined ? undefined : this.#checked(ordered)
    const person = body?.recipient ?? { ...emptyRecipient, ...this.#recipient }
    if (this.#problems.length > 0) {
      const name = `${person.first_name.trim()} ${person.last_name.trim()}`.trim()
      for (const problem of this.#problems) problem.person = name === '' ? person.email : name
    }
    return {
      row,
      source: this.#source,
      packageId: ordered?.schema.id,
      person,
      body,
      changes: this.#changes,
      problems: this.#problems,
    }
  }

  #package(): PackageReading | undefined {
    const { packageAt: at, packageId, packages } = this.#file
    const id = at === -1 ? 'none' : packageIdOf(this.#source.cells[at] ?? '')
    const problem = (text: string): undefined => this.#problem('package_id', at, text)
    if (id === 'none') {
      if (packageId === undefined) return problem('is missing, and no --package was given')
      return packages.get(packageId)
    }
    if (id === 'wrong') return problem('is not a package id, a whole number such as 12')
    if (packageId !== undefined && packageId !== id) return problem(`is not the given package, ${packageId}`)
    return packages.get(id) ?? problem('is not a package that this user may order')
  }

  #takeRecipient(column: RecipientField, cell: Cell, at: number): undefined {
    const reading = cellText(cell)
    if (reading.problem !== undefined) return this.#problem(column, at, reading.problem)
    const { text } = reading
    const wrong = findDamage(text)
    if (wrong !== undefined) return this.#problem(column, at, wrong)
    const isName = column !== 'email' && column !== 'phone'
    if (isName && isLongName(text)) return this.#problem(column, at, longName(text))
    // It is still whom the row is about: a damaged name may be that of another row.
    this.#recipient[column] = text
    if (isName && this.#isDamagedName(column, text, at)) return undefined
    if (column !== 'phone') return undefined
    const phone = repairPhone(text, this.#file.repair)
    if (phone !== text) this.#change(at, text, phone)
    this.#recipient.phone = phone
    return undefined
  }

  #takeField(
    target: Extract<Target, { kind: 'field' }>,
    cell: Cell,
    at: number,
    { schema, definitions, named, noFields }: PackageReading,
  ): undefined {
    const { code, name, path, column } = target
    const definition = definitions[at]
    if (definition === undefined) {
      return this.#problem(column, at, `is not a field of package ${schema.id}; leave it empty in this row`)
    }
    const fields = this.#fieldsOf(code, noFields)
    const isNamed = named[at] === true
    if (path.length > 0) return this.#takePart(fields, target, cell, at, { type: definition.type, isNamed })
    const { value, problem } = cellValue(definition, cell)
    if (problem !== undefined) return this.#problem(column, at, problem)
    if (isNamed && this.#isDamagedName(column, value, at)) return undefined
    if (typeof value === 'number' && typeof cell === 'string' && String(value) !== cell.trim()) {
      this.#change(at, cell, String(value))
    }
    fields[name] = value
    return undefined
  }

  /** Whether letters of a name were lost; its problem is noted then. */
  #isDamagedName(column: string, value: FieldValue, at: number): boolean {
    if (this.#file.accepted.has(this.#source.line)) return false
    for (const text of Array.isArray(value) ? value : [value]) {
      const found = typeof text === 'string' ? findNameDamage(text) : undefined
      if (found === undefined) continue
      this.#problem(
        column,
        at,
        `${found.problem}; if it is right, add --accept-line ${this.#source.line}`,
        found.suggestion,
      )
      return true
    }
    return false
  }

  #fieldsOf(code: string, noFields: () => Names<FieldValue>): Names<FieldValue> {
    for (const entry of this.#entries) if (entry.code === code) return entry.fields
    const fields = noFields()
    this.#entries.push({ code, fields })
    return fields
  }

  /** One column of an array or object: `previous_names.1`, `residential_address.street`. */
  #takePart(
    fields: Names<FieldValue>,
    { name, path, column }: Extract<Target, { kind: 'field' }>,
    cell: Cell,
    at: number,
    { type, isNamed }: { type: string; isNamed: boolean },
  ): undefined {
    const isJson = typeof cell !== 'string' && cell.kind === 'json'
    const reading: ValueReading = isJson ? { value: cell.value } : asValue(cellText(cell))
    const wrong =
      reading.problem ?? (typeof reading.value === 'string' ? findDamage(reading.value) : undefined)
    if (wrong !== undefined) return this.#problem(column, at, wrong)
    if (reading.value === undefined) return undefined
    if (isNamed && this.#isDamagedName(column, reading.value, at)) return undefined
    const put = nested(fields[name], type === 'array', path, reading.value)
    if (put === undefined) {
      return this.#problem(column, at, 'has a column name that contradicts the columns beside it')
    }
    fields[name] = put
    return undefined
  }

  #checked({ schema, ready: quick, definitions }: PackageReading): RequestBody | undefined {
    const draft: DraftBody = { package_id: schema.id, recipient: this.#recipient }
    if (this.#entries.length > 0) draft.additional_information = this.#entries
    const ready = this.#problems.length === 0 ? quick(draft) : undefined
    if (ready !== undefined) return ready
    const { body, changes, problems } = validateBody(draft, schema)
    for (const { column = '', from, to } of changes ?? []) this.#change(this.#columnAt(column), from, to)
    for (const each of problems ?? []) this.#fromForm(each, definitions)
    return this.#problems.length === 0 ? body : undefined
  }

  #fromForm(
    // What is missing is asked for in the words of a text that is typed, as a cell is.
    { column, path, problem, ofFlag = problem, suggestion }: Problem,
    definitions: PackageReading['definitions'],
  ): void {
    const name = column ?? path
    if (this.#wrong?.has(name) === true) return
    const at = this.#columnAt(name)
    const definition = definitions[at]
    const meant =
      definition === undefined
        ? undefined
        : isoSuggestion(definition, textOfCell(this.#source.cells[at] ?? ''))
    this.#problem(name, at, ofFlag, suggestion ?? meant)
  }

  #columnAt(name: string): number {
    return this.#file.targets.findIndex(({ column }) => column === name)
  }

  #problem(column: string, at: number, problem: string, suggestion?: string): undefined {
    this.#wrong ??= new Set()
    this.#wrong.add(column)
    const cell = this.#source.cells[at] ?? ''
    this.#problems.push({
      row: this.#source.row,
      line: this.#source.line,
      person: '',
      column: at === -1 ? column : headerName(this.#file.headers[at] ?? column),
      value: textOfCell(cell),
      problem,
      ...(suggestion === undefined ? {} : { suggestion }),
    })
  }

  #change(at: number, from: string, to: string): void {
    const { row, line } = this.#source
    const column = headerName(this.#file.headers[at] ?? '')
    const earlier = this.#changes.find((change) => change.column === column)
    if (earlier === undefined) this.#changes.push({ row, line, column, from, to })
    else earlier.to = to
  }
}

function definitionOf(
  { code, name }: Extract<Target, { kind: 'field' }>,
  schema: PackageSchema,
): FieldDefinition | undefined {
  const check = schema.fields.additional_information.find((each) => each.code === code)
  return check !== undefined && Object.hasOwn(check.fields, name) ? check.fields[name] : undefined
}

function asValue({ text, problem }: TextReading): ValueReading {
  return problem === undefined ? { value: text } : { problem }
}

/** One thing wrong with a row. */
export interface RowProblem {
  row: number
  /** Its line as a spreadsheet program counts. */
  line: number
  /** Whose row it is, as far as that can be read; '' where it cannot. */
  person: string
  /** The file's own header; the contract's name where the file has no such column. */
  column: string
  /** The text of the cell; '' where it is empty. */
  value: string
  problem: string
  suggestion?: string | undefined
}

/** A value that its type allows and that is improbable: a person is asked about it, and it is sent unchanged. */
export type UnlikelyValue = Omit<RowProblem, 'suggestion'>

/** A value that will be sent otherwise than the file has it. */
export interface RowChange {
  row: number
  line: number
  column: string
  from: string
  to: string
}

/** What became of a row. */
export interface RowReading {
  /** Data rows from 1. */
  row: number
  source: SheetRow
  /** Undefined where the row does not say one that can be ordered. */
  packageId: number | undefined
  /** As far as it can be read, whatever else is wrong; for telling people apart. */
  person: Recipient
  /** Fit to be sent; undefined where anything is wrong. */
  body: RequestBody | undefined
  changes: RowChange[]
  problems: RowProblem[]
  /** The row before it that orders the same; set where rows are compared. */
  duplicateOf?: number | undefined
}

/** A column that is read, and its position. */
interface Column {
  at: number
  target: Target
}

/** Columns as they stand, but those of one list by their numbers. */
export function readingOrder(targets: readonly Target[]): Column[] {
  const sortKey = (target: Target, at: number): [first: number, number: number] =>
    target.kind === 'field' && /^\d+$/.test(target.path[0] ?? '')
      ? [targets.findIndex(({ column }) => column === target.column), Number(target.path[0])]
      : [at, 0]
  const ordered = [...targets.entries()].map(([at, target]) => ({ at, target, place: sortKey(target, at) }))
  ordered.sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1] || a.at - b.at)
  return ordered.flatMap(({ at, target }) =>
    target.kind === 'recipient' || target.kind === 'field' ? [{ at, target }] : [],
  )
}

/** Puts a value into a list or an object by its dotted name; undefined where it has no place. */
export function nested(
  into: FieldValue | undefined,
  list: boolean,
  [first = '', ...rest]: readonly string[],
  value: FieldValue,
): FieldValue | undefined {
  if (list) {
    // Numbers give the order; empty cells leave no hole.
    if (!/^\d{1,4}$/.test(first) || rest.length > 0) return undefined
    const items = into ?? []
    return Array.isArray(items) ? [...items, value] : undefined
  }
  const object = into ?? bareObject<FieldValue>()
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return undefined
  const inner = rest.length === 0 ? value : nested(object[first], false, rest, value)
  if (inner === undefined || (rest.length === 0 && Object.hasOwn(object, first))) return undefined
  object[first] = inner
  return object
}

/** Longer than any name: such values are checked by the slower method. */
const name = z
  .string()
  .max(200)
  .regex(/^[^\s\p{C}]+(?: [^\s\p{C}]+)*$/u)

/**
 * A quick check for a body that can be sent unchanged; where it returns undefined, `validateBody` decides,
 * since it is exact. For files of many rows, nearly all of them valid: compiled, it takes a tenth of the time.
 */
export function readyBody(schema: PackageSchema): (draft: DraftBody) => RequestBody | undefined {
  const recipient = z.compile(
    z.strictObject({ first_name: name, last_name: name, email: emailAddress, phone: phoneNumber }),
  )
  const checks = schema.fields.additional_information
  // No shape has this name, so only the careful way sees that it is missing.
  if (checks.some(({ fields }) => Object.hasOwn(fields, '__proto__'))) return () => undefined
  const entries = new Map(checks.map((check) => [check.code, z.compile(entryOf(check))]))
  const needed = new Set(
    checks.flatMap(({ code, fields }) =>
      Object.values(fields).some(({ required }) => required) ? [code] : [],
    ),
  )
  return (draft) => {
    if (draft.package_id !== schema.id || !z.validate(recipient, draft.recipient)) return undefined
    const information = draft.additional_information ?? []
    let left = needed.size
    let at = 0
    for (const { code, fields } of information) {
      const entry = entries.get(code)
      if (entry === undefined || !z.validate(entry, fields)) return undefined
      for (let before = 0; before < at; before += 1) if (information[before]?.code === code) return undefined
      if (needed.has(code)) left -= 1
      at += 1
    }
    return left === 0 ? (draft as RequestBody) : undefined
  }
}

function entryOf({ fields }: CheckInformation) {
  const shape = bareObject<z.ZodType>()
  for (const [field, definition] of Object.entries(fields)) {
    shape[field] = definition.required ? valueOf(definition) : valueOf(definition).optional()
  }
  return z.strictObject(shape)
}

function valueOf(definition: FieldDefinition): z.ZodType {
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
