import { dateRule, dateExists } from '../../contract/date-format.ts'
import type { FieldDefinition } from '../../contract/package-schema.ts'
import type { Cell, JsonRow } from '../sheet/cell.ts'
import { isGroup, meansNone, readFieldText, type ValueReading, type ValueRule } from '../form/field-value.ts'
import { findDamage } from '../sheet/loss.ts'
import { shownNumber, shownOtherwise } from '../sheet/number-format.ts'
import type { FieldValue } from '../../contract/request.ts'
import { readJson } from '../form/json-text.ts'

const asText = 'format the column as text and type it again'

export type TextReading = { text: string; problem?: undefined } | { problem: string; text?: undefined }

/** The problem of bytes whose encoding was not given; the file as a whole is refused for it. */
const undecoded = 'is not UTF-8, and its encoding is not known'

/** A cell where a text is wanted. What a spreadsheet made of the text on its own is refused, never undone. */
export function cellText(cell: Cell): TextReading {
  if (typeof cell === 'string') return { text: cell }
  switch (cell.kind) {
    case 'marked':
      return { text: cell.text }
    case 'number':
      return numberText(cell.value, cell.format)
    case 'date':
      return { problem: `is a date in the spreadsheet; ${asText}` }
    case 'boolean':
      return { problem: `is TRUE or FALSE in the spreadsheet, not text; ${asText}` }
    case 'json':
      return { problem: 'is not a string; put it in double quotes' }
    case 'fault':
      return { problem: cell.reason }
    case 'bytes':
      return { problem: undecoded }
  }
}

function numberText(value: number, format: string): TextReading {
  const text = String(value)
  if (Math.abs(value) >= 1e15) {
    return { problem: `is a number with more than 15 digits, which spreadsheets do not keep; ${asText}` }
  }
  return shownNumber(value, format) === text
    ? { text }
    : { problem: `is the number ${text} shown as "${format.slice(0, 40)}"; ${asText}` }
}

/** A cell as a value of a field's type. */
export function cellValue(definition: FieldDefinition, cell: Cell): ValueReading {
  if (typeof cell === 'string') return textValue(definition, cell)
  switch (cell.kind) {
    case 'marked':
      return textValue(definition, cell.text)
    case 'json':
      return { value: cell.value }
    case 'fault':
      return { problem: cell.reason }
    case 'bytes':
      return { problem: undecoded }
    case 'date':
      return dateValue(definition, cell.text, cell.format)
    case 'boolean':
      if (definition.type === 'boolean') return { value: cell.value }
      return {
        problem: `is TRUE or FALSE in the spreadsheet, but ${definition.type} is expected; ${asText}`,
      }
    case 'number': {
      if (definition.type === 'integer' || definition.type === 'number') {
        const problem = shownOtherwise(cell.value, cell.format)
        return problem === undefined ? { value: cell.value } : { problem }
      }
      const { text, problem } = numberText(cell.value, cell.format)
      return problem === undefined ? textValue(definition, text) : { problem }
    }
  }
}

/** A text is checked with its body; here only what a file can do to it. */
function textValue(definition: FieldDefinition, text: string): ValueReading {
  const problem = findDamage(text)
  if (problem !== undefined) return { problem }
  switch (definition.type) {
    case 'string':
      return { value: text }
    case 'number':
      return ambiguous(text.trim()) ?? readFieldText(definition, text)
    case 'array':
      return listValue(definition, text)
    default:
      return readFieldText(definition, text)
  }
}

/** `52.000` is fifty-two thousand in half of Europe; `1e5` may be a number or a reference code. */
function ambiguous(text: string): { problem: string } | undefined {
  if (/^-?\d{1,3}\.\d{3}$/.test(text)) {
    const [whole = '', thousands = ''] = text.split('.')
    const both = `${text.replace(/(?<!0)0+$/, '').replace(/\.$/, '')} or ${whole}${thousands}`
    return { problem: `may be ${both}; write one of them` }
  }
  return /^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(text)
    ? { problem: 'is in scientific notation; write the number out' }
    : undefined
}

/** A list as JSON, or its texts with ; between them; `none` says that it has none. */
export function listValue(definition: ValueRule, text: string): ValueReading {
  const bare = text.trim()
  if (bare === '') return { problem: 'is empty; write none if there are none, or separate texts with ;' }
  if (bare.toLowerCase() === 'none') return { value: [] }
  if (bare.startsWith('[')) return readFieldText(definition, text)
  if (bare.startsWith('{')) return { problem: 'is one JSON object, and a list is expected: [{…}]' }
  if (meansNone(bare)) {
    return {
      problem: `"${bare}" is not a list of names; write none if there are none, or separate texts with ;`,
    }
  }
  const items = bare.split(';').map((item) => item.trim())
  return items.includes('') ? { problem: 'has an empty text between two ;' } : { value: items }
}

