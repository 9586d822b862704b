import { dateExists, dateRule } from '../../contract/date-format.ts'
import type { FieldDefinition } from '../../contract/package-schema.ts'
import { readFieldText, type ValueReading } from '../form/field-value.ts'
import type { Cell } from '../sheet/cell.ts'

const asText = 'format the column as text and type it again'

/** Formats whose numbers look like the digits that were typed. */
const plainFormats = new Set(['General', '@', '0'])

/** Digits that a spreadsheet has dropped: `6.14E+10`, in whichever language it runs. */
const lostDigits = /^-?\d[.,]\d+E\+\d{2,3}$/

export type TextReading = { text: string; problem?: undefined } | { problem: string; text?: undefined }

/** What is wrong with a text that a spreadsheet has had its hands on; undefined where nothing is seen. */
export function spoilt(text: string): string | undefined {
  // Nearly every text begins with a letter.
  return text.charCodeAt(0) <= 57 && lostDigits.test(text)
    ? `is in scientific notation: a spreadsheet has dropped digits of it; ${asText}`
    : undefined
}

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
      return { problem: `is a TRUE or FALSE of the spreadsheet, not a text; ${asText}` }
    case 'json':
      return { problem: 'is not a string; put it in double quotes' }
    case 'fault':
      return { problem: cell.reason }
  }
}

function numberText(value: number, format: string): TextReading {
  if (!Number.isInteger(value)) return { text: String(value) }
  if (!Number.isSafeInteger(value) || Math.abs(value) >= 1e15) {
    return { problem: `is a number of more than 15 digits, which a spreadsheet does not keep; ${asText}` }
  }
  return plainFormats.has(format)
    ? { text: String(value) }
    : { problem: `is the number ${String(value)} shown as "${format.slice(0, 40)}"; ${asText}` }
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
    case 'date':
      return dateValue(definition, cell.text)
    case 'boolean':
      if (definition.type === 'boolean') return { value: cell.value }
      return {
        problem: `is a TRUE or FALSE of the spreadsheet, and ${definition.type} is expected; ${asText}`,
      }
    case 'number': {
      if (definition.type === 'integer' || definition.type === 'number') {
        return cell.format.includes('%')
          ? { problem: 'is shown as a percentage; give the number itself' }
          : { value: cell.value }
      }
      const { text, problem } = numberText(cell.value, cell.format)
      return problem === undefined ? textValue(definition, text) : { problem }
    }
  }
}

/** A text is checked with its body; here only what a file can do to it. */
function textValue(definition: FieldDefinition, text: string): ValueReading {
  if (definition.type !== 'string') return readFieldText(definition, text)
  const problem = spoilt(text)
  return problem === undefined ? { value: text } : { problem }
}

function dateValue(definition: FieldDefinition, text: string): ValueReading {
  if (definition.type === 'string' && dateRule(definition.description) !== undefined && text.length === 10) {
    return readFieldText(definition, text)
  }
  return { problem: `is a date in the spreadsheet, and ${definition.type} is expected; ${asText}` }
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
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 'wrong'
}

/** As it stands. */
export function textIn(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** "An empty cell is an absent value" (cli-contract "Batch files"); white space is empty too. */
export function isEmpty(cell: Cell): boolean {
  if (typeof cell !== 'string') return false
  const first = cell.charCodeAt(0)
  return !(first > 32 && first < 127) && cell.trim() === ''
}
