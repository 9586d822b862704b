/**
 * The API document gives a field one of six JSON types and a help text (`description`, "Package schema"). Only the help
 * text shows that a string is a date. This module reads the help text, for input checks and for the JSON Schema.
 */
export type DateRule =
  /** The help text requires an ISO 8601 calendar date, and no other form. */
  | 'iso'
  /**
   * The help text mentions a date without a form: a value in ISO form must be a date that exists, other forms are
   * accepted.
   */
  | 'mentioned'

const isoForm = /\byyyy-mm-dd(?![\s_-]?t?hh)|\biso(?:[\s-]?8601)?\s+(?:calendar\s+)?date\b(?![\s-]?time)/i
const otherForm = /\bd{1,2}[/.-]mm[/.-]yy|\bmm?[/.-]dd[/.-]yy|\bdate[\s-]?time\b|\btimestamp\b/i
const anyDate = /\bdates?\b/i
/** The text names more than one date, or a choice of forms, so no single form can be required. */
const severalDates = /\bdates\b|\brange\b|\byyyy-mm-dd\W{1,3}(?:to|or|and|yyyy)\b/i
const isoStandard = /\biso[\s-]?8601\b/i

/** Returns which form of date a field's help text requires; undefined if the field is not a date. */
export function dateRule(description: string): DateRule | undefined {
  const text = description.slice(0, 2000)
  if (otherForm.test(text)) return undefined
  const iso = isoForm.test(text) || (isoStandard.test(text) && anyDate.test(text))
  if (iso && !severalDates.test(text)) return 'iso'
  return iso || anyDate.test(text) ? 'mentioned' : undefined
}

/** Pattern of the form of an ISO 8601 calendar date. The day need not exist. */
export const isoDateForm = '^\\d{4}-\\d{2}-\\d{2}$'
const isoDate = new RegExp(isoDateForm, 'u')

/** Whether the text has the form of an ISO 8601 calendar date. */
export function looksLikeIsoDate(text: string): boolean {
  return text.length === 10 && isoDate.test(text)
}

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function twoDigits(text: string, index: number): number {
  return (text.charCodeAt(index) - 48) * 10 + text.charCodeAt(index + 1) - 48
}

/** Whether a text in ISO form names a day that exists. */
export function dateExists(text: string): boolean {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 && leap ? 29 : daysOfMonths[month - 1]
  return days !== undefined && day >= 1 && day <= days
}
