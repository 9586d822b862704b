import { expect, test } from 'vitest'

import type { ReviewRow } from '../../src/domain/form/fields.ts'
import { reviewPages } from '../../src/output/views/order.ts'
import { processorMs } from '../harness/processor-time.ts'

const packageToOrder = { id: 102, name: 'Identity check only' }
const screen = { columns: 80, rows: 24, color: false }
/** Maximum lines of a page, so that the question below it fits on the screen. */
const maxPageLines = 15

const createRow = (group: string, column: string, value: string): ReviewRow => ({
  group,
  label: column,
  required: true,
  value,
  column,
})
const personRows = [
  createRow('Recipient', 'first_name', 'Ana'),
  createRow('Recipient', 'last_name', 'Lee'),
  createRow('Recipient', 'email', 'ana@example.com'),
  createRow('Recipient', 'phone', '+61412345678'),
]
const numbers = Array.from({ length: 1600 }, (_, index) => `n${String(index)}`)
/** Returns the answers of all pages, without the heading of each page. */
const joinAnswers = (pages: readonly string[]): string =>
  pages.flatMap((page) => page.split('\n\n')[1]?.split('\n').slice(1) ?? []).join(' ')

test('an answer of 8,000 characters is shown completely, in pages that fit the screen, within a second', () => {
  const rows = [
    ...personRows,
    createRow('Check', 'previous', 'none'),
    createRow('Check', 'title', numbers.join(' ')),
  ]
  let pages: string[] = []
  expect(processorMs(() => (pages = reviewPages(packageToOrder, rows, screen)))).toBeLessThan(1000)
  expect(joinAnswers(pages).match(/\bn\d+\b/g)).toEqual(numbers)
  for (const page of pages) {
    expect(page).toMatch(
      /^Package 102: Identity check only\nFor Ana Lee, ana@example\.com, \+61412345678\n\nFOR /,
    )
    expect(page.split('\n').length).toBeLessThanOrEqual(maxPageLines)
  }
})

test.each(['x', '漢', '👩‍👩‍👧', 'a;', '-', `a${'\u0301'.repeat(50)}`])(
  'an answer of 8,000 characters without blanks (%j) is shown completely',
  (piece) => {
    const answer = piece.repeat(8000 / piece.length)
    let pages: string[] = []
    const rows = [...personRows, createRow('Check', 'title', answer)]
    expect(processorMs(() => (pages = reviewPages(packageToOrder, rows, screen)))).toBeLessThan(2000)
    const shownAnswer = joinAnswers(pages).replaceAll(/Check +title|\s/g, '')
    expect(shownAnswer.normalize().includes(answer.normalize())).toBe(true)
  },
)

test('an e-mail that is longer than half a screen is shown completely, as a separate answer', () => {
  const email = `${numbers.join('')}@example.com`
  const pages = reviewPages(
    packageToOrder,
    [...personRows.slice(0, 2), createRow('Recipient', 'email', email)],
    screen,
  )
  expect(joinAnswers(pages).replaceAll(/\s/g, '')).toContain(email)
  expect(Math.max(...pages.map((page) => page.split('\n').length))).toBeLessThanOrEqual(maxPageLines)
})

test('the pages of an answer of a megabyte of line breaks take less than a second', () => {
  const rows = [...personRows, createRow('Check', 'title', '\n'.repeat(1 << 20))]
  expect(processorMs(() => reviewPages(packageToOrder, rows, screen))).toBeLessThan(1000)
})
