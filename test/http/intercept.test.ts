import { fetch as undiciFetch, getGlobalDispatcher, request, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'

import { startSandbox } from '../../src/exports/sandbox.ts'

const interceptedUrl = 'https://api.example.com'

async function startManualSandbox(): Promise<Awaited<ReturnType<typeof startSandbox>>> {
  const sandbox = await startSandbox({ clock: 'manual' })
  onTestFinished(() => sandbox.close())
  return sandbox
}

test('calls of Node.js and of undici to the intercepted URL reach the sandbox, and other calls do not', async () => {
  const [sandbox, other] = [await startManualSandbox(), await startManualSandbox()]
  sandbox.intercept(interceptedUrl)
  expect((await fetch(`${interceptedUrl}/v1/ping?a=b`)).status).toBe(200)
  expect((await undiciFetch(`${interceptedUrl}/v1/ping`)).status).toBe(200)
  expect((await request(`${interceptedUrl}/v1/ping`)).statusCode).toBe(200)
  expect((await request(`${interceptedUrl}/v1/ping`, { query: { a: 'b' } })).statusCode).toBe(200)
  expect((await fetch(`${other.baseUrl}/v1/users`)).status).toBe(401)
  expect(sandbox.calls().map(({ path }) => path)).toEqual(Array(4).fill('/v1/ping'))
  expect(other.calls().map(({ path }) => path)).toEqual(['/v1/users'])
})

test('a base URL with a path is intercepted only below that path', async () => {
  const [inner, outer] = [await startManualSandbox(), await startManualSandbox()]
  outer.intercept(interceptedUrl)
  inner.intercept(`${interceptedUrl}/checks/`)
  for (const path of ['/checks/v1/ping', '/checksum', '/v1/ping']) await fetch(`${interceptedUrl}${path}`)
  expect(inner.calls().map(({ path }) => path)).toEqual(['/v1/ping'])
  expect(outer.calls().map(({ path }) => path)).toEqual(['/checksum', '/v1/ping'])
})

test('of two sandboxes that intercept one base URL the later one answers, and after its close the earlier one', async () => {
  const previousDispatcher = getGlobalDispatcher()
  const [first, second] = [await startManualSandbox(), await startManualSandbox()]
  first.intercept(interceptedUrl)
  second.intercept(interceptedUrl)
  await fetch(`${interceptedUrl}/v1/ping`)
  expect([first.calls().length, second.calls().length]).toEqual([0, 1])
  await second.close()
  await fetch(`${interceptedUrl}/v1/ping`)
  expect(first.calls()).toHaveLength(1)
  await first.close()
  expect(getGlobalDispatcher()).toBe(previousDispatcher)
})

test('a dispatcher that was set during the interception stays set, and its calls no longer reach the sandbox', async () => {
  const previousDispatcher = getGlobalDispatcher()
  onTestFinished(() => setGlobalDispatcher(previousDispatcher))
  const [sandbox, target] = [await startManualSandbox(), await startManualSandbox()]
  const restore = sandbox.intercept(target.baseUrl)
  const composedDispatcher = getGlobalDispatcher().compose((dispatch) => dispatch)
  setGlobalDispatcher(composedDispatcher)
  await request(`${target.baseUrl}/v1/ping`)
  expect(sandbox.calls()).toHaveLength(1)
  restore()
  restore()
  expect(getGlobalDispatcher()).toBe(composedDispatcher)
  await request(`${target.baseUrl}/v1/ping`)
  expect([sandbox.calls().length, target.calls().length]).toEqual([1, 1])
})

test('a fault cuts the connection of an intercepted call', async () => {
  const sandbox = await startManualSandbox()
  sandbox.intercept(interceptedUrl)
  sandbox.inject({ on: 'GET *', fault: { kind: 'cut', when: 'before' } })
  await expect(fetch(`${interceptedUrl}/v1/ping`)).rejects.toThrow('fetch failed')
})

test.each(['api.example.com', 'ftp://api.example.com', `${interceptedUrl}?a=b`])(
  'intercept refuses %s as a base URL',
  async (url) => {
    const sandbox = await startManualSandbox()
    expect(() => sandbox.intercept(url)).toThrow('intercept: not the base URL of a service')
  },
)

test('expectOrdered compares only the given fields of an order', async () => {
  const sandbox = await startManualSandbox()
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
