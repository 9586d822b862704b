import type { CheckInformation, PackageSchema } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue, Recipient, RequestBody } from '../../contract/request.ts'
import { RefcheckError } from '../../errors/kinds.ts'
import { listValue } from '../batch/cell-value.ts'
import { insertNested } from '../batch/row.ts'
import { shellWord } from '../wording/pasted-command.ts'
import { readFieldText } from './field-value.ts'
import { findNearestWord } from '../wording/text.ts'
import { type Problem, problemsError, formatForMessage } from './problem.ts'
import { type DraftBody, fieldsOfCheck, unknownCode } from './validate.ts'

/** The values of flags that describe one request. */
export interface BodyFlags {
  firstName?: string | undefined
  lastName?: string | undefined
  email?: string | undefined
  phone?: string | undefined
  /** Entries of the form `code.name=value`. Each name may occur once. */
  fields?: readonly string[] | undefined
}

/**
 * Returns the body that flags describe. Values are read by their types in the schema; `validateDraft` reads those of
 * the recipient. Throws InvalidInputError that lists every flag without a matching field or type.
 */
export function bodyFromFlags(flags: BodyFlags, schema: PackageSchema): DraftBody {
  const recipient: Partial<Recipient> = {}
  for (const [, name, key] of recipientFlags) {
    const value = flags[key]
    if (value !== undefined) recipient[name] = value
  }
  const entries = new Map<string, AdditionalInformation>()
  const problems: Problem[] = []
  for (const flag of flags.fields ?? []) {
    const problem = addField(flag, schema.fields.additional_information, entries)
    if (problem !== undefined) problems.push(problem)
  }
  if (problems.length > 0) {
    const id = String(schema.id)
    throw problemsError(
      problems,
      `Nothing was sent. Show the fields with: refcheck schema show ${id}`,
      'flags',
    )
  }
  const draft: DraftBody = { package_id: schema.id, recipient }
  return entries.size === 0 ? draft : { ...draft, additional_information: [...entries.values()] }
}

/** Adds one `code.name=value` to the entry of its check, or returns the problem. */
function addField(
  flag: string,
  checks: readonly CheckInformation[],
  entries: Map<string, AdditionalInformation>,
): Problem | undefined {
  const split = splitField(flag, checks)
  if (split === undefined) {
    const part = splitPart(flag, checks)
    return part === undefined ? unknownNameProblem(flag, checks) : addPart(part, entries)
  }
  const { check, name, text } = split
  const { code } = check
  const position = { path: `--field ${code}.${formatForMessage(name)}`, value: formatForMessage(text) }
  const fields = fieldsOfCheck(entries, code)
  if (Object.hasOwn(fields, name)) return { ...position, problem: 'is given twice' }
  const definition = check.fields[name]
  if (definition === undefined) return unknownNameProblem(flag, checks)
  const readValue = definition.type === 'array' ? listValue : readFieldText
  const { value, problem } = readValue(definition, text)
  if (problem !== undefined) return { ...position, problem }
  fields[name] = value
  return undefined
}

interface ObjectPart {
  code: string
  name: string
  path: string[]
  text: string
}

/** Splits `code.name.part=value`. The longest matching name of an object wins. Undefined if no object matches. */
function splitPart(flag: string, checks: readonly CheckInformation[]): ObjectPart | undefined {
  const equalsIndex = flag.indexOf('=')
  const key = flag.slice(0, Math.max(0, equalsIndex))
  const objectFields = checks.flatMap(({ code, fields }) =>
    Object.entries(fields).flatMap(([name, { type }]) =>
      type === 'object' && key.startsWith(`${code}.${name}.`) ? [{ code, name }] : [],
    ),
  )
  const [objectField] = objectFields.sort(
    (a, b) => b.code.length + b.name.length - a.code.length - a.name.length,
  )
  if (objectField === undefined) return undefined
  const path = key.slice(objectField.code.length + objectField.name.length + 2).split('.')
  return path.includes('') ? undefined : { ...objectField, path, text: flag.slice(equalsIndex + 1) }
}

/**
 * Adds a part to its object, as a column with the same name does in a batch file. Returns the problem if it cannot.
 */
function addPart(
  { code, name, path, text }: ObjectPart,
  entries: Map<string, AdditionalInformation>,
): Problem | undefined {
  const fields = fieldsOfCheck(entries, code)
  const combined = insertNested(fields[name], false, path, text)
  if (combined === undefined) {
    const column = formatForMessage([code, name, ...path].join('.'))
    return {
      path: `--field ${column}`,
      value: formatForMessage(text),
      problem: 'contradicts another --field, or is given twice',
    }
  }
  fields[name] = combined
  return undefined
}

/**
 * Splits `code.name=value`; undefined for an unknown name. Codes and names may contain dots, and names may contain
 * `=`. The flag is split at the first `=` after a known name. If several codes match, the longest one is used.
 */
function splitField(flag: string, checks: readonly CheckInformation[]) {
  const byLength = checks.toSorted((a, b) => b.code.length - a.code.length)
  // The limit avoids a search of the schema for each `=` of a long value.
  const maxColumnLength = columnsOf(checks).reduce((length, column) => Math.max(length, column.length), 0)
  for (
    let equalsIndex = flag.indexOf('=');
    equalsIndex !== -1;
    equalsIndex = flag.indexOf('=', equalsIndex + 1)
  ) {
    const key = flag.slice(0, equalsIndex)
    if (key.length > maxColumnLength) return undefined
    for (const check of byLength) {
      const name = key.slice(check.code.length + 1)
      if (key.startsWith(`${check.code}.`) && Object.hasOwn(check.fields, name)) {
        return { check, name, text: flag.slice(equalsIndex + 1) }
      }
    }
  }
  return undefined
}

