/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/control/create-sandbox.ts'
import { listen } from '../../src/server/listen.ts'
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
  await place.page.locator('[data-status=RECEIVED]').getByText('1').waitFor()
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

describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
  test('every text has a contrast of 4.5 to 1 at least', async () => {
    const place = await visit({}, { colorScheme })
    await order(place, 'Ana')
    await place.page.goto(place.url)
    const poor = await place.page.evaluate(() => {
      const luminance = (color: string): number => {
        const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
          const share = Number(part) / 255
          return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
        })
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
      }
      const backOf = (element: Element | null): string => {
        for (let at = element; at !== null; at = at.parentElement) {
          const back = getComputedStyle(at).backgroundColor
          if (!/, 0\)$|transparent/.test(back)) return back
        }
        return 'rgb(255, 255, 255)'
      }
      return [
        ...document.querySelectorAll(
          'h1, h2, h3, p, dt, dd, th, td, caption, small, code, button, a, label, li, select',
        ),
      ]
        .filter((each) => each.textContent?.trim() !== '')
        .map((each) => {
          const [one, other] = [luminance(getComputedStyle(each).color), luminance(backOf(each))].sort(
            (a, b) => b - a,
          ) as [number, number]
          return {
            what: `${each.tagName} ${each.textContent?.trim().slice(0, 30)}`,
            ratio: (one + 0.05) / (other + 0.05),
          }
        })
        .filter(({ ratio }) => ratio < 4.5)
    })
    expect(poor).toEqual([])
  })
})

test('at 320 pixels nothing but the tables scrolls sideways', async () => {
  const place = await visit({}, { width: 320 })
  await order(place, 'Ana')
  await place.page.goto(place.url)
  expect(await place.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
})

test('every control has a name, every table a caption, every region a heading', async () => {
  const place = await visit()
  await order(place, 'Ana')
  await place.page.goto(place.url)
  const nameless = await place.page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, meter, [role=region], section')]
      .filter((each) => {
        const by = each.getAttribute('aria-labelledby')
        const name =
          each.getAttribute('aria-label') ??
          (by === null ? undefined : document.getElementById(by)?.textContent) ??
          each.closest('label')?.textContent ??
          (each.tagName === 'BUTTON' ? each.textContent : undefined)
        return (name ?? '').trim() === ''
      })
      .map((each) => each.outerHTML.slice(0, 80)),
  )
  expect(nameless).toEqual([])
  expect(await place.page.locator('table:not(:has(caption))').count()).toBe(0)
  expect(await place.page.locator('main').ariaSnapshot()).toContain('heading "Requests" [level=2]')
})
