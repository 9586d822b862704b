import { expect, test } from 'vitest'

import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient, expectTransportError } from './setup.ts'

expectNoProcessFaults()

test('a 204 has no body', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'),
  })
  await using client = startClient()
  expect(await client.sendOnce(post(`${server.origin}/`))).toMatchObject({
    status: 204,
    body: Buffer.alloc(0),
  })
})

test('the chunks of an answer are joined', async () => {
  await using server = await startRawServer({
    onRequest: (socket) =>
      socket.write(
        'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n',
      ),
  })
  await using client = startClient()
  const { status, body } = await client.sendOnce(post(`${server.origin}/`))
  expect([status, body.toString()]).toEqual([201, 'abcde'])
})

test('an answer without a length ends when its connection ends', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nabc'),
  })
  await using client = startClient()
  expect((await client.send({ method: 'GET', url: `${server.origin}/` })).body.toString()).toBe('abc')
})

test('informational answers before the final answer are skipped', async () => {
  await using server = await startRawServer({
    onRequest: (socket) =>
      socket.write(
        Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), answer(201, {}, 'x')]),
      ),
  })
  await using client = startClient()
  const { status, body } = await client.sendOnce(post(`${server.origin}/`))
  expect([status, body.toString()]).toEqual([201, 'x'])
})

test('a create that gets a 101 Switching Protocols may have been sent, and is not sent again', async () => {
  const text = 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(Buffer.concat([Buffer.from(text), answer(201, {}, 'x')])),
  })
  await using client = startClient()
  expect(await expectTransportError(client.sendOnce(post(`${server.origin}/`)))).toMatchObject({ sent: true })
  expect(server).toMatchObject({ connections: 1, requests: { length: 1 } })
})

test.each([
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ['a length that is not a number', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n'],
  [
    'a length and chunks at once',
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a chunk size that is not a number', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ['a status that is not a number', 'HTTP/1.1 abc\r\n\r\n'],
])('an answer with %s is a transport error', async (_name, text) => {
  await using server = await startRawServer({ onRequest: (socket) => socket.end(text) })
  await using client = startClient()
  expect(await expectTransportError(client.sendOnce(post(`${server.origin}/`)))).toMatchObject({ sent: true })
})

test('a repeated header is an array, and header names are lowercase', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n'),
  })
  await using client = startClient()
  const { headers } = await client.send({ method: 'GET', url: `${server.origin}/` })
  expect(headers).toMatchObject({ 'x-a': ['1', '2'], 'content-length': '0' })
})

test('the body of a request is sent unchanged, with its length', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201)) })
  await using client = startClient()
  const body = Buffer.from([...Array(256).keys()])
  await client.sendOnce({ method: 'POST', url: `${server.origin}/v1/requests`, body })
  const [request = ''] = server.requests
  expect(request).toMatch(/^POST \/v1\/requests HTTP\/1\.1\r\n/)
  expect(request).toMatch(/^content-length: 256\r$/m)
  expect(request).not.toMatch(/^(expect|transfer-encoding|upgrade):/im)
  expect(Buffer.from(request, 'latin1').subarray(-256)).toEqual(body)
})

test('an empty body is sent with the length 0', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(400)) })
  await using client = startClient()
  await client.sendOnce({ method: 'POST', url: `${server.origin}/`, body: new Uint8Array() })
  expect(server.requests[0]).toMatch(/^content-length: 0\r$/m)
})

test('an opened body yields its bytes as soon as they are received', async () => {
  let sendRest = (): void => {}
  await using server = await startRawServer({
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabc')
      sendRest = () => socket.write('def')
    },
  })
  await using client = startClient()
  const { body } = await client.open({ method: 'GET', url: `${server.origin}/` })
  const chunks: string[] = []
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk).toString())
    sendRest()
  }
  expect(chunks).toEqual(['abc', 'def'])
})
