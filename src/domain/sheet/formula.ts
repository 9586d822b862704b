/**
 * A spreadsheet runs a text that begins with one of these as a formula (OWASP "CSV Injection"). An
 * apostrophe before it stops that, here as in most tools that export. It is taken off on reading, and one
 * more is put where a text has one of its own, so that what is written is read as it was.
 */
const dangerous = /^'*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/
/** Numbers and phone numbers of digits and spaces are no formulas. */
const noFormula = /^(?:[+-]?\d+(?:\.\d+)?|\+\d[\d ]*)$/
const first = /[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/** The same behind a delimiter, where a spreadsheet may leave out blanks, and takes a quote as its own. */
const dangerousInside = /^[\s"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^'*\t/

/**
 * A spreadsheet that splits a file at another delimiter than the file's own does not know its quotes: what follows that
 * delimiter, or a line break, begins a cell there.
 */
const others = new Map([',', ';', '\t', '|'].map((own) => [own, otherDelimiters(own)]))

function otherDelimiters(own: string): RegExp {
  return new RegExp(`([\\r\\n${[',', ';', '\t', '|'].filter((each) => each !== own).join('')}])`)
}

/** A text as it is written into a CSV file: every one of ours goes through this. */
export function addFormulaMarks(text: string, delimiter = ','): string {
  if (!first.test(text)) return text
  const start = dangerous.test(text) && !noFormula.test(text) ? "'" : ''
  const inside = inner(text, delimiter, (part) =>
    dangerousInside.test(part) && !noFormula.test(part.replace(/^[\s"]+/, '').trimEnd()) ? `'${part}` : part,
  )
  return `${start}${inside}`
}

/** The text without its marks; undefined where it has none. */
export function removeFormulaMarks(text: string, delimiter = ','): string | undefined {
  if (!text.includes("'")) return undefined
  const unmark =
    (pattern: RegExp) =>
    (part: string): string =>
      part.startsWith("'") && pattern.test(part) ? part.slice(1) : part
  const clean = inner(unmark(dangerous)(text), delimiter, unmark(dangerousInside))
  return clean === text ? undefined : clean
}

/** Changes the text after each delimiter. */
function inner(text: string, delimiter: string, change: (part: string) => string): string {
  const [start = '', ...rest] = text.split(others.get(delimiter) ?? otherDelimiters(delimiter))
  return start + rest.map((part, at) => (at % 2 === 0 ? part : change(part))).join('')
}
