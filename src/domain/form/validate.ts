import { bareObject, isJsonObject } from '../../contract/parse-json.ts'
import type { CheckInformation, PackageSchema, RecipientField } from '../../contract/package-schema.ts'
import { recipientFields } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue, Recipient, RequestBody } from '../../contract/request.ts'
import { checkFieldValue } from './field-value.ts'
import { findNearestWord } from '../wording/text.ts'
import { type Change, type Problem, formatForMessage } from './problem.ts'
import { readRecipientField } from './recipient.ts'

/** A body that may still lack values that its package requires. */
export interface DraftBody {
  package_id: number
  recipient: Partial<Recipient>
  additional_information?: AdditionalInformation[]
}

/** Returns the fields of the entry of a check. Adds the entry if it does not exist. */
export function fieldsOfCheck(
  entries: Map<string, AdditionalInformation>,
  code: string,
): AdditionalInformation['fields'] {
  const entry = entries.get(code) ?? { code, fields: bareObject<FieldValue>() }
  entries.set(code, entry)
  return entry.fields
}

/**
 * Checks a body against the schema of its package. Returns the body to send and its changes, or all problems in the
 * order of the body.
 */
export function validateBody(input: unknown, schema: PackageSchema) {
  const { draft, changes, problems } = readOrder(input, schema)
  if (problems.length > 0) return { problems }
  const { first_name = '', last_name = '', email = '', phone = '' } = draft.recipient
  const body: RequestBody = { ...draft, recipient: { first_name, last_name, email, phone } }
  return { body, changes }
}

/** Checks a part of a body: values may be missing, but none may be invalid. */
export function validateDraft(input: unknown, schema: PackageSchema) {
  const { draft, changes, problems, missingValueProblems } = readOrder(input, schema)
  const otherProblems = problems.filter((problem) => !missingValueProblems.has(problem))
  return otherProblems.length > 0 ? { problems: otherProblems } : { draft, changes }
}

interface Findings {
  draft: DraftBody
  changes: Change[]
  problems: Problem[]
  /** The problems that only report a missing value. */
  missingValueProblems: Set<Problem>
}

function addMissing({ problems, missingValueProblems: missing }: Findings, problem: Problem): void {
  problems.push(problem)
  missing.add(problem)
}

/** The fields of an object from outside the program. It has no prototype, so that `__proto__` is an ordinary name. */
type FieldsByName = Readonly<Record<string, unknown>>

function readOrder(input: unknown, schema: PackageSchema): Findings {
  const draft: DraftBody = { package_id: schema.id, recipient: {} }
  const findings: Findings = { draft, changes: [], problems: [], missingValueProblems: new Set() }
  const body = readObject(input, 'the body', findings)
  if (body === undefined) return findings
  const knownNames = ['package_id', 'recipient', 'additional_information']
  for (const name of Object.keys(body).filter((given) => !knownNames.includes(given))) {
    const suggestion = isRecipientField(name) ? `recipient.${name}` : findNearestWord(name, knownNames)
    findings.problems.push(unknownField(formatForMessage(name), 'a request', suggestion))
  }
  checkPackageId(body['package_id'], schema, findings)
  checkRecipient(body['recipient'], findings)
  checkInformation(body['additional_information'], schema, findings)
  return findings
}

function checkPackageId(id: unknown, schema: PackageSchema, findings: Findings): void {
  const { problems } = findings
  const path = 'package_id'
  if (id === undefined) {
    addMissing(findings, { path, problem: 'is required' })
  } else if (!Number.isSafeInteger(id)) {
    problems.push({ path, value: formatForMessage(id), problem: 'is not an integer' })
  } else if (id !== schema.id) {
    problems.push({ path, value: formatForMessage(id), problem: `is not the given package, ${schema.id}` })
  }
}

function checkRecipient(input: unknown, findings: Findings): void {
  const recipient = readObject(input === undefined ? {} : input, 'recipient', findings)
  if (recipient === undefined) return
  const { draft, changes, problems } = findings
  for (const name of Object.keys(recipient).filter((given) => !isRecipientField(given))) {
    problems.push(
      unknownField(
        `recipient.${formatForMessage(name)}`,
        'a recipient',
        findNearestWord(name, recipientFields),
      ),
    )
  }
  for (const column of recipientFields) {
    const position = { path: `recipient.${column}`, column }
    const inputValue: unknown = recipient[column]
    if (inputValue === undefined) {
      addMissing(findings, { ...position, problem: 'is required' })
    } else if (typeof inputValue !== 'string') {
      problems.push({ ...position, value: formatForMessage(inputValue), problem: 'is not a string' })
    } else {
      const { value, problem, suggestion } = readRecipientField(column, inputValue)
      if (problem !== undefined)
        problems.push({ ...position, value: formatForMessage(inputValue), problem, suggestion })
      else draft.recipient[column] = value
      if (value !== undefined && value !== inputValue)
        changes.push({ ...position, from: inputValue, to: value })
    }
  }
}

