import { fetch as undiciFetch, getGlobalDispatcher, request, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'

import { startSandbox } from '../../src/exports/sandbox.ts'

const base = 'https://api.example.com'

async function started(): Promise<Awaited<ReturnType<typeof startSandbox>>> {
  const sandbox = await startSandbox({ clock: 'manual' })
  onTestFinished(() => sandbox.close())
  return sandbox
}

test('fetch of Node and of undici and the global dispatcher of undici reach the sandbox, and other calls do not', async () => {
  const [sandbox, other] = [await started(), await started()]
  sandbox.intercept(base)
  expect((await fetch(`${base}/v1/ping?a=b`)).status).toBe(200)
  expect((await undiciFetch(`${base}/v1/ping`)).status).toBe(200)
  expect((await request(`${base}/v1/ping`)).statusCode).toBe(200)
  expect((await request(`${base}/v1/ping`, { query: { a: 'b' } })).statusCode).toBe(200)
  expect((await fetch(`${other.baseUrl}/v1/users`)).status).toBe(401)
  expect(sandbox.calls().map(({ path }) => path)).toEqual(Array(4).fill('/v1/ping'))
  expect(other.calls().map(({ path }) => path)).toEqual(['/v1/users'])
})

test('a base URL with a path is intercepted below that path alone', async () => {
  const [inner, outer] = [await started(), await started()]
  outer.intercept(base)
  inner.intercept(`${base}/checks/`)
  for (const path of ['/checks/v1/ping', '/checksum', '/v1/ping']) await fetch(`${base}${path}`)
  expect(inner.calls().map(({ path }) => path)).toEqual(['/v1/ping'])
  expect(outer.calls().map(({ path }) => path)).toEqual(['/checksum', '/v1/ping'])
})

test('of two sandboxes at one base URL the latest answers, and the earlier one again when the latest is closed', async () => {
  const before = getGlobalDispatcher()
  const [first, second] = [await started(), await started()]
  first.intercept(base)
  second.intercept(base)
  await fetch(`${base}/v1/ping`)
  expect([first.calls().length, second.calls().length]).toEqual([0, 1])
  await second.close()
  await fetch(`${base}/v1/ping`)
  expect(first.calls()).toHaveLength(1)
  await first.close()
  expect(getGlobalDispatcher()).toBe(before)
})

test('a dispatcher that was set during the interception stays, and nothing reaches the sandbox any more', async () => {
  const before = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(before))
  const [sandbox, real] = [await started(), await started()]
  const restore = sandbox.intercept(real.baseUrl)
  const composed = getGlobalDispatcher().compose((dispatch) => dispatch)
  setGlobalDispatcher(composed)
  await request(`${real.baseUrl}/v1/ping`)
  expect(sandbox.calls()).toHaveLength(1)
  restore()
  restore()
  expect(getGlobalDispatcher()).toBe(composed)
  await request(`${real.baseUrl}/v1/ping`)
  expect([sandbox.calls().length, real.calls().length]).toEqual([1, 1])
})

test('a fault cuts the connection of an intercepted call', async () => {
  const sandbox = await started()
  sandbox.intercept(base)
  sandbox.inject({ on: 'GET *', fault: { kind: 'cut', when: 'before' } })
  await expect(fetch(`${base}/v1/ping`)).rejects.toThrow('fetch failed')
})

test.each(['api.example.com', 'ftp://api.example.com', `${base}?a=b`])('not a base URL: %s', async (url) => {
  const sandbox = await started()
  expect(() => sandbox.intercept(url)).toThrow('intercept: not the base URL of a service')
})

test('orders are compared by the parts that a test gives', async () => {
  const sandbox = await started()
  const headers = { 'X-Service-API-Key': sandbox.apiKey, 'X-Service-User-Email': sandbox.userEmail }
  const recipient = { first_name: 'Mei', last_name: 'Ito', email: 'mei@example.com', phone: '+819012345678' }
  const body = JSON.stringify({ package_id: 102, recipient })
  await fetch(`${sandbox.baseUrl}/v1/requests`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body,
  })
  sandbox.expectOrdered([{}])
  sandbox.expectOrdered([{ package_id: 102, recipient: { last_name: 'Ito' }, additional_information: [] }])
  expect(() => sandbox.expectOrdered([])).toThrow(
    `expected 0 orders, the sandbox has 1 order:\n  order 1: not expected: {"package_id":102,"recipient":${JSON.stringify(recipient)},"additional_information":[]}`,
  )
  expect(() =>
    sandbox.expectOrdered([{ package_id: 101, additional_information: [{ code: 'A', fields: {} }] }]),
  ).toThrow(
    'expected 1 order, the sandbox has 1 order:\n  order 1: package_id: expected 101, was 102\n  order 1: additional_information: expected [{"code":"A","fields":{}}], was []',
  )
})
