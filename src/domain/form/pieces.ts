import type { FieldValue } from '../../contract/request-body.ts'
import { readFieldText, type ValueReading } from './field-value.ts'

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
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Without a prototype: `__proto__` is a name like any other. */
export function groupOf(entries: Iterable<readonly [string, FieldValue]>): FieldValue {
  const group = Object.create(null) as Record<string, FieldValue>
  for (const [key, value] of entries) group[key] = value
  return group
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