function checkInformation(input: unknown, schema: PackageSchema, findings: Findings): void {
  const { draft, problems } = findings
  const checks = schema.fields.additional_information
  const path = 'additional_information'
  if (input !== undefined && !Array.isArray(input)) {
    problems.push({ path, value: formatForMessage(input), problem: 'is not an array' })
    return
  }
  const firstIndexByCode = new Map<string, number>()
  const entries: AdditionalInformation[] = []
  for (const [index, raw] of (input ?? []).entries()) {
    const entry = checkEntry(raw, { index, checks, firstIndexByCode }, findings)
    if (entry !== undefined) entries.push(entry)
  }
  if (input !== undefined) draft.additional_information = entries
  for (const check of checks.filter(({ code }) => !firstIndexByCode.has(code))) {
    for (const [name, definition] of Object.entries(check.fields)) {
      if (!definition.required) continue
      const problem = `has no "${name}", which the check "${check.code}" requires`
      addMissing(findings, {
        path,
        problem,
        flagProblem: requiredProblem(definition),
        column: `${check.code}.${name}`,
      })
    }
  }
}

interface EntryPosition {
  index: number
  checks: readonly CheckInformation[]
  /** The index of the first entry of each code. */
  firstIndexByCode: Map<string, number>
}

function checkEntry(
  raw: unknown,
  position: EntryPosition,
  findings: Findings,
): AdditionalInformation | undefined {
  const { index, checks, firstIndexByCode } = position
  const { problems } = findings
  const entryPath = `additional_information[${index}]`
  const entry = readObject(raw, entryPath, findings)
  if (entry === undefined) return undefined
  for (const name of Object.keys(entry).filter((given) => given !== 'code' && given !== 'fields')) {
    problems.push(
      unknownField(
        `${entryPath}.${formatForMessage(name)}`,
        'this entry',
        findNearestWord(name, ['code', 'fields']),
      ),
    )
  }
  const { code } = entry
  const path = `${entryPath}.code`
  if (typeof code !== 'string') {
    problems.push(
      code === undefined
        ? { path, problem: 'is required' }
        : { path, value: formatForMessage(code), problem: 'is not a string' },
    )
    return undefined
  }
  const check = checks.find((known) => known.code === code)
  const firstIndex = firstIndexByCode.get(code)
  if (firstIndex !== undefined) {
    const problem = `is given twice (first in additional_information[${firstIndex}]); a code may appear only once`
    problems.push({ path, value: formatForMessage(code), problem })
  } else if (check === undefined) {
    problems.push({ path, value: formatForMessage(code), ...unknownCode(code, checks) })
  }
  if (firstIndex === undefined) firstIndexByCode.set(code, index)
  if (entry['fields'] === undefined) {
    const requiredFields = Object.entries(check?.fields ?? {}).filter(([, { required }]) => required)
    const names = requiredFields.map(([name]) => name).join(', ')
    const problem = names === '' ? 'is required' : `is required, with ${names}`
    addMissing(findings, { path: `${entryPath}.fields`, problem })
    return undefined
  }
  const fields = readObject(entry['fields'], `${entryPath}.fields`, findings)
  if (fields === undefined || check === undefined) return undefined
  return { code, fields: checkFields(fields, check, `${entryPath}.fields`, findings) }
}

function checkFields(
  fields: FieldsByName,
  check: CheckInformation,
  fieldsPath: string,
  findings: Findings,
): AdditionalInformation['fields'] {
  const { problems } = findings
  const values = bareObject<FieldValue>()
  for (const [name, value] of Object.entries(fields)) {
    const position = { path: `${fieldsPath}.${formatForMessage(name)}`, column: `${check.code}.${name}` }
    const definition = Object.hasOwn(check.fields, name) ? check.fields[name] : undefined
    if (definition === undefined) {
      const knownNames = Object.keys(check.fields)
      problems.push(
        unknownField(
          position.path,
          `the check "${check.code}"`,
          findNearestWord(name, knownNames),
          knownNames,
        ),
      )
      continue
    }
    const problem = checkFieldValue(definition, value)
    if (problem === undefined) values[name] = value as FieldValue
    else problems.push({ ...position, value: formatForMessage(value), problem })
  }
  for (const [name, definition] of Object.entries(check.fields)) {
    if (!definition.required || Object.hasOwn(fields, name)) continue
    addMissing(findings, {
      path: `${fieldsPath}.${name}`,
      problem: 'is required',
      flagProblem: requiredProblem(definition),
      column: `${check.code}.${name}`,
    })
  }
  return values
}

/** Returns the problem of a missing flag. A required list may be empty, but the user has to state that. */
function requiredProblem({ type }: { type: string }): string {
  return type === 'array' ? 'is required; write none if there are none' : 'is required'
}

/** Returns the problem of a code that is not in the schema. */
export function unknownCode(
  code: string,
  checks: readonly CheckInformation[],
): Pick<Problem, 'problem' | 'suggestion'> {
  const knownCodes = checks.map((check) => check.code)
  const list = knownCodes.length === 0 ? 'it takes none' : `it takes ${knownCodes.join(', ')}`
  return {
    problem: `is not a check code of this package; ${list}`,
    suggestion: findNearestWord(code, knownCodes),
  }
}

function unknownField(
  path: string,
  owner: string,
  suggestion: string | undefined,
  knownNames?: readonly string[],
): Problem {
  const list =
    knownNames === undefined ? '' : `; it takes ${knownNames.length === 0 ? 'none' : knownNames.join(', ')}`
  return { path, problem: `is not a field of ${owner}${list}`, suggestion }
}

/** Returns a copy of a JSON object without a prototype. For any other value, adds a problem. */
function readObject(input: unknown, path: string, { problems }: Findings): FieldsByName | undefined {
  if (isJsonObject(input)) return bareObject(Object.entries(input))
  problems.push({ path, value: formatForMessage(input), problem: 'is not an object' })
  return undefined
}

function isRecipientField(name: string): name is RecipientField {
  return (recipientFields as readonly string[]).includes(name)
}
