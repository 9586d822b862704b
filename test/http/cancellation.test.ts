import { getEventListeners } from 'node:events'

import { expect, test } from 'vitest'

import { collect } from '../../src/http/client.ts'
import type { HttpRequest } from '../../src/http/types.ts'
import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, nextTurn, post, startClient, expectTransportError } from './setup.ts'

/** A call that is cancelled (Ctrl-C) ends at once, and the error of a create states whether it was sent. */

expectNoProcessFaults()

const reason = new Error('stopped by the person')
/** Longer than a test may take, so that a call has to be ended by its signal. */
const longLimits = { connectMs: 300_000, idleMs: 300_000, totalMs: 300_000 }

test('a call that is cancelled before it begins opens no connection', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const signal = AbortSignal.abort(reason)
  const error = await expectTransportError(client.sendOnce(post(`${server.origin}/`, { signal })))
  expect(error).toMatchObject({ sent: false, hint: 'Nothing was sent.', cause: reason })
  await expect(client.send({ method: 'GET', url: `${server.origin}/`, signal })).rejects.toBe(reason)
  await nextTurn()
  expect(server.connections).toBe(0)
})

test('a create that is cancelled while it connects ends at once and is not sent', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const controller = new AbortController()
  const call = expectTransportError(
    client.sendOnce(
      post(`https://127.0.0.1:${server.port}/`, { signal: controller.signal, limits: longLimits }),
    ),
  )
  while (server.connections < 1) await nextTurn()
  controller.abort(reason)
  expect(await call).toMatchObject({ sent: false, cause: reason })
  await nextTurn()
  expect(server.requests).toHaveLength(0)
})

test('a read that is cancelled while it connects rejects at once with the reason of the caller', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const controller = new AbortController()
  const request: HttpRequest = {
    method: 'GET',
    url: `https://127.0.0.1:${server.port}/`,
    signal: controller.signal,
    limits: longLimits,
  }
  const call = client.send(request)
  while (server.connections < 1) await nextTurn()
  controller.abort(reason)
  await expect(call).rejects.toBe(reason)
})

test('a create that is cancelled after its request is complete may have been sent', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const controller = new AbortController()
  const call = expectTransportError(client.sendOnce(post(`${server.origin}/`, { signal: controller.signal })))
  while (server.requests.length < 1) await nextTurn()
  controller.abort(reason)
  const error = await call
  expect(error).toMatchObject({ sent: true, cause: reason })
  expect(error.message).toBe(`127.0.0.1:${server.port}: cancelled before an answer came`)
  expect(error.hint).toBe('The service may still have carried out what was sent.')
})

test('during an answer, a cancelled create may have been sent, and a cancelled read rejects with the reason', async () => {
  const controller = new AbortController()
  await using server = await startRawServer({
    onRequest: (socket, _request, count) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
      if (count === 1) setImmediate(() => controller.abort(reason))
    },
  })
  await using client = startClient()
  expect(
    await expectTransportError(client.sendOnce(post(`${server.origin}/`, { signal: controller.signal }))),
  ).toMatchObject({ sent: true, cause: reason })

  const secondController = new AbortController()
  const { body } = await client.open({
    method: 'GET',
    url: `${server.origin}/`,
    signal: secondController.signal,
  })
  secondController.abort(reason)
  await expect(collect(body)).rejects.toBe(reason)
})

test('a signal that is aborted after the answer has no effect', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201, {}, 'x')) })
  await using client = startClient()
  const controller = new AbortController()
  const { status } = await client.sendOnce(post(`${server.origin}/`, { signal: controller.signal }))
  // Many calls share a signal, so that each has to remove its listener.
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  controller.abort(reason)
  await nextTurn()
  expect(status).toBe(201)
})
