import { expect, test } from 'vitest'

import { collect } from '../../src/http/client.ts'
import type { ExchangeReport } from '../../src/http/types.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient } from './setup.ts'

/**
 * src/docs/cli.md, "Flags of every command": --verbose prints "one line on stderr for each HTTP exchange". Each
 * exchange is therefore reported once, whether it succeeds or fails.
 */

expectNoProcessFaults()

/** Runs a function with a client, and returns the reports of its exchanges without their durations. */
async function collectReports(
  run: (client: ReturnType<typeof startClient>) => Promise<unknown>,
): Promise<unknown[]> {
  const reports: ExchangeReport[] = []
  await using client = startClient({ onExchange: (report) => reports.push(report) })
  await run(client).catch(() => undefined)
  return reports.map(({ milliseconds, ...rest }) => {
    expect(milliseconds).toBeGreaterThanOrEqual(0)
    return JSON.parse(JSON.stringify(rest)) as unknown
  })
}

test('the report of an answered exchange has its method, URL and status', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(503, {}, 'x')) })
  const url = `${server.origin}/v1/packages?status=active`
  expect(await collectReports((client) => client.send({ method: 'GET', url }))).toEqual([
    { method: 'GET', url, status: 503 },
  ])
  expect(await collectReports((client) => client.sendOnce(post(url)))).toEqual([
    { method: 'POST', url, status: 503 },
  ])
})

test('an opened exchange is reported when its body ends, or when reading stops', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(200, {}, 'abcdef')),
  })
  const url = `${server.origin}/`
  const reports: ExchangeReport[] = []
  await using client = startClient({ onExchange: (report) => reports.push(report) })
  const first = await client.open({ method: 'GET', url })
  expect(reports).toHaveLength(0)
  await collect(first.body)
  expect(reports).toHaveLength(1)
  const second = await client.open({ method: 'GET', url })
  await collect(second.body, 1)
  expect(reports).toHaveLength(2)
  expect(reports.every(({ status, failure }) => status === 200 && failure === undefined)).toBe(true)
})

test('the report of a failed connection has the failure and no status', async () => {
  let port: number
  {
    await using server = await startRawServer()
    port = server.port
  }
  const url = `http://127.0.0.1:${port}/`
  const failure = `127.0.0.1:${port}: connection refused`
  expect(await collectReports((client) => client.send({ method: 'GET', url }))).toEqual([
    { method: 'GET', url, failure },
  ])
  expect(await collectReports((client) => client.sendOnce(post(url)))).toEqual([
    { method: 'POST', url, failure },
  ])
})

test('the report of an incomplete answer has its status and the failure', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\nhalf'),
  })
  expect(await collectReports((client) => client.sendOnce(post(`${server.origin}/`)))).toEqual([
    {
      method: 'POST',
      url: `${server.origin}/`,
      status: 201,
      failure: `127.0.0.1:${server.port}: the connection was cut`,
    },
  ])
})

test('a refused answer has one report, with its status and the failure', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(200, { 'content-encoding': 'gzip' }, 'x')),
  })
  expect(await collectReports((client) => client.send({ method: 'GET', url: `${server.origin}/` }))).toEqual([
    {
      method: 'GET',
      url: `${server.origin}/`,
      status: 200,
      failure: `127.0.0.1:${server.port}: the answer is compressed, which was not requested`,
    },
  ])
})

test('a cancelled exchange is reported as cancelled', async () => {
  const controller = new AbortController()
  await using server = await startRawServer({ onRequest: () => controller.abort() })
  const url = `${server.origin}/`
  expect(
    await collectReports((client) => client.send({ method: 'GET', url, signal: controller.signal })),
  ).toEqual([{ method: 'GET', url, failure: 'cancelled' }])
})

test('a request that cannot be sent is an internal error', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const headers = { 'x-any': 'two\nlines' }
  await expect(client.send({ method: 'GET', url: server.origin, headers })).rejects.toMatchObject({
    code: 'internal',
    message: 'a request was made that cannot be sent',
  })
  expect(server.requests).toEqual([])
})

test('a URL that is refused has no report', async () => {
  expect(
    await collectReports((client) => client.send({ method: 'GET', url: 'http://service.test/' })),
  ).toEqual([])
})

test('the duration of an exchange is measured with the clock of the client', async () => {
  const clock = new ManualClock()
  await clock.advance(500)
  await using server = await startRawServer({
    onRequest: (socket) => {
      void clock.advance(1_234).then(() => socket.write(answer(200)))
    },
  })
  const reports: ExchangeReport[] = []
  await using client = startClient({ clock, onExchange: (report) => reports.push(report) })
  const { milliseconds } = await client.send({ method: 'GET', url: `${server.origin}/` })
  expect([milliseconds, reports[0]?.milliseconds]).toEqual([1_234, 1_234])
})
