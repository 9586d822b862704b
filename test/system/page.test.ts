/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import { listen } from '../../src/server/listen.ts'
import { findViolations } from './accessibility.ts'
import { openChromium } from './chromium.ts'

let browser: Browser

beforeAll(async () => {
  browser = await openChromium()
})
afterAll(() => browser.close())

interface Visit {
  page: Page
  sandbox: Sandbox
  url: string
  /** Error messages of the page. */
  pageErrors: string[]
}

async function openSandboxPage(
  options: Partial<SandboxOptions> = {},
  context: { colorScheme?: 'light' | 'dark'; width?: number; script?: boolean } = {},
): Promise<Visit> {
  const sandbox = createSandbox({ clock: systemClock, ...options })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection))
  const browserContext = await browser.newContext({
    colorScheme: context.colorScheme ?? 'light',
    viewport: { width: context.width ?? 1200, height: 900 },
    javaScriptEnabled: context.script ?? true,
  })
  onTestFinished(async () => {
    await browserContext.close()
    await listener.close()
    sandbox.close()
  })
  const page = await browserContext.newPage()
  const pageErrors: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && pageErrors.push(message.text())))
  page.on('pageerror', (error) => void pageErrors.push(error.message))
  return { page, sandbox, url: listener.url, pageErrors }
}

async function createOrder(
  { sandbox, url }: Visit,
  first: string,
  email = 'ana@example.com',
): Promise<string> {
  const { apiKey, userEmail } = sandbox.credentials
  const recipient = { first_name: first, last_name: 'Silva', email, phone: '+61400000001' }
  const answer = await fetch(`${url}/v1/requests`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Service-API-Key': apiKey,
      'X-Service-User-Email': userEmail,
    },
    body: JSON.stringify({ package_id: sandbox.packageIds.simple, recipient }),
  })
  const { data } = (await answer.json()) as { data: { request_id: string } }
  return data.request_id
}

test('a request can be advanced with the keyboard, and the focus stays on its button', async () => {
  const visit = await openSandboxPage()
  const id = await createOrder(visit, 'Ana')
  const { page } = visit
  await page.goto(visit.url)
  const button = page.getByRole('button', { name: 'Advance the request of Ana Silva' })
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if (await button.evaluate((each) => each === document.activeElement)) break
  }
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Advance the request of Ana Silva: done.').waitFor()
  expect(visit.sandbox.requests()[0]?.status).toBe('IN_PROGRESS')
  await page.getByRole('cell', { name: 'IN_PROGRESS', exact: true }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.id)).toBe(`hasten-${id}`)
  expect(visit.pageErrors).toEqual([])
})

test('the log shows new calls without a reload, as a polite live region', async () => {
  const visit = await openSandboxPage()
  await visit.page.goto(visit.url)
  const log = visit.page.getByRole('log')
  expect(await log.getAttribute('aria-live')).toBe('polite')
  await createOrder(visit, 'Ana')
  await log.getByText('POST /v1/requests  201').waitFor()
  await visit.page.getByRole('img', { name: 'Statuses: 1 RECEIVED' }).waitFor()
  expect(visit.pageErrors).toEqual([])
})

test('a fault and a scenario can be injected', async () => {
  const visit = await openSandboxPage()
  await visit.page.goto(visit.url)
  await visit.page.getByLabel('The next request follows').selectOption('declined')
  await visit.page.locator('#inject-scenario').click()
  await visit.page.getByRole('status').getByText('The next request follows declined.').waitFor()
  await visit.page.locator('#inject-fault').click()
  await visit.page.getByRole('status').getByText('The fault applies to the next matching call.').waitFor()
  expect((await fetch(`${visit.url}/v1/users`)).status).toBe(500)
  expect(visit.pageErrors).toEqual([])
})

test('the page of a sandbox with the real clock has no control that advances the clock', async () => {
  const visit = await openSandboxPage()
  await visit.page.goto(visit.url)
  expect(await visit.page.locator('#advance').count()).toBe(0)
})

test('an event can be redelivered', async () => {
  const deliveries: string[] = []
  const visit = await openSandboxPage({
    webhookUrl: 'http://127.0.0.1:9/',
    deliver: async (_url, _headers, body) => {
      deliveries.push(Buffer.from(body).toString())
      return 204
    },
  })
  const id = await createOrder(visit, 'Ana')
  visit.sandbox.advanceRequest(id)
  await visit.page.goto(visit.url)
  await visit.page.getByRole('button', { name: /^Redeliver IN_PROGRESS/ }).click()
  await visit.page
    .getByRole('status')
    .getByText(/Redeliver .*done/)
    .waitFor()
  await expect.poll(() => deliveries.length).toBe(2)
})

