import { dateExists, dateRule, looksLikeIsoDate } from '../../contract/date-format.ts'
import type { FieldValue } from '../../contract/request.ts'
import { maxNesting, isJsonObject } from '../../contract/parse-json.ts'
import { keepsDigits, readJson } from './json-text.ts'

/** What a value is checked against: a field's definition in the schema, or as much of one as there is. */
export interface ValueRule {
  type: string
  required: boolean
  description: string
}

export type ValueReading = { value: FieldValue; problem?: undefined } | { problem: string; value?: undefined }

/** Reads a text (a flag, a cell, a typed answer) as a value of a field's type and checks it. */
export function readFieldText(definition: ValueRule, text: string): ValueReading {
  const reading = parseText(definition.type, text)
  if (reading.problem !== undefined) return reading
  const problem = checkFieldValue(definition, reading.value)
  return problem === undefined ? reading : { problem }
}

/** Why a JSON value is no value of this field; undefined where it is one. */
export function checkFieldValue(definition: ValueRule, value: unknown): string | undefined {
  const expected = jsonTypes.get(definition.type)
  const actual = jsonType(value)
  if (expected !== undefined && expected !== actual) {
    const advice = actual === 'null' && !definition.required ? '; leave it out instead' : ''
    return `is ${withArticle(actual)}, but ${withArticle(definition.type)} is expected${advice}`
  }
  if (typeof value === 'number') return checkNumber(definition, value)
  if (typeof value === 'string') return checkString(definition, value)
  return jsonProblem(value, 0)
}

/** What JSON calls each of the contract's types; one this program does not know takes any value. */
const jsonTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'string'],
  ['integer', 'number'],
  ['number', 'number'],
  ['boolean', 'boolean'],
  ['array', 'array'],
  ['object', 'object'],
])

