import { bareObject, isJsonObject } from '../../contract/parse-json.ts'
import type { CheckInformation, PackageSchema, RecipientField } from '../../contract/package-schema.ts'
import { recipientFields } from '../../contract/package-schema.ts'
import type { AdditionalInformation, FieldValue, Recipient, RequestBody } from '../../contract/request.ts'
import { checkFieldValue } from './field-value.ts'
import { nearest, type Change, type Problem, shown } from './problem.ts'
import { readRecipientField } from './recipient.ts'

/** A body that may still lack some of what its package requires. */
export interface DraftBody {
  package_id: number
  recipient: Partial<Recipient>
  additional_information?: AdditionalInformation[]
}

/** The fields of the check's entry, which is added where it is not there yet. */
export function fieldsIn(
  entries: Map<string, AdditionalInformation>,
  code: string,
): AdditionalInformation['fields'] {
  const entry = entries.get(code) ?? { code, fields: bareObject<FieldValue>() }
  entries.set(code, entry)
  return entry.fields
}

/**
 * Checks a whole body against its package's schema: a body fit to be sent, with what differs from what was given, or everything
 * that is wrong with it. Every problem is found, in the order of the body.
 */
export function validateBody(input: unknown, schema: PackageSchema) {
  const { draft, changes, problems } = readOrder(input, schema)
  if (problems.length > 0) return { problems }
  const { first_name = '', last_name = '', email = '', phone = '' } = draft.recipient
  const body: RequestBody = { ...draft, recipient: { first_name, last_name, email, phone } }
  return { body, changes }
}

/** The same for a part of a body: nothing in it may be wrong, but anything may be missing. */
export function validateDraft(input: unknown, schema: PackageSchema) {
  const { draft, changes, problems, missing } = readOrder(input, schema)
  const wrong = problems.filter((problem) => !missing.has(problem))
  return wrong.length > 0 ? { problems: wrong } : { draft, changes }
}

interface Findings {
  draft: DraftBody
  changes: Change[]
  problems: Problem[]
  /** Those of them that only say that something required is not there. */
  missing: Set<Problem>
}

function miss({ problems, missing }: Findings, problem: Problem): void {
  problems.push(problem)
  missing.add(problem)
}

/** Names that came from outside, without a prototype: `__proto__` is a name like any other. */
type Names = Readonly<Record<string, unknown>>

function readOrder(input: unknown, schema: PackageSchema): Findings {
  const draft: DraftBody = { package_id: schema.id, recipient: {} }
  const findings: Findings = { draft, changes: [], problems: [], missing: new Set() }
  const body = namesOf(input, 'the body', findings)
  if (body === undefined) return findings
  const known = ['package_id', 'recipient', 'additional_information']
  for (const name of Object.keys(body).filter((given) => !known.includes(given))) {
    const suggestion = isRecipientField(name) ? `recipient.${name}` : nearest(name, known)
    findings.problems.push(unknownField(shown(name), 'a request', suggestion))
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
    miss(findings, { path, problem: 'is required' })
  } else if (!Number.isSafeInteger(id)) {
    problems.push({ path, value: shown(id), problem: 'is not an integer' })
  } else if (id !== schema.id) {
    problems.push({ path, value: shown(id), problem: `is not the given package, ${schema.id}` })
  }
}

function checkRecipient(input: unknown, findings: Findings): void {
  const recipient = namesOf(input === undefined ? {} : input, 'recipient', findings)
  if (recipient === undefined) return
  const { draft, changes, problems } = findings
  for (const name of Object.keys(recipient).filter((given) => !isRecipientField(given))) {
    problems.push(unknownField(`recipient.${shown(name)}`, 'a recipient', nearest(name, recipientFields)))
  }
  for (const column of recipientFields) {
    const at = { path: `recipient.${column}`, column }
    const given: unknown = recipient[column]
    if (given === undefined) {
      miss(findings, { ...at, problem: 'is required' })
    } else if (typeof given !== 'string') {
      problems.push({ ...at, value: shown(given), problem: 'is not a string' })
    } else {
      const { value, problem, suggestion } = readRecipientField(column, given)
      if (problem !== undefined) problems.push({ ...at, value: shown(given), problem, suggestion })
      else draft.recipient[column] = value
      if (value !== undefined && value !== given) changes.push({ ...at, from: given, to: value })
    }
  }
}

