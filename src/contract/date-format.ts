/**
 * The document gives a field six JSON types and a help text; that a string is a date is in the help
 * text alone ("Package schema", `description`). This reads it there, for people and for the JSON Schema.
 */
export type DateRule =
  /** The text asks for an ISO 8601 calendar date: nothing else will do. */
  | 'iso'
  /** The text mentions a date and no form: what looks like an ISO date must exist, other forms pass. */
  | 'mentioned'

const isoForm = /\byyyy-mm-dd(?![\s_-]?t?hh)|\biso(?:[\s-]?8601)?\s+(?:calendar\s+)?date\b(?![\s-]?time)/i
const otherForm = /\bd{1,2}[/.-]mm[/.-]yy|\bmm?[/.-]dd[/.-]yy|\bdate[\s-]?time\b|\btimestamp\b/i
const anyDate = /\bdates?\b/i
/** More than one date, or a choice of forms: no single form can be insisted on. */
const several = /\bdates\b|\brange\b|\byyyy-mm-dd\W{1,3}(?:to|or|and|yyyy)\b/i
const isoWord = /\biso[\s-]?8601\b/i

/** What a field's help text asks of its dates, if anything. */
export function dateRule(description: string): DateRule | undefined {
  const text = description.slice(0, 2000)
  if (otherForm.test(text)) return undefined
  const iso = isoForm.test(text) || (isoWord.test(text) && anyDate.test(text))
  if (iso && !several.test(text)) return 'iso'
  return iso || anyDate.test(text) ? 'mentioned' : undefined
}

/** The form of an ISO 8601 calendar date, existing or not. */
export const isoDateForm = '^\\d{4}-\\d{2}-\\d{2}$'
const isoDate = new RegExp(isoDateForm, 'u')

/** Whether the text has the form of an ISO 8601 calendar date. */
export function looksLikeIsoDate(text: string): boolean {
  return text.length === 10 && isoDate.test(text)
}

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48
}

/** Whether a text of that form names a day that exists. */
export function dateExists(text: string): boolean {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = month === 2 && leap ? 29 : daysOfMonths[month - 1]
  return days !== undefined && day >= 1 && day <= days
}