function jsonType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function withArticle(type: string): string {
  if (type === 'null') return type
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

function checkNumber({ type }: ValueRule, value: number): string | undefined {
  if (!Number.isFinite(value)) return 'is not a number that JSON allows'
  if (type !== 'integer') return undefined
  if (!Number.isInteger(value)) return 'is not a whole number, but an integer is expected'
  return Number.isSafeInteger(value) ? undefined : 'is too large to be sent exactly'
}

function checkString({ description, required }: ValueRule, value: string): string | undefined {
  if (value.trim() === '' && required) return 'is empty, but required'
  const rule = dateRule(description)
  if (rule === undefined) return undefined
  if (looksLikeIsoDate(value)) return dateExists(value) ? undefined : 'is a day that does not exist'
  return rule === 'iso' ? 'is not a date in the form YYYY-MM-DD, such as 1990-04-23' : undefined
}

/** What JSON.stringify would drop, alter or die of, anywhere inside. */
function jsonProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value))
    return 'contains a number that JSON does not allow'
  if (value === null || ['string', 'boolean', 'number'].includes(typeof value)) return undefined
  if (typeof value !== 'object') return 'contains something that JSON does not allow'
  if (depth === maxNesting) return `is nested deeper than ${maxNesting} levels`
  for (const inner of Object.values(value)) {
    const problem = jsonProblem(inner, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function parseText(type: string, text: string): ValueReading {
  switch (type) {
    case 'integer':
      return parseInteger(text.trim())
    case 'number':
      return parseNumber(text.trim())
    case 'boolean':
      return parseBoolean(text.trim())
    case 'array':
    case 'object':
      return parseStructure(type, text)
    default:
      return { value: text }
  }
}

function parseInteger(text: string): ValueReading {
  if (text.length > 400 || !/^-?\d+$/.test(text)) return { problem: 'is not a whole number such as 12' }
  if (/^-?0\d/.test(text)) return { problem: leadingZero }
  // A number holds so few digits exactly.
  return text.length <= 15 && text !== '-0' ? { value: Number(text) } : exactly(text)
}

function parseNumber(text: string): ValueReading {
  if (text.length > 400 || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) {
    return { problem: 'is not a number such as 12 or 12.5' }
  }
  return /^-?0\d/.test(text) ? { problem: leadingZero } : exactly(text)
}

const leadingZero = 'starts with a 0 that a number would lose'

function exactly(text: string): ValueReading {
  if (!keepsDigits(text)) return { problem: 'is too large to be sent exactly' }
  const value = Number(text)
  // JSON has no -0.
  return { value: value === 0 ? 0 : value }
}

function parseBoolean(text: string): ValueReading {
  const word = text.length > 5 ? '' : text.toLowerCase()
  if (['yes', 'y', 'true', '1'].includes(word)) return { value: true }
  if (['no', 'n', 'false', '0'].includes(word)) return { value: false }
  return { problem: 'is neither yes nor no (or true, false, 1, 0)' }
}

function parseStructure(type: 'array' | 'object', text: string): ValueReading {
  const example = type === 'array' ? '["first", "second"]' : '{"name": "value"}'
  const { value, fault } = readJson(text)
  if (fault === undefined) return { value }
  if (/^\s*[^\s[{]/.test(text)) {
    const what = type === 'array' ? 'a list' : 'an object'
    return {
      problem: `is not ${what} in JSON, such as ${example}${type === 'array' ? ', or [] for none' : ''}`,
    }
  }
  return {
    problem: `is not JSON such as ${example}: it ${fault.reason} (character ${fault.offset + 1})`,
  }
}

type ItemsReading = { items: string[]; problem?: undefined } | { problem: string; items?: undefined }
type PairReading =
  | { pair: [name: string, value: string]; problem?: undefined }
  | { problem: string; pair?: undefined }

/** Text that is meant as JSON: a whole list or group in one answer. */
export function isJson(type: 'array' | 'object', text: string): boolean {
  return text.trimStart().startsWith(type === 'array' ? '[' : '{')
}

/** A whole list or group as JSON. */
export function readWhole(type: 'array' | 'object', text: string): ValueReading {
  return readFieldText({ type, required: true, description: '' }, text)
}

/** What people write for "none", and which is no person's former name. */
export const meansNone = (text: string): boolean => /^(?:none|nil|no|n\/a|-+|null|keine|aucun)$/i.test(text)

/** One item of a list, or several with ; between them, as a batch file has them. */
export function readItems(text: string): ItemsReading {
  if (meansNone(text.trim())) return { problem: 'is no item; leave it empty if there are none' }
  const items = text.split(';').map((item) => item.trim())
  return items.includes('') ? { problem: 'has an empty item beside a ;' } : { items }
}

/** A name is one word: a street is not split. */
const name = /^\p{L}[\p{L}\p{N}_-]{0,60}$/u

/** `street: 12 High Street`; `taken`: names that are there already. */
export function readPair(text: string, taken: readonly string[]): PairReading {
  const colon = text.indexOf(':')
  const key = text.slice(0, Math.max(colon, 0)).trim()
  const value = text.slice(colon + 1).trim()
  if (colon === -1 || !name.test(key)) {
    return {
      problem: 'has no name in front; give one word, a colon and the value, such as street: 12 High Street',
    }
  }
  if (taken.includes(key)) return { problem: `has the name "${key}", which is already there` }
  return value === '' ? { problem: `has no value after "${key}:"` } : { pair: [key, value] }
}

export function isGroup(value: FieldValue | undefined): value is { [name: string]: FieldValue } {
  return isJsonObject(value)
}

/** Names in a row, as a description lists them: `street, suburb, state, postcode and country`. */
const listed = String.raw`((?:[a-z_]{2,30}, )+[a-z_]{2,30}(?:,? and [a-z_]{2,30})?|[a-z_]{2,30} and [a-z_]{2,30})`
const atTheEnd = new RegExp(String.raw`:\s*${listed}\.?\s*$`)
const inBrackets = new RegExp(String.raw`\(${listed}\)\.?\s*$`)
const ofEach = new RegExp(String.raw`\beach (?:with|as|has)(?: an?| its)? ${listed}\.?\s*$`)
/** More of a help text is not looked through. */
const longest = 400

/** The parts of an object that its description lists, in that order; fewer than two are none. */
export function partsIn(description: string): string[] {
  const text = description.slice(0, longest)
  return namesOf((atTheEnd.exec(text) ?? inBrackets.exec(text))?.[1])
}

/** The parts of each item of a list, where its description says that each has some. */
export function partsOfItems(description: string): string[] {
  return namesOf(ofEach.exec(description.slice(0, longest))?.[1])
}

function namesOf(list: string | undefined): string[] {
  const names = list?.split(/,? and |, /) ?? []
  return names.length < 2 || new Set(names).size < names.length ? [] : names
}
