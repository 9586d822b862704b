import { expect, test } from 'vitest'

import { hour, jane, simpleOrder, createSandboxClient } from '../sandbox-client.ts'

const requestTo = (path: string): Request => new Request(`http://127.0.0.1:4010${path}`)

test('the page shows statuses and calls, and its content security policy allows only its own script', async () => {
  const { sandbox, order } = createSandboxClient()
  await order()
  const answer = await sandbox.fetch(requestTo('/'))
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(answer.headers.get('Content-Security-Policy')).toContain("default-src 'none'; script-src 'self'")
  const text = await answer.text()
  expect(text).toContain('aria-label="Statuses: 1 RECEIVED"')
  expect(text).toMatch(/POST \/v1\/requests {2}201/)
  expect(text).toContain('id="advance"')
  for (const [path, type] of [
    ['/_sandbox/page.css', 'text/css'],
    ['/_sandbox/page.js', 'text/javascript'],
  ] as const) {
    const asset = await sandbox.fetch(requestTo(path))
    expect([asset.status, asset.headers.get('Content-Type')]).toEqual([200, `${type}; charset=utf-8`])
  }
})

test('each final status has a tile, and a request in a final status has no button to advance it', async () => {
  const { sandbox, order } = createSandboxClient()
  for (const tag of ['error', 'declined', 'instant']) {
    await order({ ...simpleOrder, recipient: { ...jane, email: `jane+${tag}@example.com` } })
  }
  await order({ ...simpleOrder, recipient: { ...jane, email: 'jane+stuck@example.com' } })
  await sandbox.advance(24 * hour)
  const text = await (await sandbox.fetch(requestTo('/'))).text()
  const tileTexts = [...text.matchAll(/<dt>([a-z ]+)<\/dt>\s*<dd>(\d+)<\/dd>/g)].map(
    ([, name, count]) => `${count} ${name}`,
  )
  expect(tileTexts).toEqual([
    '4 requests',
    '1 in progress',
    '1 completed',
    '1 ended in an error',
    '1 cancelled',
  ])
  expect(text.match(/Has ended/g)).toHaveLength(3)
  expect(text.match(/>\s*Advance\s*<\/button>/g)).toHaveLength(2)
  expect(text.match(/<button id="inject-[^<]*/g)).toEqual([
    '<button id="inject-scenario">Apply to the next request',
    '<button id="inject-fault">Apply to the next call',
  ])
})

test('characters of a name that are invisible, change the direction or break the line are replaced on the page', async () => {
  const { sandbox, order } = createSandboxClient()
  const firstName = '0\u200B1\u{E0041}2\u202E3\u20284'
  await order({ ...simpleOrder, recipient: { ...jane, first_name: firstName } })
  const text = await (await sandbox.fetch(requestTo('/'))).text()
  expect(text).toContain('0\uFFFD1\uFFFD2\uFFFD3\uFFFD4 Example')
  expect(text).not.toMatch(/[\u200B\u202E\u2028]|\u{E0041}/u)
})

test('a request for the page with a foreign Host is refused', async () => {
  const { sandbox } = createSandboxClient()
  const answer = await sandbox.fetch(new Request('http://evil.example/'))
  expect(answer.status).toBe(403)
})
