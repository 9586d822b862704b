import { expect, test } from 'vitest'

import type { ReviewRow } from '../../src/domain/form/fields.ts'
import { reviewPages } from '../../src/output/views/order.ts'
import { processorMs } from '../harness/processor-time.ts'

const pack = { id: 102, name: 'Identity check only' }
const screen = { columns: 80, rows: 24, color: false }
/** Lines of a page, below which the question has room. */
const room = 15

const row = (group: string, column: string, value: string): ReviewRow => ({
  group,
  label: column,
  required: true,
  value,
  column,
})
const person = [
  row('Recipient', 'first_name', 'Ana'),
  row('Recipient', 'last_name', 'Lee'),
  row('Recipient', 'email', 'ana@example.com'),
  row('Recipient', 'phone', '+61412345678'),
]
const numbers = Array.from({ length: 1600 }, (_, at) => `n${String(at)}`)
/** What the pages say in their last column, without what each repeats. */
const answersOf = (pages: readonly string[]): string =>
  pages.flatMap((page) => page.split('\n\n')[1]?.split('\n').slice(1) ?? []).join(' ')

test('an answer of 8,000 characters is shown whole, in pages that fit the screen, within a second', () => {
  const rows = [...person, row('Check', 'previous', 'none'), row('Check', 'title', numbers.join(' '))]
  let pages: string[] = []
  expect(processorMs(() => (pages = reviewPages(pack, rows, screen)))).toBeLessThan(1000)
  expect(answersOf(pages).match(/\bn\d+\b/g)).toEqual(numbers)
  for (const page of pages) {
    expect(page).toMatch(
      /^Package 102: Identity check only\nFor Ana Lee, ana@example\.com, \+61412345678\n\nFOR /,
    )
    expect(page.split('\n').length).toBeLessThanOrEqual(room)
  }
})

test.each(['x', '漢', '👩‍👩‍👧', 'a;', '-', `a${'\u0301'.repeat(50)}`])(
  'an answer of 8,000 characters without blanks (%j) loses none of them',
  (piece) => {
    const answer = piece.repeat(8000 / piece.length)
    let pages: string[] = []
    const rows = [...person, row('Check', 'title', answer)]
    expect(processorMs(() => (pages = reviewPages(pack, rows, screen)))).toBeLessThan(2000)
    const shown = answersOf(pages).replaceAll(/Check +title|\s/g, '')
    expect(shown.normalize().includes(answer.normalize())).toBe(true)
  },
)

test('an e-mail that takes more than half a screen is an answer of its own, shown whole', () => {
  const email = `${numbers.join('')}@example.com`
  const pages = reviewPages(pack, [...person.slice(0, 2), row('Recipient', 'email', email)], screen)
  expect(answersOf(pages).replaceAll(/\s/g, '')).toContain(email)
  expect(Math.max(...pages.map((page) => page.split('\n').length))).toBeLessThanOrEqual(room)
})

test('an answer of a megabyte of line breaks takes a moment', () => {
  const rows = [...person, row('Check', 'title', '\n'.repeat(1 << 20))]
  expect(processorMs(() => reviewPages(pack, rows, screen))).toBeLessThan(1000)
})
