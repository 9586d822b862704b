import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { connect } from 'node:net'

import { afterEach, expect, test } from 'vitest'

import { IoError } from '../../src/errors/kinds.ts'
import { type Handler, listen, type Listener, type ListenOptions } from '../../src/server/listen.ts'

const listeners: Listener[] = []

async function startListener(handler: Handler, options?: ListenOptions): Promise<Listener> {
  const listener = await listen(handler, options)
  listeners.push(listener)
  return listener
}

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close()))
})

const hello: Handler = () => new Response('hello')

test('listens on a free port of 127.0.0.1, and its URL has no slash at the end', async () => {
  const { url, port } = await startListener(hello)
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect(port).toBeGreaterThan(0)
  await expect((await fetch(url)).text()).resolves.toBe('hello')
})

test('passes the request to the handler and returns its answer', async () => {
  const { url } = await startListener(async (request) =>
    Response.json({
      method: request.method,
      path: new URL(request.url).pathname,
      body: await request.text(),
    }),
  )
  const answer = await fetch(`${url}/some/path`, { method: 'POST', body: 'text' })
  await expect(answer.json()).resolves.toEqual({ method: 'POST', path: '/some/path', body: 'text' })
})

test('passes the remote address of the connection to the handler', async () => {
  const { url } = await startListener((_request, connection) => new Response(connection.remoteAddress))
  await expect((await fetch(url)).text()).resolves.toBe('127.0.0.1')
})

test('a handler can cut the connection instead of answering', async () => {
  const { url } = await startListener((_request, connection) => {
    connection.cut()
    return new Response('never sent')
  })
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('a handler can cut the connection in the middle of a body', async () => {
  const { url } = await startListener((_request, connection) => {
    connection.sendPartAndClose(200, { 'Content-Length': '10' }, Buffer.from('12345'))
    return new Response(null)
  })
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow('terminated')
})

test('a port in use is an IoError with a hint', async () => {
  const { port } = await startListener(hello)
  const error = await listen(hello, { port }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(IoError)
  expect(error).toMatchObject({
    code: 'io',
    message: `port ${port} on 127.0.0.1 is used by another program`,
    hint: 'Choose another port, or 0 for any free one.',
  })
})

test('an address of another machine is an IoError', async () => {
  await expect(listen(hello, { host: '192.0.2.1' })).rejects.toThrow(
    '"192.0.2.1" is not an address of this machine',
  )
})

test('close ends open connections at once, answered or not', async () => {
  const listener = await listen(() => new Promise<Response>(() => {}))
  const waiting = fetch(listener.url).catch((error: unknown) => error)
  const idle = connect(listener.port, '127.0.0.1')
  await new Promise((resolve) => idle.once('connect', resolve))
  const ended = new Promise((resolve) => idle.once('close', resolve))
  idle.on('error', () => {})
  await listener.close()
  await ended
  await expect(waiting).resolves.toBeInstanceOf(Error)
  await expect(fetch(listener.url)).rejects.toThrow('fetch failed')
})

test('if the handler throws, the answer of onError is sent', async () => {
  const { url } = await startListener(
    () => {
      throw new Error('broken')
    },
    { onError: (error) => new Response(String(error), { status: 500 }) },
  )
  const answer = await fetch(url)
  expect(answer.status).toBe(500)
  await expect(answer.text()).resolves.toBe('Error: broken')
})

const readPem = (name: string): string =>
  readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8')

test('with a key and a certificate, the server uses https', async () => {
  const { url, port } = await startListener((request) => new Response(new URL(request.url).protocol), {
    tls: { cert: readPem('service.pem'), key: readPem('service.key') },
  })
  expect(url).toBe(`https://127.0.0.1:${port}`)
  const text = await new Promise<string>((resolve, reject) => {
    get(url, { ca: readPem('authority.pem') }, (answer) => {
      answer.setEncoding('utf8').once('data', resolve)
    }).once('error', reject)
  })
  expect(text).toBe('https:')
})

test('a request that has not arrived completely after requestTimeoutMs is answered with 408', async () => {
  const { port } = await startListener(async (request) => new Response(await request.text()), {
    requestTimeoutMs: 50,
  })
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    socket.on('close', () => resolve(text))
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345')
  })
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
})
