import type { Package } from '../../contract/package.ts'
import { type Change, placeName, type FieldNaming } from '../../domain/form/problem.ts'
import type { ReviewRow } from '../../domain/form/review.ts'
import { sanitize } from '../../host/text.ts'
import { table } from '../table.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { Column, View } from '../view.ts'

const reviewColumns: Column<ReviewRow>[] = [
  { name: 'for', value: (row) => row.group },
  { name: 'field', value: (row) => row.label },
  {
    name: 'answer',
    value: (row) => row.value,
    show: (row) => row.value ?? 'not given',
    style: (row) => (row.value === undefined ? 'dim' : undefined),
  },
]

/** The answers before they are sent. */
export function reviewText(
  { id, name }: Pick<Package, 'id' | 'name'>,
  rows: readonly ReviewRow[],
  terminal: Terminal,
): string {
  return `Package ${id}: ${sanitize(name)}\n\n${table(rows, reviewColumns, terminal)}`
}

/** One value that goes out otherwise than it was given. */
export function changeText(change: Change, speech: FieldNaming): string {
  return `${placeName(change, speech)}: "${change.from}" is sent as "${change.to}"`
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
  return { json: body, text: () => sanitize(JSON.stringify(body, null, 2), { lines: true }) }
}