test('a name with HTML is shown as text', async () => {
  const visit = await openSandboxPage()
  const name = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&'
  await createOrder(visit, name)
  await visit.page.goto(visit.url)
  visit.page.on('dialog', () => visit.pageErrors.push('a dialog'))
  await visit.page.getByText(name).first().waitFor()
  await createOrder(visit, 'Bo', 'bo@example.com')
  await visit.page.getByText('Bo Silva').first().waitFor()
  expect(await visit.page.locator('table img, table script').count()).toBe(0)
  expect(visit.pageErrors).toEqual([])
})

test('without scripts the page still shows the requests', async () => {
  const visit = await openSandboxPage({}, { script: false })
  await createOrder(visit, 'Ana')
  await visit.page.goto(visit.url)
  expect(await visit.page.getByText('Ana Silva').first().isVisible()).toBe(true)
})

test.each(['light', 'dark'] as const)(
  'axe finds no violation in %s mode, on wide and narrow screens',
  async (colorScheme) => {
    for (const width of [1280, 400]) {
      const visit = await openSandboxPage({}, { colorScheme, width })
      await createOrder(visit, 'Ana')
      await visit.page.goto(visit.url)
      expect(await findViolations(visit.page)).toEqual([])
    }
  },
)

test('at 400 pixels the status of each request and the state of each delivery are visible without scrolling', async () => {
  const visit = await openSandboxPage({ webhookUrl: 'http://127.0.0.1:9/hook' }, { width: 400 })
  await createOrder(visit, 'Maximiliane', 'maximiliane.von.hohenstein@department.example.com')
  await visit.page.goto(visit.url)
  await visit.page.getByRole('button', { name: /^Advance the request/ }).click()
  await visit.page.locator('section', { hasText: 'Webhook deliveries' }).locator('tbody tr').first().waitFor()
  for (const table of await visit.page.locator('table').all())
    for (const pill of await table.locator('.pill:visible').all()) {
      const box = await pill.boundingBox()
      expect((box?.x ?? 400) + (box?.width ?? 0)).toBeLessThanOrEqual(400)
    }
})

test('at 400 pixels the text of the chosen scenario is shown whole below the menu', async () => {
  const visit = await openSandboxPage({}, { width: 400 })
  await visit.page.goto(visit.url)
  await visit.page.locator('select[name="scenario"]').selectOption('mixed')
  const text = visit.page.getByText(/^One check is CANCELLED, the others are COMPLETED: COMPLETED\.$/)
  const box = await text.boundingBox()
  expect((box?.x ?? 400) + (box?.width ?? 400)).toBeLessThanOrEqual(400)
})

test('at 1280 pixels a long e-mail leaves room for the actions', async () => {
  const visit = await openSandboxPage({}, { width: 1280 })
  await createOrder(visit, 'Maximiliane', 'maximiliane.von.hohenstein@department.example.com')
  await visit.page.goto(visit.url)
  const button = visit.page.getByRole('button', { name: /^Advance the request/ })
  await button.click()
  await visit.page.getByRole('cell', { name: 'IN_PROGRESS', exact: true }).waitFor()
  const box = await button.boundingBox()
  const table = await visit.page.locator('#requests').boundingBox()
  expect((box?.x ?? 1280) + (box?.width ?? 0)).toBeLessThanOrEqual((table?.x ?? 0) + (table?.width ?? 0))
})

test('with a width of 320 pixels only the tables scroll horizontally', async () => {
  const visit = await openSandboxPage({}, { width: 320 })
  await createOrder(visit, 'Ana')
  await visit.page.goto(visit.url)
  expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
})

test('the charts of statuses and quota are visible without scrolling, and have text alternatives', async () => {
  const visit = await openSandboxPage()
  await createOrder(visit, 'Ana')
  await visit.page.goto(visit.url)
  for (const name of ['Statuses: 1 RECEIVED', '1 of 60 calls used', '1 of 1000 calls used']) {
    const chart = visit.page.getByRole('img', { name, exact: true })
    expect(await chart.evaluate((each) => each.getBoundingClientRect().bottom)).toBeLessThan(900)
  }
  expect(await visit.page.locator('main').ariaSnapshot()).toContain('heading "Requests" [level=2]')
  expect(await visit.page.locator('table:not(:has(caption))').count()).toBe(0)
})
