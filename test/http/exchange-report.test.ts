import { expect, test } from 'vitest'

import { collect } from '../../src/http/client.ts'
import type { ExchangeReport } from '../../src/http/types.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient } from './setup.ts'

/** src/docs/cli.md, "Flags of every command": "--verbose (one line per HTTP exchange …)": one report an exchange, however it ended. */

expectNoProcessFaults()

/** Runs something with a client and returns what was reported, without the time it took. */
async function reports(
  run: (client: ReturnType<typeof startClient>) => Promise<unknown>,
): Promise<unknown[]> {
  const seen: ExchangeReport[] = []
  await using client = startClient({ onExchange: (report) => seen.push(report) })
  await run(client).catch(() => undefined)
  return seen.map(({ milliseconds, ...rest }) => {
    expect(milliseconds).toBeGreaterThanOrEqual(0)
    return JSON.parse(JSON.stringify(rest)) as unknown
  })
}

test('an answered exchange: method, URL, status', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(503, {}, 'x')) })
  const url = `${server.origin}/v1/packages?status=active`
  expect(await reports((client) => client.send({ method: 'GET', url }))).toEqual([
    { method: 'GET', url, status: 503 },
  ])
  expect(await reports((client) => client.sendOnce(post(url)))).toEqual([
    { method: 'POST', url, status: 503 },
  ])
})

test('a stream reports at its end, or where it is left', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(200, {}, 'abcdef')),
  })
  const url = `${server.origin}/`
  const seen: ExchangeReport[] = []
  await using client = startClient({ onExchange: (report) => seen.push(report) })
  const first = await client.open({ method: 'GET', url })
  expect(seen).toHaveLength(0)
  await collect(first.body)
  expect(seen).toHaveLength(1)
  const second = await client.open({ method: 'GET', url })
  await collect(second.body, 1)
  expect(seen).toHaveLength(2)
  expect(seen.every(({ status, failure }) => status === 200 && failure === undefined)).toBe(true)
})

test('no connection: why, and no status', async () => {
  let port: number
  {
    await using server = await startRawServer()
    port = server.port
  }
  const url = `http://127.0.0.1:${port}/`
  const failure = `127.0.0.1:${port}: connection refused`
  expect(await reports((client) => client.send({ method: 'GET', url }))).toEqual([
    { method: 'GET', url, failure },
  ])
  expect(await reports((client) => client.sendOnce(post(url)))).toEqual([{ method: 'POST', url, failure }])
})

test('an answer that breaks off: its status, and why', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\nhalf'),
  })
  expect(await reports((client) => client.sendOnce(post(`${server.origin}/`)))).toEqual([
    {
      method: 'POST',
      url: `${server.origin}/`,
      status: 201,
      failure: `127.0.0.1:${server.port}: the connection was cut`,
    },
  ])
})

test('an answer that is refused: its status, and why, once', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(200, { 'content-encoding': 'gzip' }, 'x')),
  })
  expect(await reports((client) => client.send({ method: 'GET', url: `${server.origin}/` }))).toEqual([
    {
      method: 'GET',
      url: `${server.origin}/`,
      status: 200,
      failure: `127.0.0.1:${server.port}: the answer is compressed, which was not requested`,
    },
  ])
})

test('an exchange that the caller gave up', async () => {
  const stop = new AbortController()
  await using server = await startRawServer({ onRequest: () => stop.abort() })
  const url = `${server.origin}/`
  expect(await reports((client) => client.send({ method: 'GET', url, signal: stop.signal }))).toEqual([
    { method: 'GET', url, failure: 'cancelled' },
  ])
})

test('a request that cannot be sent is our own fault', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const headers = { 'x-any': 'two\nlines' }
  await expect(client.send({ method: 'GET', url: server.origin, headers })).rejects.toMatchObject({
    code: 'internal',
    message: 'a request was made that cannot be sent',
  })
  expect(server.requests).toEqual([])
})

test('a URL that is refused is no exchange', async () => {
  expect(await reports((client) => client.send({ method: 'GET', url: 'http://service.test/' }))).toEqual([])
})

test('the milliseconds are those of the clock', async () => {
  const clock = new ManualClock()
  await clock.advance(500)
  await using server = await startRawServer({
    onRequest: (socket) => {
      void clock.advance(1_234).then(() => socket.write(answer(200)))
    },
  })
  const seen: ExchangeReport[] = []
  await using client = startClient({ clock, onExchange: (report) => seen.push(report) })
  const { milliseconds } = await client.send({ method: 'GET', url: `${server.origin}/` })
  expect([milliseconds, seen[0]?.milliseconds]).toEqual([1_234, 1_234])
})
