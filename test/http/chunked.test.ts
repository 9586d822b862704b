import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { expectNoProcessFaults, post, startClient } from './setup.ts'

expectNoProcessFaults()

interface ReceivedRequest {
  length: string | undefined
  encoding: string | undefined
  lines: string[]
  body: string
}

/** Starts a server that records the framing and the body of each request. */
async function startRecordingServer(): Promise<{ url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const lines = request.rawHeaders.filter(
      (_value, index, headers) => index % 2 === 1 && headers[index - 1] === 'x-line',
    )
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      requests.push({ length, encoding, lines, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests }
}

test('a chunked body is received completely, without a Content-Length', async () => {
  await using client = startClient()
  const { url, requests } = await startRecordingServer()
  await client.sendOnce({ ...post(url), chunked: true })
  await client.sendOnce({ ...post(url), body: Buffer.from('x'), chunked: true })
  expect(requests).toEqual([
    { length: undefined, encoding: 'chunked', lines: [], body: '{"package_id":7}' },
    { length: undefined, encoding: 'chunked', lines: [], body: 'x' },
  ])
})

test('an empty body has the length 0', async () => {
  await using client = startClient()
  const { url, requests } = await startRecordingServer()
  await client.sendOnce({ ...post(url), body: Buffer.alloc(0) })
  expect(requests).toEqual([{ length: '0', encoding: undefined, lines: [], body: '' }])
})

test('a header with two values is sent as two lines', async () => {
  await using client = startClient()
  const { url, requests } = await startRecordingServer()
  await client.sendOnce(post(url, { headers: { 'x-line': ['one', 'two'] } }))
  expect(requests[0]?.lines).toEqual(['one', 'two'])
})