function checkInformation(input: unknown, schema: PackageSchema, findings: Findings): void {
  const { draft, problems } = findings
  const checks = schema.fields.additional_information
  const path = 'additional_information'
  if (input !== undefined && !Array.isArray(input)) {
    problems.push({ path, value: shown(input), problem: 'is not an array' })
    return
  }
  const seen = new Map<string, number>()
  const entries: AdditionalInformation[] = []
  for (const [index, raw] of (input ?? []).entries()) {
    const entry = checkEntry(raw, { index, checks, seen }, findings)
    if (entry !== undefined) entries.push(entry)
  }
  if (input !== undefined) draft.additional_information = entries
  for (const check of checks.filter(({ code }) => !seen.has(code))) {
    for (const [name, definition] of Object.entries(check.fields)) {
      if (!definition.required) continue
      const problem = `has no "${name}", which the check "${check.code}" requires`
      miss(findings, { path, problem, ofFlag: requiredProblem(definition), column: `${check.code}.${name}` })
    }
  }
}

interface EntryPosition {
  index: number
  checks: readonly CheckInformation[]
  /** The first entry of each code. */
  seen: Map<string, number>
}

function checkEntry(
  raw: unknown,
  position: EntryPosition,
  findings: Findings,
): AdditionalInformation | undefined {
  const { index, checks, seen } = position
  const { problems } = findings
  const at = `additional_information[${index}]`
  const entry = namesOf(raw, at, findings)
  if (entry === undefined) return undefined
  for (const name of Object.keys(entry).filter((given) => given !== 'code' && given !== 'fields')) {
    problems.push(unknownField(`${at}.${shown(name)}`, 'this entry', nearest(name, ['code', 'fields'])))
  }
  const { code } = entry
  const path = `${at}.code`
  if (typeof code !== 'string') {
    problems.push(
      code === undefined
        ? { path, problem: 'is required' }
        : { path, value: shown(code), problem: 'is not a string' },
    )
    return undefined
  }
  const check = checks.find((known) => known.code === code)
  const first = seen.get(code)
  if (first !== undefined) {
    const problem = `is given twice (first in additional_information[${first}]); a code may appear only once`
    problems.push({ path, value: shown(code), problem })
  } else if (check === undefined) {
    problems.push({ path, value: shown(code), ...unknownCode(code, checks) })
  }
  if (first === undefined) seen.set(code, index)
  if (entry['fields'] === undefined) {
    const wanted = Object.entries(check?.fields ?? {}).filter(([, { required }]) => required)
    const names = wanted.map(([name]) => name).join(', ')
    const problem = names === '' ? 'is required' : `is required, with ${names}`
    miss(findings, { path: `${at}.fields`, problem })
    return undefined
  }
  const fields = namesOf(entry['fields'], `${at}.fields`, findings)
  if (fields === undefined || check === undefined) return undefined
  return { code, fields: checkFields(fields, check, `${at}.fields`, findings) }
}

function checkFields(
  fields: Names,
  check: CheckInformation,
  at: string,
  findings: Findings,
): AdditionalInformation['fields'] {
  const { problems } = findings
  const values = bareObject<FieldValue>()
  for (const [name, value] of Object.entries(fields)) {
    const position = { path: `${at}.${shown(name)}`, column: `${check.code}.${name}` }
    const definition = Object.hasOwn(check.fields, name) ? check.fields[name] : undefined
    if (definition === undefined) {
      const known = Object.keys(check.fields)
      problems.push(unknownField(position.path, `the check "${check.code}"`, nearest(name, known), known))
      continue
    }
    const problem = checkFieldValue(definition, value)
    if (problem === undefined) values[name] = value as FieldValue
    else problems.push({ ...position, value: shown(value), problem })
  }
  for (const [name, definition] of Object.entries(check.fields)) {
    if (!definition.required || Object.hasOwn(fields, name)) continue
    miss(findings, {
      path: `${at}.${name}`,
      problem: 'is required',
      ofFlag: requiredProblem(definition),
      column: `${check.code}.${name}`,
    })
  }
  return values
}

/** As it is typed on a terminal: a list that every order needs may be empty, if that is stated. */
function requiredProblem({ type }: { type: string }): string {
  return type === 'array' ? 'is required; write none if there are none' : 'is required'
}

/** What is wrong with a code the schema does not have. */
export function unknownCode(
  code: string,
  checks: readonly CheckInformation[],
): Pick<Problem, 'problem' | 'suggestion'> {
  const known = checks.map((check) => check.code)
  const list = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`
  return { problem: `is not a check code of this package; ${list}`, suggestion: nearest(code, known) }
}

function unknownField(
  path: string,
  owner: string,
  suggestion: string | undefined,
  known?: readonly string[],
): Problem {
  const list = known === undefined ? '' : `; it takes ${known.length === 0 ? 'none' : known.join(', ')}`
  return { path, problem: `is not a field of ${owner}${list}`, suggestion }
}

/** The own names of a JSON object; anything else is a problem. */
function namesOf(input: unknown, path: string, { problems }: Findings): Names | undefined {
  if (isJsonObject(input)) return bareObject(Object.entries(input))
  problems.push({ path, value: shown(input), problem: 'is not an object' })
  return undefined
}

function isRecipientField(name: string): name is RecipientField {
  return (recipientFields as readonly string[]).includes(name)
}
