import type { Dialect, MergedCells, SheetRow } from '../domain/sheet/cell.ts'
import type { SheetAppearance } from '../domain/sheet/appearance.ts'
import { UndecidedError, UsageError } from '../errors/kinds.ts'
import { limits, refusal, shown } from './limits.ts'

/** An opened table. Each call of `rows` reads the file from its start. */
export interface Sheet {
  /** The source's name, for messages. */
  readonly name: string
  /** Header cells as they stand; '' for a column without a name, which holds nothing. */
  readonly columns: readonly string[]
  /** The line of the header; 0 in JSON. */
  readonly headerLine: number
  /** Columns that are not shown. */
  readonly hiddenColumns: ReadonlySet<number>
  readonly dialect: Dialect
  /** Throws an InvalidInputError where the file cannot be understood, with the place. */
  rows(): AsyncGenerator<SheetRow>
  /** The same, as many at a time as come at once: for very many rows, which one by one would take longer. */
  parts(): AsyncGenerator<SheetRow[]>
  /** What was found merged, once all rows have been read. */
  merged(): readonly MergedCells[]
  style(): SheetAppearance
  /**
   * The refusal of values whose encoding is not known, with the likeliest ones. `place` is where the first
   * is; `samples` are their texts as the cells of kind `bytes` have them.
   */
  undecided(place: string, samples: readonly string[]): Promise<UndecidedError>
}

/** What a file shows that has values alone. */
export const noLook: SheetAppearance = {
  widths: new Map(),
  struckByRule: [],
  lost: new Set(),
  otherSheets: [],
}

/** Rows that come by parts, one by one. */
export async function* oneByOne(parts: AsyncIterable<readonly SheetRow[]>): AsyncGenerator<SheetRow> {
  for await (const rows of parts) yield* rows
}

/** A row at the head of a table, as texts; '' where nothing stands. */
export interface HeadRow {
  line: number
  texts: readonly string[]
}

/** How many rows with something in them are looked at to find the header. */
export const headRows = 25

/**
 * The row that names the columns: the one asked for, else the first that holds something. Throws an
 * UndecidedError where that one looks like a title: exports of Workday and others put some above the header.
 */
export function headerRow(head: readonly HeadRow[], asked: number | undefined, name: string): HeadRow {
  if (asked !== undefined) {
    const found = head.find(({ line }) => line === asked)
    if (found !== undefined) return found
    throw new UsageError(`--header-row ${String(asked)}: line ${String(asked)} of ${name} holds nothing`, {
      hint: 'Give the number of the line that names the columns, as the spreadsheet program counts.',
    })
  }
  const [first] = head
  if (first === undefined) {
    throw refusal(name, 'it is empty', 'Its first row names the columns: first_name, last_name, email, phone')
  }
  const meant = belowTitle(head)
  if (meant === undefined) return first
  const label = (row: HeadRow): string => `line ${String(row.line)}: ${listed(row)}`
  throw new UndecidedError(
    `${name}: line ${String(first.line)}, ${shown(filled(first)[0] ?? '')}, looks like a title, not like the header`,
    {
      about: 'header-row',
      hint: `If line ${String(meant.line)} names the columns (${listed(meant)}), add: --header-row ${String(meant.line)}`,
      question: `Which line of ${name} names the columns?`,
      answers: [meant, first].map((row) => ({ value: String(row.line), label: label(row) })),
    },
  )
}

const filled = ({ texts }: HeadRow): string[] =>
  texts.map((text) => text.trim()).filter((text) => text !== '')

/** The first row that could be a header, where the first of all is too narrow to name the columns of the others. */
function belowTitle(head: readonly HeadRow[]): HeadRow | undefined {
  const [first, ...others] = head
  if (first === undefined) return undefined
  const widest = Math.max(0, ...others.map((row) => filled(row).length))
  const width = filled(first).length
  if (width >= widest || width > Math.max(1, widest / 2)) return undefined
  return others.find((row) => {
    const texts = filled(row)
    if (texts.length <= width || texts.length < widest * 0.6) return false
    return (
      texts.every((text) => /\p{L}/u.test(text) && !text.includes('@')) &&
      new Set(texts).size === texts.length
    )
  })
}

function listed(row: HeadRow): string {
  const texts = filled(row)
  const some = texts.slice(0, 5).map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 30))
  return `${some.join(', ')}${texts.length > some.length ? ', …' : ''}`
}

/** The columns of a header. Cells without a name after the last name are dropped; rows may hold nothing there. */
export function headerOf(cells: readonly string[], name: string): string[] {
  const columns = [...cells]
  while (columns.length > 0 && columns.at(-1)?.trim() === '') columns.pop()
  if (columns.length > limits.columns) {
    throw refusal(
      name,
      `it has ${String(columns.length)} columns, and at most ${String(limits.columns)} are read`,
      'Remove the columns that are not needed.',
    )
  }
  return columns.map((column) => (column.trim() === '' ? '' : column))
}
