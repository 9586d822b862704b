import { jsonText } from '../json.ts'
import { cutName, shownName } from '../../domain/wording/shown-name.ts'
import type { Package } from '../../contract/package.ts'
import { type Change, placeName, type FieldNaming } from '../../domain/form/problem.ts'
import type { ReviewRow } from '../../domain/form/review.ts'
import { sanitize } from '../../host/text.ts'
import type { Reporter } from '../reporter.ts'
import { table } from '../table.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { Column, View } from '../view.ts'

const reviewColumns: Column<ReviewRow>[] = [
  { name: 'for', value: (row) => row.group },
  { name: 'field', value: (row) => row.label },
  {
    name: 'answer',
    value: (row) => row.value,
    show: ({ value = 'not given', column }) => (isName(column) ? shownName(value) : cutText(value)),
    style: (row) => (row.value === undefined ? 'dim' : undefined),
  },
]

/** Lines that a question with its choices takes below a review. */
const questionLines = 10
/** More of one answer would push the person off the screen. */
const longestAnswer = 300

/**
 * The answers before they are sent, in pages that are seen whole with the question below. Where one is not enough, each
 * begins with the person.
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
  const person = rows.filter(({ group }) => group === 'Recipient').map(({ value }) => value ?? 'not given')
  const [first = '', last = '', ...rest] = person
  const head = `${title}\n${sanitize([`For ${shownName(first)} ${shownName(last)}`, ...rest].join(', '))}\n\n`
  const pages: ReviewRow[][] = []
  for (const row of rows.filter(({ group }) => group !== 'Recipient')) {
    const page = pages.at(-1)
    if (page !== undefined && linesOf(head + drawn([...page, row])) <= room + 1) page.push(row)
    else pages.push([row])
  }
  return pages.map((page) => `${head}${drawn(page)}`)
}

export const isName = (column: string): boolean => column === 'first_name' || column === 'last_name'
const cutText = (text: string): string =>
  text.length > longestAnswer ? `${text.slice(0, longestAnswer)}…` : text

const linesOf = (text: string): number => text.split('\n').length

/** Draws one page of a review, counted from 1; answers how many there are. */
export const showReview =
  (reporter: Pick<Reporter, 'block' | 'terminal'>) =>
  (rows: readonly ReviewRow[], pack: Pick<Package, 'id' | 'name'>, page: number): number => {
    const pages = reviewPages(pack, rows, reporter.terminal)
    reporter.block(pages[page - 1] ?? '')
    return pages.length
  }

/** One value that goes out otherwise than it was given. */
export function changeText(change: Change, speech: FieldNaming): string {
  return `${placeName(change, speech)}: "${sanitize(cutName(change.from))}" is sent as "${sanitize(cutName(change.to))}"`
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
  return { json: body, text: () => sanitize(jsonText(body, 2), { lines: true }) }
}
