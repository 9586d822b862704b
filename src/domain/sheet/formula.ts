/**
 * A spreadsheet runs a text that begins with one of these as a formula (OWASP "CSV Injection"). An
 * apostrophe before it stops that, here as in most tools that export. It is taken off on reading, and one
 * more is put where a text has one of its own, so that what is written is read as it was.
 */
const dangerous = /^'*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/
/** Numbers and phone numbers of digits and spaces are no formulas. */
const noFormula = /^(?:[+-]?\d+(?:\.\d+)?|\+\d[\d ]*)$/

/** A text as it is written into a CSV file: every one of ours goes through this. */
export function marked(text: string): string {
  return dangerous.test(text) && !noFormula.test(text) ? `'${text}` : text
}

/** The text without its mark; undefined where it has none. */
export function unmarked(text: string): string | undefined {
  return text.charCodeAt(0) === 39 && dangerous.test(text) ? text.slice(1) : undefined
}
