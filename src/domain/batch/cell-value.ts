import { dateRule, dateExists } from '../../contract/date-format.ts'
import type { FieldDefinition } from '../../contract/package-schema.ts'
import type { Cell, JsonRow } from '../sheet/cell.ts'
import {
  isObjectValue,
  isWordForNone,
  readFieldText,
  type ValueReading,
  type ValueRule,
} from '../form/field-value.ts'
import { findDamage } from '../sheet/loss.ts'
import { displayedNumber, findDisplayDifference } from '../sheet/number-format.ts'
import type { FieldValue } from '../../contract/request.ts'
import { readJson } from '../form/json-text.ts'

const retypeAsText = 'format the column as text and type it again'

export type TextReading = { text: string; problem?: undefined } | { problem: string; text?: undefined }

/** The problem of a value whose encoding is not known. The whole file is refused for it. */
const unknownEncoding = 'is not UTF-8, and its encoding is not known'

/**
 * Reads a cell of a text column. A value that a spreadsheet program converted from the text is refused, because the
 * conversion cannot be reversed safely.
 */
export function cellText(cell: Cell): TextReading {
  if (typeof cell === 'string') return { text: cell }
  switch (cell.kind) {
    case 'escaped':
      return { text: cell.text }
    case 'number':
      return numberText(cell.value, cell.format)
    case 'date':
      return { problem: `is a date in the spreadsheet; ${retypeAsText}` }
    case 'boolean':
      return { problem: `is TRUE or FALSE in the spreadsheet, not text; ${retypeAsText}` }
    case 'json':
      return { problem: 'is not a string; put it in double quotes' }
    case 'fault':
      return { problem: cell.reason }
    case 'bytes':
      return { problem: unknownEncoding }
  }
}

function numberText(value: number, format: string): TextReading {
  const text = String(value)
  if (Math.abs(value) >= 1e15) {
    return {
      problem: `is a number with more than 15 digits, which spreadsheets do not keep; ${retypeAsText}`,
    }
  }
  return displayedNumber(value, format) === text
    ? { text }
    : { problem: `is the number ${text} shown as "${format.slice(0, 40)}"; ${retypeAsText}` }
}

/** Reads a cell as a value of a field's type. */
export function cellValue(definition: FieldDefinition, cell: Cell): ValueReading {
  if (typeof cell === 'string') return textValue(definition, cell)
  switch (cell.kind) {
    case 'escaped':
      return textValue(definition, cell.text)
    case 'json':
      return { value: cell.value }
    case 'fault':
      return { problem: cell.reason }
    case 'bytes':
      return { problem: unknownEncoding }
    case 'date':
      return dateValue(definition, cell.text, cell.format)
    case 'boolean':
      if (definition.type === 'boolean') return { value: cell.value }
      return {
        problem: `is TRUE or FALSE in the spreadsheet, but ${definition.type} is expected; ${retypeAsText}`,
      }
    case 'number': {
      if (definition.type === 'integer' || definition.type === 'number') {
        const problem = findDisplayDifference(cell.value, cell.format)
        return problem === undefined ? { value: cell.value } : { problem }
      }
      const { text, problem } = numberText(cell.value, cell.format)
      return problem === undefined ? textValue(definition, text) : { problem }
    }
  }
}

/** Reads a text. It checks only damage that a file can cause; `validateBody` checks the value. */
function textValue(definition: FieldDefinition, text: string): ValueReading {
  const problem = findDamage(text)
  if (problem !== undefined) return { problem }
  switch (definition.type) {
    case 'string':
      return { value: text }
    case 'number':
      return ambiguousNumber(text.trim()) ?? readFieldText(definition, text)
    case 'array':
      return listValue(definition, text)
    default:
      return readFieldText(definition, text)
  }
}

/** `52.000` is fifty-two thousand in half of Europe; `1e5` may be a number or a reference code. */
function ambiguousNumber(text: string): { problem: string } | undefined {
  if (/^-?\d{1,3}\.\d{3}$/.test(text)) {
    const [whole = '', thousands = ''] = text.split('.')
    const readings = `${text.replace(/(?<!0)0+$/, '').replace(/\.$/, '')} or ${whole}${thousands}`
    return { problem: `may be ${readings}; write one of them` }
  }
  return /^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(text)
    ? { problem: 'is in scientific notation; write the number out' }
    : undefined
}