function columnsOf(checks: readonly CheckInformation[]): string[] {
  return checks.flatMap(({ code, fields }) => Object.keys(fields).map((name) => `${code}.${name}`))
}

function unknownNameProblem(flag: string, checks: readonly CheckInformation[]): Problem {
  const equalsIndex = flag.indexOf('=')
  if (equalsIndex === -1)
    return { path: '--field', value: formatForMessage(flag), problem: 'has no =; give code.name=value' }
  const key = flag.slice(0, equalsIndex)
  const columns = columnsOf(checks)
  const check = checks.find(({ code }) => key.startsWith(`${code}.`))
  const position = { path: '--field', value: formatForMessage(key) }
  if (check !== undefined) {
    const names = Object.keys(check.fields)
    const problem = `is not a field of the check "${check.code}"; it takes ${names.join(', ')}`
    return { ...position, problem, suggestion: findNearestWord(key, columns) }
  }
  const dotIndex = key.indexOf('.')
  if (dotIndex === -1) {
    const suggestion = columns.find((column) => column.endsWith(`.${key}`)) ?? findNearestWord(key, columns)
    return { ...position, problem: 'has no check code before it; give code.name=value', suggestion }
  }
  const code = key.slice(0, dotIndex)
  const { problem, suggestion } = unknownCode(code, checks)
  const withKnownCode = suggestion === undefined ? undefined : `${suggestion}${key.slice(dotIndex)}`
  return {
    path: '--field',
    value: formatForMessage(code),
    problem,
    suggestion: findNearestWord(key, columns) ?? withKnownCode,
  }
}

/** Matches invisible characters and those that a terminal would not print unchanged. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]/u

const recipientFlags = [
  ['--first-name', 'first_name', 'firstName'],
  ['--last-name', 'last_name', 'lastName'],
  ['--email', 'email', 'email'],
  ['--phone', 'phone', 'phone'],
] as const

/**
 * Linux allows 128 KiB in one argument. The arguments of printf, which is built into the shell, have no such limit.
 */
const maxFlagsLength = 100_000

/**
 * Returns the command line for a POSIX shell that creates this request without a question. A body that flags cannot
 * express exactly (an empty entry, a control character in a value) is passed as JSON on stdin. The line contains only
 * printable characters. `flags` are added before `--yes`.
 */
export function commandLine(body: RequestBody, schema: PackageSchema, flags: readonly string[] = []): string {
  const command = ['refcheck', 'request', 'create']
  if (canFlagsExpress(body, schema)) {
    return [...command, ...valueFlagsOf(body), ...flags, '--yes'].map(shellWord).join(' ')
  }
  const json = escapeUnprintable(JSON.stringify(body))
  return `printf %s ${shellWord(json)} | ${[...command, '--file', '-', ...flags, '--yes'].map(shellWord).join(' ')}`
}

/**
 * Returns the command line that continues with these answers and asks for the others, with `flags` at the end. Returns
 * undefined if there are no answers, or if flags cannot express them exactly.
 */
export function unfinishedLine(
  draft: DraftBody,
  schema: PackageSchema,
  flags: readonly string[] = [],
): string | undefined {
  if (Object.keys(draft.recipient).length === 0 || !canFlagsExpress(draft, schema)) return undefined
  return ['refcheck', 'request', 'create', ...valueFlagsOf(draft), ...flags].map(shellWord).join(' ')
}

/** Returns the flags with the package and the values of a body. */
function valueFlagsOf(body: DraftBody): string[] {
  const recipientValues = recipientFlags.flatMap(([flag, name]) => {
    const value = body.recipient[name]
    return value === undefined ? [] : [flag, value]
  })
  const fields = fieldsOf(body).flatMap((field) => ['--field', field])
  return ['--package', String(body.package_id), ...recipientValues, ...fields]
}

/** Returns the values of the --field flags for a body. */
function fieldsOf({ additional_information = [] }: DraftBody): string[] {
  return additional_information.flatMap(({ code, fields }) =>
    Object.entries(fields).map(([name, value]) => `${code}.${name}=${flagText(value)}`),
  )
}

function flagText(value: FieldValue): string {
  return typeof value === 'string' ? value : escapeUnprintable(JSON.stringify(value))
}

/**
 * Whether flags can express a body: reading them gives the same body. A value that begins with a dash could be read as a
 * flag.
 */
function canFlagsExpress(body: DraftBody, schema: PackageSchema): boolean {
  const fields = fieldsOf(body)
  const values = [...Object.values(body.recipient), ...fields]
  if (values.some((value) => value.startsWith('-') || unprintable.test(value))) return false
  if (values.join('').length > maxFlagsLength) return false
  try {
    const { additional_information } = bodyFromFlags({ fields }, schema)
    return JSON.stringify(additional_information) === JSON.stringify(body.additional_information)
  } catch (error) {
    if (error instanceof RefcheckError) return false
    throw error
  }
}

/** Escapes the unprintable characters in JSON, of which JSON.stringify escapes only some. */
function escapeUnprintable(json: string): string {
  return json.replaceAll(new RegExp(unprintable, 'gu'), (character) =>
    Array.from({ length: character.length }, (_, index) => escapeCodeUnit(character.charCodeAt(index))).join(
      '',
    ),
  )
}

function escapeCodeUnit(codeUnit: number): string {
  return `\\u${codeUnit.toString(16).padStart(4, '0')}`
}
