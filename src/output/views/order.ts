import { type Column, jsonText, type View } from '../view.ts'
import { cutName, shownName } from '../../domain/wording/text.ts'
import type { Package } from '../../contract/package.ts'
import { type Change, problemFieldName, type FieldNaming } from '../../domain/form/problem.ts'
import type { ReviewRow } from '../../domain/form/fields.ts'
import { sanitize } from '../../host/text.ts'
import type { Reporter } from '../reporter.ts'
import { wrapLines, styled, type Terminal } from '../terminal.ts'
import { table } from '../table.ts'

const reviewColumns: Column<ReviewRow>[] = [
  { name: 'for', value: (row) => row.group },
  { name: 'field', value: (row) => row.label },
  {
    name: 'answer',
    isUncut: true,
    value: (row) => row.value,
    show: ({ value = 'not given', column }) => (isName(column) ? shownName(value) : value),
    style: (row) => (row.value === undefined ? 'dim' : undefined),
  },
]

/** Number of lines that the question below a review needs, with its choices. */
const questionLines = 10
/** Minimum number of lines for answers on a page. */
const minAnswerLines = 3

/**
 * Returns all answers of an order for the review before sending, in pages that fit the screen together with
 * the question below them. If there are several pages, each starts with the person, and an answer longer than
 * a page continues on the next page.
 */
export function reviewPages(
  { id, name }: Pick<Package, 'id' | 'name'>,
  rows: readonly ReviewRow[],
  terminal: Terminal,
): string[] {
  const title = `Package ${id}: ${sanitize(shownName(name))}`
  const render = (pageRows: readonly ReviewRow[]): string => table(pageRows, reviewColumns, terminal)
  const singlePage = `${title}\n\n${render(rows)}`
  const maxPageLines = (terminal.rows ?? Number.POSITIVE_INFINITY) - questionLines
  if (countLines(singlePage) <= maxPageLines) return [singlePage]
  const otherRows = rows.filter(({ group }) => group !== 'Recipient')
  const titleAndPerson = `${title}\n${wrapLines(personText(rows), terminal.columns)}`
  // The person is repeated on each page only if half of the page remains for answers; otherwise it is in the rows.
  const isPersonRepeated = otherRows.length > 0 && countLines(titleAndPerson) <= maxPageLines / 2
  const head = isPersonRepeated ? titleAndPerson : title
  const maxLines = Math.max(minAnswerLines, maxPageLines - countLines(head))
  const pages: string[] = []
  let page: ReviewRow[] = []
  for (const row of isPersonRepeated ? otherRows : rows) {
    if (page.length > 0 && countLines(render([...page, row])) > maxLines) {
      pages.push(render(page))
      page = []
    }
    page.push(row)
  }
  if (page.length > 0) pages.push(render(page))
  return pages.flatMap((each) => splitTable(each, maxLines)).map((part) => `${head}\n\n${part}`)
}

/** Splits a rendered table into parts of at most `maxLines` lines, and repeats the header in each part. */
function splitTable(tableText: string, maxLines: number): string[] {
  const [header = '', ...lines] = tableText.split('\n')
  return Array.from({ length: Math.ceil(lines.length / (maxLines - 1)) }, (_, index) =>
    [header, ...lines.slice(index * (maxLines - 1), (index + 1) * (maxLines - 1))].join('\n'),
  )
}

function personText(rows: readonly ReviewRow[]): string {
  const [first = '', last = '', ...rest] = rows
    .filter(({ group }) => group === 'Recipient')
    .map(({ value }) => value ?? 'not given')
  const text = [`For ${shownName(first)} ${shownName(last)}`, ...rest].join(', ')
  return sanitize(text, { isUncut: true })
}

export const isName = (column: string): boolean => column === 'first_name' || column === 'last_name'
const countLines = (text: string): number => text.split('\n').length

/** Returns a function that prints one page of a review, counted from 1, and returns the number of pages. */
export function createReviewPrinter(reporter: Pick<Reporter, 'printBlock' | 'terminal'>) {
  let cached = { key: '', pages: [''] }
  return (rows: readonly ReviewRow[], pack: Pick<Package, 'id' | 'name'>, page: number): number => {
    const { terminal } = reporter
    const key = JSON.stringify([rows, pack, terminal])
    if (key !== cached.key) cached = { key, pages: reviewPages(pack, rows, terminal) }
    reporter.printBlock(cached.pages[page - 1] ?? '')
    return cached.pages.length
  }
}

/** Returns the name of a field with its value before and after the change. */
export function changeText(change: Change, speech: FieldNaming): string {
  return `${problemFieldName(change, speech)}: "${sanitize(cutName(change.from))}" is sent as "${sanitize(cutName(change.to))}"`
}

/** Shows the answer of `request create`. */
export function createdView(created: { request_id: string; status: string }): View {
  return {
    json: created,
    text: (terminal) =>
      `${styled(terminal, 'green', 'created')}  ${sanitize(created.request_id)}  ${sanitize(created.status)}`,
  }
}

/** Shows the answer of `--dry-run`: the exact body that would be sent. */
export function bodyView(body: unknown): View {
  return { json: body, text: () => sanitize(jsonText(body, 2), { keepsLines: true }), isVerbatim: true }
}
