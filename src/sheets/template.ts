import { csvBytes } from './csv/write.ts'
import { plainDialect, type TemplateColumn, type XlsxColumn } from '../domain/sheet/cell.ts'
import { cutText } from '../domain/wording/cut-text.ts'
import { InvalidInputError } from '../errors/kinds.ts'
import { sanitize } from '../host/text.ts'
import { bookBytes } from './xlsx/book.ts'

/** The sheet people fill in, and the one that shows how; the second is never read as data. */
export const templateSheet = 'Requests'

export const exampleSheet = 'Example'

/** What a cell of a workbook holds at most, and a note of it that is still read. */
const longestHeader = 32_767

const longestNote = 2000

/** An empty table: a header as CSV, or a workbook whose header explains itself. */
export function templateBytes(
  columns: readonly TemplateColumn[],
  format: 'csv' | 'xlsx',
): AsyncGenerator<Uint8Array> {
  const headers = columns.map(({ header }) => header)
  for (const header of headers) check(header, format)
  if (format === 'csv') return csvBytes(headers, rowless(), plainDialect)
  return bookBytes({
    sheets: [
      { name: templateSheet, columns: columns.map(explained), rows: [] },
      {
        name: exampleSheet,
        columns: columns.map(({ header, required, text }) => ({ header, required, text })),
        rows: [{ cells: columns.map(({ example }) => example) }],
      },
    ],
  })
}

function check(header: string, format: 'csv' | 'xlsx'): void {
  const problem =
    format === 'csv' && header.includes('\0')
      ? 'a field name of this package holds a NUL character, which no CSV file can'
      : header.length > longestHeader
        ? `a field name of this package is longer than the ${String(longestHeader)} characters of a cell`
        : undefined
  if (problem !== undefined) {
    throw new InvalidInputError(problem, { hint: 'Write a JSON body instead with: --format json' })
  }
}

function explained({ header, required, note = '', text: asText, choices }: TemplateColumn): XlsxColumn {
  const text = sanitize(note, { lines: true })
  return {
    header,
    required,
    text: asText,
    choices,
    note: cutText(text, longestNote),
  }
}

async function* rowless(): AsyncGenerator<never> {}
