import { dateExists, dateRule, looksLikeIsoDate } from '../../contract/date-format.ts'
import type { FieldValue } from '../../contract/request.ts'
import { maxNesting, isJsonObject } from '../../contract/parse-json.ts'
import { keepsDigits, readJson } from './json-text.ts'

/** The definition of a field, or the known parts of it, against which a value is checked. */
export interface ValueRule {
  type: string
  required: boolean
  description: string
}

export type ValueReading = { value: FieldValue; problem?: undefined } | { problem: string; value?: undefined }

/** Reads a text (a flag, a cell or a typed answer) as a value of a field's type, and checks it. */
export function readFieldText(definition: ValueRule, text: string): ValueReading {
  const reading = parseText(definition.type, text)
  if (reading.problem !== undefined) return reading
  const problem = checkFieldValue(definition, reading.value)
  return problem === undefined ? reading : { problem }
}

/** Returns why a JSON value is not valid for this field; undefined if it is valid. */
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

/** The JSON type of each type of the contract. A type that is not listed accepts any value. */
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

/** Returns a problem if the value contains anything that JSON.stringify would omit, change or throw for. */
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
  if (text === '') return { problem: 'is empty, but a whole number is expected' }
  if (text.length > 400 || !/^-?\d+$/.test(text)) return { problem: 'is not a whole number such as 12' }
  if (/^-?0\d/.test(text)) return { problem: leadingZero }
  // A JavaScript number represents 15 digits exactly.
  return text.length <= 15 && text !== '-0' ? { value: Number(text) } : exactNumber(text)
}

function parseNumber(text: string): ValueReading {
  if (text.length > 400 || !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) {
    return { problem: 'is not a number such as 12 or 12.5' }
  }
  return /^-?0\d/.test(text) ? { problem: leadingZero } : exactNumber(text)
}

const leadingZero = 'starts with a 0 that a number would lose'

function exactNumber(text: string): ValueReading {
  if (!keepsDigits(text)) return { problem: 'is too large to be sent exactly' }
  const value = Number(text)
  // JSON parsers may drop the sign of -0.
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
    const structureName = type === 'array' ? 'a list' : 'an object'
    return {
      problem: `is not ${structureName} in JSON, such as ${example}${type === 'array' ? ', or [] for none' : ''}`,
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

/** Whether a text begins like a list or object in JSON. */
export function startsLikeJson(type: 'array' | 'object', text: string): boolean {
  return text.trimStart().startsWith(type === 'array' ? '[' : '{')
}

/** Reads a list or object from JSON, and checks its type. */
export function readStructure(type: 'array' | 'object', text: string): ValueReading {
  return readFieldText({ type, required: true, description: '' }, text)
}

/** Whether a text is a word for "none", and so no item of a list: no person has one of these words as a former name. */
export const isWordForNone = (text: string): boolean =>
  /^(?:none|nil|no|n\/a|-+|null|keine|aucun)$/i.test(text)

/** Reads one item of a list, or several items separated by ; as in batch files. */
export function readItems(text: string): ItemsReading {
  if (isWordForNone(text.trim())) return { problem: 'is no item; leave it empty if there are none' }
  const items = text.split(';').map((item) => item.trim())
  return items.includes('') ? { problem: 'has an empty item beside a ;' } : { items }
}

/** Matches the name of a pair. It is a single word, so that a street with a colon is not split. */
const pairName = /^\p{L}[\p{L}\p{N}_-]{0,60}$/u

/** Reads `street: 12 High Street`. `usedNames` are names that already have a value. */
export function readPair(text: string, usedNames: readonly string[]): PairReading {
  const colon = text.indexOf(':')
  const key = text.slice(0, Math.max(colon, 0)).trim()
  const value = text.slice(colon + 1).trim()
  if (colon === -1 || !pairName.test(key)) {
    return {
      problem: 'has no name in front; give one word, a colon and the value, such as street: 12 High Street',
    }
  }
  if (usedNames.includes(key)) return { problem: `has the name "${key}", which is already there` }
  return value === '' ? { problem: `has no value after "${key}:"` } : { pair: [key, value] }
}

export function isObjectValue(value: FieldValue | undefined): value is { [name: string]: FieldValue } {
  return isJsonObject(value)
}

/** Matches a list of names in a description: `street, suburb, state, postcode and country`. */
const nameList = String.raw`((?:[a-z_]{2,30}, )+[a-z_]{2,30}(?:,? and [a-z_]{2,30})?|[a-z_]{2,30} and [a-z_]{2,30})`
const listAtEnd = new RegExp(String.raw`:\s*${nameList}\.?\s*$`)
const listInBrackets = new RegExp(String.raw`\(${nameList}\)\.?\s*$`)
const listOfItemParts = new RegExp(String.raw`\beach (?:with|as|has)(?: an?| its)? ${nameList}\.?\s*$`)
/** The number of characters at the start of a description that are searched. */
const maxSearchedLength = 400

/** Returns the parts of an object that its description lists, in that order. A list needs at least two names. */
export function partsOfObject(description: string): string[] {
  const text = description.slice(0, maxSearchedLength)
  return namesOf((listAtEnd.exec(text) ?? listInBrackets.exec(text))?.[1])
}

/** Returns the parts of each item of a list, if its description says that each item has parts. */
export function partsOfItems(description: string): string[] {
  return namesOf(listOfItemParts.exec(description.slice(0, maxSearchedLength))?.[1])
}

function namesOf(list: string | undefined): string[] {
  const names = list?.split(/,? and |, /) ?? []
  return names.length < 2 || new Set(names).size < names.length ? [] : names
}
