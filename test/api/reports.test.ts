import { expect, test } from 'vitest'

import { collect } from '../../src/http/client.ts'
import { answer, enveloped, startRawServer } from '../http/raw-server.ts'
import { expectNoProcessFaults, nextTurn, listOpenSockets } from '../http/setup.ts'
import { apiKey, checkId, startApi, userEmail } from './setup.ts'

/** GET /v1/reports/{check_id} and …/referees/{referee_id}: with the key, or with a token and then without the key. */

expectNoProcessFaults()

const pdf = Buffer.from('%PDF-1.7\n\u0000\u0001binary\n%%EOF', 'latin1')
const pdfAnswer = answer(200, { 'content-type': 'application/pdf' }, pdf)

test('a download by key sends both headers and no token, and returns the bytes unchanged', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(pdfAnswer) })
  await using api = startApi(server.origin)
  const stream = await api.openReport({ checkId })
  expect(await collect(stream.body)).toEqual(pdf)
  await collect((await api.openReport({ checkId, refereeId: 'r 1' })).body)
  expect(server.requests.map((text) => text.split('\r\n')[0])).toEqual([
    `GET /v1/reports/${checkId} HTTP/1.1`,
    `GET /v1/reports/${checkId}/referees/r%201 HTTP/1.1`,
  ])
  for (const text of server.requests) {
    expect(text).toContain(`X-Service-API-Key: ${apiKey}\r\n`)
    expect(text).toContain(`X-Service-User-Email: ${userEmail}\r\n`)
    expect(text).toMatch(/^accept: application\/pdf\r$/im)
  }
})

test('a download by token sends the token, and neither the key nor the e-mail', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(pdfAnswer) })
  await using api = startApi(server.origin)
  const stream = await api.openSignedReport(`${server.origin}/v1/reports/${checkId}?t=TOKEN`)
  expect(await collect(stream.body)).toEqual(pdf)
  const [text = ''] = server.requests
  expect(text).toMatch(new RegExp(`^GET /v1/reports/${checkId}\\?t=TOKEN HTTP/1.1\r\n`))
  expect(text).not.toMatch(/x-service/i)
  expect(text).not.toContain(apiKey)
  expect(text).not.toContain(userEmail)
})

test('a download by token needs no credentials', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(pdfAnswer) })
  await using api = startApi(server.origin, { credentials: undefined })
  const stream = await api.openSignedReport(`${server.origin}/v1/reports/${checkId}?t=TOKEN`)
  expect(await collect(stream.body)).toEqual(pdf)
})

test.each([
  [
    401,
    'the report URL was refused: its token is invalid or has expired',
    'unauthenticated',
    /valid for one hour.*refcheck report download [0-9a-f-]{36}$/,
  ],
  [404, 'resource not found', 'not_found', /whether the report is ready/],
  [403, 'user not a member of the organisation', 'forbidden', /active user/],
])(
  'the error for a %i by token has a hint, and does not contain the token',
  async (status, message, code, hint) => {
    await using server = await startRawServer({
      onRequest: (socket) => socket.write(enveloped(status, null, message)),
    })
    await using api = startApi(server.origin)
    const error: unknown = await api
      .openSignedReport(`${server.origin}/v1/reports/${checkId}?t=TOKEN`)
      .catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code, status, message, hint: expect.stringMatching(hint) })
    expect(JSON.stringify(error)).not.toContain('TOKEN')
  },
)

test('a transport error does not contain the token', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.destroy() })
  await using api = startApi(server.origin)
  const error = (await api
    .openSignedReport(`${server.origin}/v1/reports/${checkId}?t=TOKEN`)
    .catch((caught: unknown) => caught)) as Error & { hint: string }
  expect(`${error.stack} ${error.hint} ${String(error.cause)}`).not.toContain('TOKEN')
  expect(server.requests).toHaveLength(4)
})

test('the error for a 401 of a download by key has the hint to log in', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(enveloped(401, null, 'invalid API key')),
  })
  await using api = startApi(server.origin)
  await expect(api.openReport({ checkId })).rejects.toMatchObject({
    code: 'unauthenticated',
    hint: expect.stringContaining('refcheck auth login'),
  })
})

test.each([
  ['text/html; charset=utf-8', 'the answer is not a PDF but text/html'],
  ['application/json', 'the answer is not a PDF but application/json'],
  ['application/pdfx', 'the answer is not a PDF but application/pdfx'],
  ['<script>', 'the answer is not a PDF but without a type'],
  [undefined, 'the answer is not a PDF but without a type'],
])('a 200 with the type %s is refused', async (type, message) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(200, headers, '<html>')),
  })
  await using api = startApi(server.origin)
  await expect(api.openReport({ checkId })).rejects.toMatchObject({
    code: 'unavailable',
    status: 200,
    message,
  })
})

test.each(['application/pdf', 'Application/PDF', 'application/pdf; charset=binary'])(
  '%s is a PDF',
  async (type) => {
    await using server = await startRawServer({
      onRequest: (socket) => socket.write(answer(200, { 'content-type': type }, pdf)),
    })
    await using api = startApi(server.origin)
    expect(await collect((await api.openReport({ checkId })).body)).toEqual(pdf)
  },
)

test('a download that fails before its first byte is repeated', async () => {
  const large = Buffer.alloc(200_000, 'x')
  await using server = await startRawServer({
    onRequest: (socket, _request, count) => {
      if (count === 1) socket.write(answer(503, {}, large))
      else if (count === 2) socket.write(enveloped(429, null, '', { 'retry-after': '2' }))
      else socket.write(pdfAnswer)
    },
  })
  await using api = startApi(server.origin)
  expect(await collect((await api.openReport({ checkId })).body)).toEqual(pdf)
  expect(api.retries.map(({ kind }) => kind)).toEqual(['retry', 'throttled'])
  expect(api.exchanges.map(({ status }) => status)).toEqual([503, 429, 200])
})

test('a download that breaks off rejects while its body is read, and is not repeated automatically', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.end(pdfAnswer.subarray(0, -3)),
  })
  await using api = startApi(server.origin)
  const { body } = await api.openReport({ checkId })
  await expect(collect(body)).rejects.toMatchObject({ code: 'unavailable' })
  expect(server.requests).toHaveLength(1)
})

test('an error response that never ends is read up to one megabyte, then its connection is closed', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => {
      socket.write('HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n')
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
      const writeMore = (): void => {
        if (!socket.destroyed) socket.write(chunk, writeMore)
      }
      writeMore()
    },
  })
  await using api = startApi(server.origin)
  await expect(api.openReport({ checkId })).rejects.toMatchObject({ code: 'unavailable', status: 404 })
  await nextTurn()
  expect(listOpenSockets()).not.toContain('TCPSocketWrap')
})
