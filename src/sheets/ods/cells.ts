import { saysBoolean, type Cell } from '../../domain/sheet/cell.ts'

/** A cell as its XML has it. */
export interface RawCell {
  attributes: Readonly<Record<string, string>>
  /** What is shown in it; undefined where it holds no paragraph. */
  text: string | undefined
  struck: boolean
  /** Styles of parts of the text. */
  parts: string[]
  /** Whether it has a number format of its own. */
  isFormatted: boolean
}

/** A cell by its type (ODF 1.3 part 3, 19.387). What is shown tells its format. */
export function cellOf({ attributes, text, isFormatted }: RawCell): Cell {
  const type = attributes['office:value-type'] ?? attributes['calcext:value-type']
  const formula = attributes['table:formula']
  const fault = (reason: string, shown = text ?? ''): Cell => ({ kind: 'fault', text: shown, reason })
  if (attributes['calcext:value-type'] === 'error' || (formula !== undefined && isError(text))) {
    return fault(`is the error ${text ?? ''}`)
  }
  if (type === undefined) {
    return formula === undefined ? (text ?? '') : fault('is a formula whose value was not saved', formula)
  }
  if (isFormatted && text === undefined && type !== 'string') {
    const shown = 'is saved without the text that its number format shows'
    const written = Object.entries(attributes).find(([key]) => /^office:.*value$/.test(key))?.[1]
    return fault(`${shown}; open the file in LibreOffice and save it`, written)
  }
  switch (type) {
    case 'string':
      return seen(text, attributes['office:string-value'])
    case 'float':
    case 'percentage':
    case 'currency':
      return numeric(attributes['office:value'], text, type) ?? fault('is no number')
    case 'boolean': {
      const written = attributes['office:boolean-value']
      if (written !== 'true' && written !== 'false')
        return fault('is a TRUE or FALSE whose value was not saved')
      if (text === '') return fault('is a TRUE or FALSE that its number format hides', written)
      if (text !== undefined && !saysBoolean(text, written === 'true')) {
        return fault(`is ${written.toUpperCase()} shown as "${text.slice(0, 40)}"`, written)
      }
      return { kind: 'boolean', text: written, value: written === 'true' }
    }
    case 'date':
      return dated(attributes['office:date-value'] ?? '', text) ?? fault('is no date that can be read')
    case 'time':
      return timed(attributes['office:time-value'] ?? '') ?? fault('is no time of day that can be read')
    default:
      return fault(`is of the type ${type.slice(0, 40)}, which is not known`)
  }
}

/** A text, unless its number format hides or changes it: then its value is written beside what is shown. */
function seen(shown = '', value?: string): Cell {
  if (value === undefined || value.replaceAll(/\s/g, '') === shown.replaceAll(/\s/g, '')) return shown
  return {
    kind: 'fault',
    text: value,
    reason: `is shown as "${shown.slice(0, 40)}" by its number format; format the column as text and look at it again`,
    format: `;;;"${shown.replaceAll('"', '').slice(0, 200)}"`,
  }
}

function isError(text = ''): boolean {
  return /^(?:#[A-ZÄÖÜ/0?]{2,}[!?]?|Err:\d{3})$/i.test(text)
}

function numeric(written: string | undefined, shown: string | undefined, type: string): Cell | undefined {
  if (written === undefined || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(written))
    return undefined
  const value = Number(written)
  if (!Number.isFinite(value)) return undefined
  // A boolean of a formula is saved as a number and shown as a word, in the language of the office.
  if ((value === 0 || value === 1) && shown !== undefined && saysBoolean(shown, value === 1)) {
    return { kind: 'boolean', text: String(value === 1), value: value === 1 }
  }
  const text = String(value)
  if (shown === undefined)
    return { kind: 'number', text, value, format: type === 'percentage' ? '0%' : 'General' }
  return { kind: 'number', text, value, format: shown === text ? 'General' : formatOf(shown) }
}

/** A format that shows what was seen: of a plain number its decimals, of anything else its very text. */
function formatOf(shown: string): string {
  const decimals = /^-?\d+[.,](\d+)$/.exec(shown)?.[1]
  if (decimals !== undefined && shown.includes('.')) return `0.${'0'.repeat(decimals.length)}`
  return /^-?\d+$/.test(shown) && !/^-?0\d/.test(shown) ? '0' : `"${shown.replaceAll('"', '')}"`
}

/** Excel cannot count days before March 1900 as the calendar does; such a date stays a text. */
const firstSerial = 61

function dated(written: string, shown: string | undefined): Cell | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}:\d{2}:\d{2})(?:[.,]0+)?)?$/.exec(written)
  if (found === null) return undefined
  const [, year = '', month = '', day = '', clock = '00:00:00'] = found
  const date = `${year}-${month}-${day}`
  const milliseconds = Date.parse(`${date}T${clock}Z`)
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(date)) return undefined
  const text = clock === '00:00:00' ? date : `${date}T${clock}`
  const serial = milliseconds / 86_400_000 + 25_569
  if (serial < firstSerial) return text
  const time = clock === '00:00:00' ? '' : ' hh:mm:ss'
  return { kind: 'date', text, serial, format: `${shownParts(shown ?? date, year, month, day)}${time}` }
}

/** The parts of a day that are seen of it, as a format: a month as a number or a word, a year of two digits or four. */
function shownParts(shown: string, year: string, month: string, day: string): string {
  const numbers = (shown.match(/\d+/g) ?? []).map(Number)
  const take = (...wanted: number[]): boolean => {
    const at = numbers.findIndex((each) => wanted.includes(each))
    if (at !== -1) numbers.splice(at, 1)
    return at !== -1
  }
  const hasDay = take(Number(day))
  const hasMonth = take(Number(month)) || /\p{L}{3,}/u.test(shown)
  const hasYear = take(Number(year), Number(year.slice(2)))
  if (hasDay && hasMonth && hasYear) return 'yyyy-mm-dd'
  const parts = [hasDay ? 'd' : '', hasMonth ? 'mmmm' : '', hasYear ? 'yyyy' : '']
  return parts.filter((part) => part !== '').join(' ') || 'dddd'
}

function timed(written: string): Cell | undefined {
  const found = /^PT(\d{1,2})H(\d{1,2})M(\d{1,2})(?:[.,]0+)?S$/.exec(written)
  if (found === null) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map(Number)
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  const text = [hours, minutes, seconds].map((each) => String(each).padStart(2, '0')).join(':')
  return { kind: 'date', text, serial: (hours * 3600 + minutes * 60 + seconds) / 86_400, format: 'hh:mm:ss' }
}
