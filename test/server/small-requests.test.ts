import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'

import { expect, test } from 'vitest'

import { serveSmallRequests } from '../../src/server/small-requests.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `idle` of the fault table (test/resilience/rows.ts).
recordForFaultTable('idle', { mustNotHappen: 'blocked' })

const limits = { maxBytes: 1000, requestTimeoutMs: 60_000, idleTimeoutMs: 60_000 }
const createLimits = (maxConnections: number) => ({
  ...limits,
  incomplete: { maxConnections, maxBytes: 1_000_000 },
})

async function postAndReadStatus(port: number): Promise<number | undefined> {
  const call = request({ port, host: '127.0.0.1', method: 'POST', agent: false })
  call.end('x')
  const [answer] = (await once(call, 'response')) as [{ statusCode?: number; resume(): void }]
  answer.resume()
  return answer.statusCode
}

test('requests are answered while a client opens more connections than are allowed and sends nothing', async () => {
  const server = await serveSmallRequests(() => ({ status: 204 }), {
    host: '127.0.0.1',
    port: 0,
    ...createLimits(20),
  })
  const idleSockets: Socket[] = []
  let closedCount = 0
  try {
    for (let count = 0; count < 50; count += 1) {
      const socket = connect(server.port, '127.0.0.1')
      socket.once('close', () => (closedCount += 1))
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      idleSockets.push(socket)
    }
    const answers = []
    for (let count = 0; count < 10; count += 1) answers.push(await postAndReadStatus(server.port))
    expect(answers).toEqual(Array.from({ length: 10 }, () => 204))
    expect(closedCount).toBeGreaterThanOrEqual(30)
  } finally {
    for (const socket of idleSockets) socket.destroy()
    await server.close()
  }
})

test('a connection whose request is being answered is not closed when too many connections are open', async () => {
  let answer = (): void => undefined
  const handlerStarted = Promise.withResolvers<void>()
  const server = await serveSmallRequests(
    () => {
      handlerStarted.resolve()
      return new Promise((resolve) => (answer = () => resolve({ status: 200 })))
    },
    { host: '127.0.0.1', port: 0, ...createLimits(2) },
  )
  const slowStatus = postAndReadStatus(server.port)
  await handlerStarted.promise
  const idleSockets = Array.from({ length: 5 }, () =>
    connect(server.port, '127.0.0.1').on('error', () => undefined),
  )
  await Promise.all(idleSockets.slice(0, 1).map((socket) => once(socket, 'close')))
  answer()
  expect(await slowStatus).toBe(200)
  for (const socket of idleSockets) socket.destroy()
  await server.close()
})

test('a request with 900 headers, which would use a megabyte of memory, is refused, and one with 90 is not', async () => {
  const server = await serveSmallRequests(() => ({ status: 204 }), {
    host: '127.0.0.1',
    port: 0,
    ...limits,
  })
  const postWithHeaders = async (count: number): Promise<number | undefined> => {
    const headers = Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'y']))
    const call = request({ port: server.port, host: '127.0.0.1', method: 'POST', agent: false, headers })
    call.end('x')
    const [response] = (await once(call, 'response')) as [{ statusCode?: number; resume(): void }]
    response.resume()
    return response.statusCode
  }
  try {
    expect([await postWithHeaders(90), await postWithHeaders(900)]).toEqual([204, 431])
  } finally {
    await server.close()
  }
})
