import { getEventListeners } from 'node:events'

import { expect, test } from 'vitest'

import { collect } from '../../src/http/client.ts'
import type { HttpRequest } from '../../src/http/types.ts'
import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, nextTurn, post, startClient, transportError } from './setup.ts'

/** What happens when the caller gives up (Ctrl-C): at once, and a create says whether it had left. */

expectNoProcessFaults()

const reason = new Error('stopped by the person')
/** Longer than a test: what is not given up at once fails. */
const patience = { connectMs: 300_000, idleMs: 300_000, totalMs: 300_000 }

test('before it began: no connection is made', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const signal = AbortSignal.abort(reason)
  const error = await transportError(client.sendOnce(post(`${server.origin}/`, { signal })))
  expect(error).toMatchObject({ sent: false, hint: 'Nothing was sent.', cause: reason })
  await expect(client.send({ method: 'GET', url: `${server.origin}/`, signal })).rejects.toBe(reason)
  await nextTurn()
  expect(server.connections).toBe(0)
})

test('while the connection is made: at once, and not sent', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const stop = new AbortController()
  const work = transportError(
    client.sendOnce(post(`https://127.0.0.1:${server.port}/`, { signal: stop.signal, limits: patience })),
  )
  while (server.connections < 1) await nextTurn()
  stop.abort(reason)
  expect(await work).toMatchObject({ sent: false, cause: reason })
  await nextTurn()
  expect(server.requests).toHaveLength(0)
})

test('a read, while the connection is made: at once, with the caller’s reason', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const stop = new AbortController()
  const request: HttpRequest = {
    method: 'GET',
    url: `https://127.0.0.1:${server.port}/`,
    signal: stop.signal,
    limits: patience,
  }
  const work = client.send(request)
  while (server.connections < 1) await nextTurn()
  stop.abort(reason)
  await expect(work).rejects.toBe(reason)
})

test('a create that had left: it may have been sent', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const stop = new AbortController()
  const work = transportError(client.sendOnce(post(`${server.origin}/`, { signal: stop.signal })))
  while (server.requests.length < 1) await nextTurn()
  stop.abort(reason)
  const error = await work
  expect(error).toMatchObject({ sent: true, cause: reason })
  expect(error.message).toBe(`127.0.0.1:${server.port}: cancelled before an answer came`)
  expect(error.hint).toBe('The service may still have carried out what was sent.')
})

test('in the middle of an answer: a create tells it was sent, a read gives the reason', async () => {
  const stop = new AbortController()
  await using server = await startRawServer({
    onRequest: (socket, _request, count) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
      if (count === 1) setImmediate(() => stop.abort(reason))
    },
  })
  await using client = startClient()
  expect(
    await transportError(client.sendOnce(post(`${server.origin}/`, { signal: stop.signal }))),
  ).toMatchObject({ sent: true, cause: reason })

  const second = new AbortController()
  const { body } = await client.open({ method: 'GET', url: `${server.origin}/`, signal: second.signal })
  second.abort(reason)
  await expect(collect(body)).rejects.toBe(reason)
})

test('after the end it changes nothing', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201, {}, 'x')) })
  await using client = startClient()
  const stop = new AbortController()
  const { status } = await client.sendOnce(post(`${server.origin}/`, { signal: stop.signal }))
  // Many calls share a signal, and none leaves anything on it.
  expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  stop.abort(reason)
  await nextTurn()
  expect(status).toBe(201)
})
