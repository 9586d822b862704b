/**
 * Matches texts that a spreadsheet runs as a formula (OWASP "CSV Injection"), with or without apostrophes before
 * them. An added apostrophe prevents this, and is removed when the file is read. A text that already has an
 * apostrophe gets a second one, so that reading returns the original text.
 */
const formulaStart = /^'*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/
/** Matches numbers, and phone numbers of digits and spaces, which are not formulas. */
const plainNumber = /^(?:[+-]?\d+(?:\.\d+)?|\+\d[\d ]*)$/
const formulaCharacter = /[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/** Matches formulas after a delimiter, where a spreadsheet may ignore blanks and interpret a quote as its own. */
const formulaAfterDelimiter = /^[\s"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^'*\t/

/**
 * Patterns of the other delimiters and of line breaks, by the delimiter of the file. A spreadsheet that splits the
 * file at another delimiter ignores the quotes, so that the text after such a character starts a cell there.
 */
const splitPatterns = new Map([',', ';', '\t', '|'].map((delimiter) => [delimiter, splitPattern(delimiter)]))

function splitPattern(delimiter: string): RegExp {
  return new RegExp(`([\\r\\n${[',', ';', '\t', '|'].filter((each) => each !== delimiter).join('')}])`)
}

/** Returns the text as it is written into a CSV file. All CSV files of refcheck are written with this function. */
export function addFormulaMarks(text: string, delimiter = ','): string {
  if (!formulaCharacter.test(text)) return text
  const mark = formulaStart.test(text) && !plainNumber.test(text) ? "'" : ''
  const marked = changeAfterDelimiters(text, delimiter, (part) =>
    formulaAfterDelimiter.test(part) && !plainNumber.test(part.replace(/^[\s"]+/, '').trimEnd())
      ? `'${part}`
      : part,
  )
  return `${mark}${marked}`
}

/** Returns the text without the apostrophes of `addFormulaMarks`; undefined if it has none. */
export function removeFormulaMarks(text: string, delimiter = ','): string | undefined {
  if (!text.includes("'")) return undefined
  const unmark =
    (pattern: RegExp) =>
    (part: string): string =>
      part.startsWith("'") && pattern.test(part) ? part.slice(1) : part
  const clean = changeAfterDelimiters(unmark(formulaStart)(text), delimiter, unmark(formulaAfterDelimiter))
  return clean === text ? undefined : clean
}

/** Applies `change` to the text after each character that another program may split at. */
function changeAfterDelimiters(text: string, delimiter: string, change: (part: string) => string): string {
  const [start = '', ...rest] = text.split(splitPatterns.get(delimiter) ?? splitPattern(delimiter))
  return start + rest.map((part, index) => (index % 2 === 0 ? part : change(part))).join('')
}