/** A date is sent as its day, so that day has to be what is seen. */
function dateValue(definition: FieldDefinition, text: string, format: string): ValueReading {
  if (definition.type === 'string' && dateRule(definition.description) !== undefined && text.length === 10) {
    return showsDay(format)
      ? readFieldText(definition, text)
      : { problem: `is a date shown as "${format.slice(0, 40)}", not as a whole day; ${asText}` }
  }
  return { problem: `is a date in the spreadsheet, but ${definition.type} is expected; ${asText}` }
}

/** Calendars that are Gregorian, as the third and fourth last byte of a locale's number name them. */
const gregorian = new Set([0, 1, 2, 9, 10, 11, 12])

function showsDay(format: string): boolean {
  const locale = /\[\$-([\da-f]{5,8})\]/i.exec(format)?.[1]
  if (locale !== undefined && !gregorian.has((Number.parseInt(locale, 16) >> 16) & 0xff)) return false
  if (/(?:^|[^a-z])b[12]/i.test(format)) return false
  const [shown = ''] = format
    .replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '')
    .toLowerCase()
    .split(';')
  return /d/.test(shown) && /m/.test(shown) && /y/.test(shown)
}

/** `30/04/1990` can only be one day, `04/05/1990` two: only the first has a suggestion. */
export function isoSuggestion(definition: FieldDefinition, text: string): string | undefined {
  if (definition.type !== 'string' || dateRule(definition.description) === undefined) return undefined
  const parts = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/.exec(text.trim())
  if (parts === null) return undefined
  const [, one = '', two = '', year = ''] = parts
  const either = [
    [one, two],
    [two, one],
  ].flatMap(([day = '', month = '']) => {
    const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    return dateExists(iso) ? [iso] : []
  })
  const days = new Set(either)
  return days.size === 1 ? [...days][0] : undefined
}

/** The package a cell names. */
export function packageIdIn(cell: Cell): number | 'none' | 'wrong' {
  if (isEmpty(cell)) return 'none'
  if (typeof cell !== 'string' && cell.kind !== 'number' && cell.kind !== 'json') return 'wrong'
  const text = textIn(cell).trim()
  if (typeof cell !== 'string' && cell.kind === 'number' && shownNumber(cell.value, cell.format) !== text) {
    return 'wrong'
  }
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 'wrong'
}

/** The text of a cell, unchanged. */
export function textIn(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** "An empty cell is an absent value" (src/docs/cli.md, "Batch files"); white space is empty too. */
export function isEmpty(cell: Cell): boolean {
  if (typeof cell !== 'string') return false
  const first = cell.charCodeAt(0)
  return !(first > 32 && first < 127) && cell.trim() === ''
}

/**
 * A JSON object as columns: its names as they are, `{"recipient": {"email": …}}` and
 * `{"additional_information": [{"code": …, "fields": {…}}]}` (a request's body) taken apart as dotted names,
 * and so is an object under any other name.
 */
export function jsonRow(text: string): JsonRow {
  const { value, fault } = readJson(text)
  if (fault !== undefined) return { fault }
  const entries: [string, FieldValue][] = []
  for (const [name, inner] of Object.entries(value as Record<string, FieldValue>)) {
    if (name === 'additional_information' && Array.isArray(inner)) {
      const parts = informationEntries(inner)
      if (parts === undefined) return wrongInformation
      entries.push(...parts)
    } else if (isGroup(inner) && !name.includes('.')) {
      for (const [part, deep] of Object.entries(inner)) entries.push([`${name}.${part}`, deep])
    } else {
      entries.push([name, inner])
    }
  }
  const names = new Set<string>()
  for (const [name] of entries) {
    if (names.has(name)) return { fault: { reason: `has "${name.slice(0, 80)}" twice`, offset: 0 } }
    names.add(name)
  }
  return { entries }
}

const wrongInformation: JsonRow = {
  fault: { reason: 'additional_information is not a list of {"code", "fields"}', offset: 0 },
}

function informationEntries(list: readonly FieldValue[]): [string, FieldValue][] | undefined {
  const entries: [string, FieldValue][] = []
  for (const each of list) {
    if (!isGroup(each) || typeof each['code'] !== 'string' || !isGroup(each['fields'])) return undefined
    if (Object.keys(each).length !== 2) return undefined
    for (const [name, value] of Object.entries(each['fields']))
      entries.push([`${each['code']}.${name}`, value])
  }
  return entries
}
