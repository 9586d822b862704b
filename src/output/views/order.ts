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
    uncut: true,
    value: (row) => row.value,
    show: ({ value = 'not given', column }) => (isName(column) ? shownName(value) : value),
    style: (row) => (row.value === undefined ? 'dim' : undefined),
  },
]

/** Lines that a question with its choices takes below a review. */
const questionLines = 10
/** Lines of answers on a page, however little room the person leaves for them. */
const fewestLines = 3

/**
 * All answers before they are sent, in pages that are seen whole with the question below. Where one is not enough, each
 * begins with the person; an answer that is longer than a page continues on the next.
 */
export function reviewPages(
  { id, name }: Pick<Package, 'id' | 'name'>,
  rows: readonly ReviewRow[],
  terminal: Terminal,
): string[] {
  const title = `Package ${id}: ${sanitize(shownName(name))}`
  const drawn = (some: readonly ReviewRow[]): string => table(some, reviewColumns, terminal)
  const whole = `${title}\n\n${drawn(rows)}`
  const room = (terminal.rows ?? Number.POSITIVE_INFINITY) - questionLines
  if (linesOf(whole) <= room) return [whole]
  const others = rows.filter(({ group }) => group !== 'Recipient')
  const person = `${title}\n${wrapLines(personText(rows), terminal.columns)}`
  // A page leaves room for answers, and shows the person at least once.
  const isRepeated = others.length > 0 && linesOf(person) <= room / 2
  const head = isRepeated ? person : title
  const maxLines = Math.max(fewestLines, room - linesOf(head))
  const pages: string[] = []
  let page: ReviewRow[] = []
  for (const row of isRepeated ? others : rows) {
    if (page.length > 0 && linesOf(drawn([...page, row])) > maxLines) {
      pages.push(drawn(page))
      page = []
    }
    page.push(row)
  }
  if (page.length > 0) pages.push(drawn(page))
  return pages.flatMap((each) => parts(each, maxLines)).map((part) => `${head}\n\n${part}`)
}

/** A drawn table in parts of at most so many lines, each below its header. */
function parts(drawn: string, maxLines: number): string[] {
  const [header = '', ...lines] = drawn.split('\n')
  return Array.from({ length: Math.ceil(lines.length / (maxLines - 1)) }, (_, at) =>
    [header, ...lines.slice(at * (maxLines - 1), (at + 1) * (maxLines - 1))].join('\n'),
  )
}

function personText(rows: readonly ReviewRow[]): string {
  const [first = '', last = '', ...rest] = rows
    .filter(({ group }) => group === 'Recipient')
    .map(({ value }) => value ?? 'not given')
  const text = [`For ${shownName(first)} ${shownName(last)}`, ...rest].join(', ')
  return sanitize(text, { uncut: true })
}

export const isName = (column: string): boolean => column === 'first_name' || column === 'last_name'
const linesOf = (text: string): number => text.split('\n').length

/** Draws one page of a review, counted from 1; answers how many there are. */
export function showReview(reporter: Pick<Reporter, 'printBlock' | 'terminal'>) {
  let drawn = { of: '', pages: [''] }
  return (rows: readonly ReviewRow[], pack: Pick<Package, 'id' | 'name'>, page: number): number => {
    const { terminal } = reporter
    const of = JSON.stringify([rows, pack, terminal])
    if (of !== drawn.of) drawn = { of, pages: reviewPages(pack, rows, terminal) }
    reporter.printBlock(drawn.pages[page - 1] ?? '')
    return drawn.pages.length
  }
}

/** One value that goes out otherwise than it was given. */
export function changeText(change: Change, speech: FieldNaming): string {
  return `${problemFieldName(change, speech)}: "${sanitize(cutName(change.from))}" is sent as "${sanitize(cutName(change.to))}"`
}

/** The answer of `request create`. */
export function createdView(created: { request_id: string; status: string }): View {
  return {
    json: created,
    text: (terminal) =>
      `${styled(terminal, 'green', 'created')}  ${sanitize(created.request_id)}  ${sanitize(created.status)}`,
  }
}

/** The answer of `--dry-run`: the body to the letter. */
export function bodyView(body: unknown): View {
  return { json: body, text: () => sanitize(jsonText(body, 2), { lines: true }), isVerbatim: true }
}