/** Reads a list: JSON, or texts separated by ; or `none` for an empty list. */
export function listValue(definition: ValueRule, text: string): ValueReading {
  const trimmed = text.trim()
  if (trimmed === '') return { problem: 'is empty; write none if there are none, or separate texts with ;' }
  if (trimmed.toLowerCase() === 'none') return { value: [] }
  if (trimmed.startsWith('[')) return readFieldText(definition, text)
  if (trimmed.startsWith('{')) return { problem: 'is one JSON object, and a list is expected: [{…}]' }
  if (isWordForNone(trimmed)) {
    return {
      problem: `"${trimmed}" is not a list of names; write none if there are none, or separate texts with ;`,
    }
  }
  const items = trimmed.split(';').map((item) => item.trim())
  return items.includes('') ? { problem: 'has an empty text between two ;' } : { value: items }
}

/** A date is sent as a day, so the format of the cell has to show that day. */
function dateValue(definition: FieldDefinition, text: string, format: string): ValueReading {
  if (definition.type === 'string' && dateRule(definition.description) !== undefined && text.length === 10) {
    return showsWholeDay(format)
      ? readFieldText(definition, text)
      : { problem: `is a date shown as "${format.slice(0, 40)}", not as a whole day; ${retypeAsText}` }
  }
  return { problem: `is a date in the spreadsheet, but ${definition.type} is expected; ${retypeAsText}` }
}

/** The Gregorian calendars. A locale number of a format names its calendar in bits 16 to 23. */
const gregorian = new Set([0, 1, 2, 9, 10, 11, 12])

function showsWholeDay(format: string): boolean {
  const locale = /\[\$-([\da-f]{5,8})\]/i.exec(format)?.[1]
  if (locale !== undefined && !gregorian.has((Number.parseInt(locale, 16) >> 16) & 0xff)) return false
  if (/(?:^|[^a-z])b[12]/i.test(format)) return false
  const [firstSection = ''] = format
    .replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '')
    .toLowerCase()
    .split(';')
  return /d/.test(firstSection) && /m/.test(firstSection) && /y/.test(firstSection)
}

/**
 * Suggests an ISO date. `30/04/1990` has a suggestion, because it can be only one day; `04/05/1990` may be two, so it
 * has none.
 */
export function isoSuggestion(definition: FieldDefinition, text: string): string | undefined {
  if (definition.type !== 'string' || dateRule(definition.description) === undefined) return undefined
  const parts = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/.exec(text.trim())
  if (parts === null) return undefined
  const [, one = '', two = '', year = ''] = parts
  const existingDays = [
    [one, two],
    [two, one],
  ].flatMap(([day = '', month = '']) => {
    const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    return dateExists(iso) ? [iso] : []
  })
  const days = new Set(existingDays)
  return days.size === 1 ? [...days][0] : undefined
}

/** Returns the package id in a cell; 'none' for an empty cell, 'wrong' for a cell without a valid id. */
export function packageIdOf(cell: Cell): number | 'none' | 'wrong' {
  if (isEmpty(cell)) return 'none'
  if (typeof cell !== 'string' && cell.kind !== 'number' && cell.kind !== 'json') return 'wrong'
  const text = textOfCell(cell).trim()
  if (
    typeof cell !== 'string' &&
    cell.kind === 'number' &&
    displayedNumber(cell.value, cell.format) !== text
  ) {
    return 'wrong'
  }
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 'wrong'
}

/** Returns the text of a cell, unchanged. */
export function textOfCell(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** Whether a cell is empty or white space: "An empty cell is an absent value" (src/docs/cli.md, "Batch files"). */
export function isEmpty(cell: Cell): boolean {
  if (typeof cell !== 'string') return false
  const first = cell.charCodeAt(0)
  return !(first > 32 && first < 127) && cell.trim() === ''
}

/**
 * Reads a JSON object as a row. Its names are columns. A nested object becomes several columns with dotted names, such
 * as `recipient.email`. The list `additional_information` of a request's body becomes columns named `CODE.FIELD`.
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
    } else if (isObjectValue(inner) && !name.includes('.')) {
      for (const [partName, partValue] of Object.entries(inner))
        entries.push([`${name}.${partName}`, partValue])
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
  for (const item of list) {
    if (!isObjectValue(item) || typeof item['code'] !== 'string' || !isObjectValue(item['fields']))
      return undefined
    if (Object.keys(item).length !== 2) return undefined
    for (const [name, value] of Object.entries(item['fields']))
      entries.push([`${item['code']}.${name}`, value])
  }
  return entries
}
