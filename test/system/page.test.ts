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
  const visited = await visit()
  const id = await order(visited, 'Ana')
  const { page } = visited
  await page.goto(visited.url)
  const button = page.getByRole('button', { name: 'Advance the request of Ana Silva' })
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if (await button.evaluate((each) => each === document.activeElement)) break
  }
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Advance the request of Ana Silva: done.').waitFor()
  expect(visited.sandbox.requests()[0]?.status).toBe('IN_PROGRESS')
  await page.getByRole('cell', { name: 'IN_PROGRESS', exact: true }).waitFor()
  expect(await page.evaluate(() => document.activeElement?.id)).toBe(`hasten-${id}`)
  expect(visited.complaints).toEqual([])
})

test('the log grows by itself when a call is made, and is read out politely', async () => {
  const visited = await visit()
  await visited.page.goto(visited.url)
  const log = visited.page.getByRole('log')
  expect(await log.getAttribute('aria-live')).toBe('polite')
  await order(visited, 'Ana')
  await log.getByText('POST /v1/requests  201').waitFor()
  await visited.page.getByRole('img', { name: 'Statuses: 1 RECEIVED' }).waitFor()
  expect(visited.complaints).toEqual([])
})

test('a fault and a scenario are injected', async () => {
  const visited = await visit()
  await visited.page.goto(visited.url)
  await visited.page.getByLabel('The next request follows').selectOption('declined')
  await visited.page.locator('#inject-scenario').click()
  await visited.page.getByRole('status').getByText('The next request follows declined.').waitFor()
  await visited.page.locator('#inject-fault').click()
  await visited.page.getByRole('status').getByText('The fault applies to the next matching call.').waitFor()
  expect((await fetch(`${visited.url}/v1/users`)).status).toBe(500)
  expect(visited.complaints).toEqual([])
})

test('a manual clock is moved on; a real one has no such control', async () => {
  const real = await visit()
  await real.page.goto(real.url)
  expect(await real.page.locator('#advance').count()).toBe(0)
})

test('an event is redelivered', async () => {
  const deliveries: string[] = []
  const visited = await visit({
    webhookUrl: 'http://127.0.0.1:9/',
    deliver: async (_url, _headers, body) => {
      deliveries.push(Buffer.from(body).toString())
      return 204
    },
  })
  const id = await order(visited, 'Ana')
  visited.sandbox.advanceRequest(id)
  await visited.page.goto(visited.url)
  await visited.page.getByRole('button', { name: /^Redeliver IN_PROGRESS/ }).click()
  await visited.page
    .getByRole('status')
    .getByText(/Redeliver .*done/)
    .waitFor()
  await expect.poll(() => deliveries.length).toBe(2)
})

test('a hostile name is a name', async () => {
  const visited = await visit()
  const name = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'&'
  await order(visited, name)
  await visited.page.goto(visited.url)
  visited.page.on('dialog', () => visited.complaints.push('a dialog'))
  await visited.page.getByText(name).first().waitFor()
  await order(visited, 'Bo', 'bo@example.com')
  await visited.page.getByText('Bo Silva').first().waitFor()
  expect(await visited.page.locator('table img, table script').count()).toBe(0)
  expect(visited.complaints).toEqual([])
})

test('without a script it still shows what is going on', async () => {
  const visited = await visit({}, { script: false })
  await order(visited, 'Ana')
  await visited.page.goto(visited.url)
  expect(await visited.page.getByText('Ana Silva').first().isVisible()).toBe(true)
})

test.each(['light', 'dark'] as const)(
  'axe finds nothing wrong in %s, wide or narrow',
  async (colorScheme) => {
    for (const width of [1280, 400]) {
      const visited = await visit({}, { colorScheme, width })
      await order(visited, 'Ana')
      await visited.page.goto(visited.url)
      expect(await violations(visited.page)).toEqual([])
    }
  },
)

test('at 320 pixels nothing but the tables scrolls sideways', async () => {
  const visited = await visit({}, { width: 320 })
  await order(visited, 'Ana')
  await visited.page.goto(visited.url)
  expect(await visited.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
})

test('how things stand is above the fold: figures, statuses by word, the quota as bars', async () => {
  const visited = await visit()
  await order(visited, 'Ana')
  await visited.page.goto(visited.url)
  for (const name of ['Statuses: 1 RECEIVED', '1 of 60 calls used', '1 of 1000 calls used']) {
    const chart = visited.page.getByRole('img', { name, exact: true })
    expect(await chart.evaluate((each) => each.getBoundingClientRect().bottom)).toBeLessThan(900)
  }
  expect(await visited.page.locator('main').ariaSnapshot()).toContain('heading "Requests" [level=2]')
  expect(await visited.page.locator('table:not(:has(caption))').count()).toBe(0)
})
