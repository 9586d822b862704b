/// <reference lib="dom" />
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { PDFDocument } from '@cantoo/pdf-lib'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import type { Outcome } from '../harness/run-command.ts'
import { world } from '../harness/world.ts'
import { findViolations } from './accessibility.ts'
import { openChromium } from './chromium.ts'

let browser: Browser

beforeAll(async () => {
  browser = await openChromium()
})
afterAll(() => browser.close())

const minuteMs = 60_000
const firstNames = [
  'Ana',
  'Bartholomew',
  'Chi',
  'Zoë',
  'Dmitri',
  'Eun-ji',
  'Fátima',
  'Guðrún',
  'Mei',
  'Olúwaṣeun',
]
const lastNames = [
  'Silva',
  'O’Brien-Smith',
  'Nguyen',
  'van der Meer',
  'Tanaka',
  'Featherstonehaugh',
  'Sánchez',
  'Ng',
]

interface PeoplePage {
  folder: string
  clock: ManualClock
  type: (line: string) => Promise<Outcome>
}

async function openPage(): Promise<PeoplePage> {
  const clock = new ManualClock({ auto: true })
  const { folder, run } = await world({ clock, seed: 'page', quota: [{ calls: 100_000, seconds: 1 }] })
  return {
    folder,
    clock,
    type: (line) => run(line.split(' '), { clock, env: { REFCHECK_QUOTA: '100000/1' } }),
  }
}

/** Orders for 80 people, whose requests have different statuses. Returns the batch's id. */
async function orderForEightyPeople({ type, folder, clock }: PeoplePage): Promise<string> {
  const tags = ['', '', '', '', '+stuck', '+stalled', '+slow-referees', '+declined', '+error', '+mixed']
  const rows = Array.from({ length: 80 }, (_, at) => {
    const tag = at === 40 ? '+cut-before' : (tags[at % tags.length] ?? '')
    const [first, last] = [firstNames[(at * 7) % 10] ?? '', lastNames[(at * 3) % 8] ?? '']
    return `${first}${at},${last},${'abcdefghij'[at % 10]}${at}${tag}@example.com,+6149${String(1_000_000 + at * 7919)}`
  })
  const people = ['first_name,last_name,email,phone', ...rows, 'Bad,,bad,1', ''].join('\n')
  writeFileSync(join(folder, 'graduates-march.csv'), people)
  const run = 'batch run graduates-march.csv --package 102 --yes --on-invalid skip --json'
  for (const max of [30, 25, 15, 11]) {
    await type(`${run} --max ${max}`)
    await clock.advance(27 * 60 * minuteMs)
    await type('request list --refresh --json')
  }
  await clock.advance(5 * 24 * 60 * minuteMs)
  return ((await type('batch list --json')).json() as { batch_id: string }[])[0]?.batch_id ?? ''
}

interface Appearance {
  width?: number
  colorScheme?: 'light' | 'dark'
  isScriptEnabled?: boolean
}

/** Opens a page from a file, as a manager does. The test fails if the page makes a network request. */
async function openFile(
  path: string,
  { width = 1280, colorScheme = 'light', isScriptEnabled = true }: Appearance = {},
): Promise<Page> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 900 },
    javaScriptEnabled: isScriptEnabled,
  })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const pageErrors: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && pageErrors.push(message.text())))
  page.on('pageerror', (error) => void pageErrors.push(error.message))
  page.on('dialog', () => void pageErrors.push('a dialog'))
  page.on('request', (request) => {
    if (!/^(?:file|data):/.test(request.url())) pageErrors.push(request.url())
  })
  onTestFinished(() => expect(pageErrors).toEqual([]))
  await page.goto(`file://${path}`)
  return page
}

test('the page of 80 people has no violation in wide, narrow, light and dark, and prints on at most 3 pages', async () => {
  const here = await openPage()
  const path = join(here.folder, 'march.html')
  const id = await orderForEightyPeople(here)
  expect((await here.type(`batch export ${id} --format html --output march.html`)).code).toBe(0)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  for (const width of [1280, 400])
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openFile(path, { width, colorScheme })
      expect(await findViolations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      // The status of each person is visible without horizontal scrolling.
      const box = await page.locator('tbody .pill').first().boundingBox()
      expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThanOrEqual(width)
    }
  const page = await openFile(path)
  const paper = await page.pdf({ preferCSSPageSize: true, printBackground: true })
  expect((await PDFDocument.load(paper)).getPageCount()).toBeLessThanOrEqual(3)
  await here.type('status --html all.html')
  const all = await openFile(join(here.folder, 'all.html'))
  expect(await findViolations(all)).toEqual([])

  // Rows can be found by a part of a name without accents, and sorted by a column.
  const rows = page.locator('tbody tr:visible')
  await page.getByLabel('Find').fill('sanchez')
  expect(await rows.allInnerTexts()).toHaveLength(
    await page.locator('tbody tr', { hasText: 'Sánchez' }).count(),
  )
  await page.getByLabel('Find').fill('')
  await page.locator('.tools select').selectOption('ERROR')
  expect(await rows.locator('.pill').allInnerTexts()).toEqual(Array.from({ length: 8 }, () => 'ERROR'))
  expect(await page.locator('output').innerText()).toBe('8 of 81 shown')
  await page.locator('.tools select').selectOption('')
  for (const direction of ['ascending', 'descending']) {
    await page.getByRole('button', { name: 'E-mail' }).click()
    expect(await page.getByRole('columnheader', { name: 'E-mail' }).getAttribute('aria-sort')).toBe(direction)
    const emails = await page.locator('tbody td:nth-child(2)').allInnerTexts()
    const sorted = emails.toSorted(new Intl.Collator('en', { numeric: true }).compare)
    expect(emails).toEqual(direction === 'ascending' ? sorted : sorted.toReversed())
  }

  const plain = await openFile(path, { isScriptEnabled: false })
  expect(await plain.locator('tbody tr').count()).toBe(81)
  expect(await plain.getByLabel('Find').isVisible()).toBe(false)
})

test('names with HTML are shown as text in the table, the list of next steps and the title', async () => {
  const here = await openPage()
  const names = ['<img src=x onerror=alert(1)>', '"><script>alert(2)</script>', "' onmouseover='alert(3)"]
  const people = names.map((name, at) => [name, `a${at}+stuck@example.com`])
  // Hidden characters are refused in a file, and replaced on a page.
  const rows = [...people, ['Ana', 'x\u202Ey\u0007@example.com']].map(([name, email], at) => ({
    first_name: name,
    last_name: 'Row',
    email,
    phone: `+6149100000${at}`,
  }))
  writeFileSync(join(here.folder, '<b>march.json'), JSON.stringify(rows))
  const run = 'batch run <b>march.json --package 102 --yes --json --on-invalid skip'
  const { batch_id: id } = JSON.parse((await here.type(run)).stdout) as { batch_id: string }
  await here.clock.advance(9 * 24 * 60 * minuteMs)
  await here.type(`batch export ${id} --output odd.html`)
  const page = await openFile(join(here.folder, 'odd.html'))
  expect(await page.title()).toBe('<b>march.json')
  expect(await page.locator('tbody th').allInnerTexts()).toEqual([
    ...names.map((name) => `${name} Row`),
    // The row is invalid; its name is read from the file.
    'Ana Row',
  ])
  expect(await page.locator('tbody td').allInnerTexts()).toContain('x\uFFFDy\uFFFD@example.com')
  await page.locator('tbody tr').nth(2).hover()
  expect(await page.locator('main img, main script, h1 b').count()).toBe(0)
  expect(await findViolations(page)).toEqual([])
})
