/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/embedded.ts'
import { listen } from '../../src/server/listen.ts'
import { violations } from './accessibility.ts'
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
  /** What the page complained of. */
  complaints: string[]
}

async function visit(
  options: Partial<SandboxOptions> = {},
  context: { colorScheme?: 'light' | 'dark'; width?: number; script?: boolean } = {},
): Promise<Visit> {
  const sandbox = createSandbox({ clock: systemClock, ...options })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection))
  const opened = await browser.newContext({
    colorScheme: context.colorScheme ?? 'light',
    viewport: { width: context.width ?? 1200, height: 900 },
    javaScriptEnabled: context.script ?? true,
  })
  onTestFinished(async () => {
    await opened.close()
    await listener.close()
    sandbox.close()
  })
  const page = await opened.newPage()
  const complaints: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
  page.on('pageerror', (error) => void complaints.push(error.message))
  return { page, sandbox, url: listener.url, complaints }
}

async function order({ sandbox, url }: Visit, first: string, email = 'ana@example.com'): Promise<string> {
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

test('the keyboard alone: a request is advanced, and the focus stays where it was', async () => {
  const place = await visit()
  const id = await order(place, 'Ana')
  const { page } = place
  await page.goto(place.url)
  const button = page.getByRole('button', { name: 'Advance the request of Ana Silva' })
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if (await button.evaluate((each) => each === document.activeElement)) break
  }
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Advance the request of Ana Silva: done.').waitFor()
  expect(place.sandbox.requests()[0]?.status).toBe('IN_PROGRESS')
  await page.getByRole('cell', { name: 'IN_PROGRESS', exact: true }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.id)).toBe(`hasten-${id}`)
  expect(place.complaints).toEqual([])
})

test('the log grows by itself when a call is made, and is read out politely', async () => {
  const place = await visit()
  await place.page.goto(place.url)
  const log = place.page.getByRole('log')
  expect(await log.getAttribute('aria-live')).toBe('polite')
  await order(place, 'Ana')
  await log.getByText('POST /v1/requests  201').waitFor()
  await place.page.getByRole('img', { name: 'Statuses: 1 RECEIVED' }).waitFor()
  expect(place.complaints).toEqual([])
})

test('a fault and a scenario are injected', async () => {
  const place = await visit()
  await place.page.goto(place.url)
  await place.page.getByLabel('The next request follows').selectOption('declined')
  await place.page.locator('#inject-scenario').click()
  await place.page.getByRole('status').getByText('The next request follows declined.').waitFor()
  await place.page.locator('#inject-fault').click()
  await place.page.getByRole('status').getByText('The fault applies to the next matching call.').waitFor()
  expect((await fetch(`${place.url}/v1/users`)).status).toBe(500)
  expect(place.complaints).toEqual([])
})

test('a manual clock is moved on; a real one has no such control', async () => {
  const real = await visit()
  await real.page.goto(real.url)
  expect(await real.page.locator('#advance').count()).toBe(0)
})

test('an event is redelivered', async () => {
  const deliveries: string[] = []
  const place = await visit({
    webhookUrl: 'http://127.0.0.1:9/',
    deliver: async (_url, _headers, body) => {
      deliveries.push(Buffer.from(body).toString())
      return 204
    },
  })
  const id = await order(place, 'Ana')
  place.sandbox.advanceRequest(id)
  await place.page.goto(place.url)
  await place.page.getByRole('button', { name: /^Redeliver IN_PROGRESS/ }).click()
  await place.page
    .getByRole('status')
    .getByText(/Redeliver .*done/)
    .waitFor()
  await expect.poll(() => deliveries.length).toBe(2)
})

test('a hostile name is a name', async () => {
  const place = await visit()
  const name = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&'
  await order(place, name)
  await place.page.goto(place.url)
  place.page.on('dialog', () => place.complaints.push('a dialog'))
  await place.page.getByText(name).first().waitFor()
  await order(place, 'Bo', 'bo@example.com')
  await place.page.getByText('Bo Silva').first().waitFor()
  expect(await place.page.locator('table img, table script').count()).toBe(0)
  expect(place.complaints).toEqual([])
})

test('without a script it still shows what is going on', async () => {
  const place = await visit({}, { script: false })
  await order(place, 'Ana')
  await place.page.goto(place.url)
  expect(await place.page.getByText('Ana Silva').first().isVisible()).toBe(true)
})

test.each(['light', 'dark'] as const)(
  'axe finds nothing wrong in %s, wide or narrow',
  async (colorScheme) => {
    for (const width of [1280, 400]) {
      const place = await visit({}, { colorScheme, width })
      await order(place, 'Ana')
      await place.page.goto(place.url)
      expect(await violations(place.page)).toEqual([])
    }
  },
)

test('at 320 pixels nothing but the tables scrolls sideways', async () => {
  const place = await visit({}, { width: 320 })
  await order(place, 'Ana')
  await place.page.goto(place.url)
  expect(await place.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
})

test('how things stand is above the fold: figures, statuses by word, the quota as bars', async () => {
  const place = await visit()
  await order(place, 'Ana')
  await place.page.goto(place.url)
  for (const name of ['Statuses: 1 RECEIVED', '1 of 60 calls used', '1 of 1000 calls used']) {
    const chart = place.page.getByRole('img', { name, exact: true })
    expect(await chart.evaluate((each) => each.getBoundingClientRect().bottom)).toBeLessThan(900)
  }
  expect(await place.page.locator('main').ariaSnapshot()).toContain('heading "Requests" [level=2]')
  expect(await place.page.locator('table:not(:has(caption))').count()).toBe(0)
})
