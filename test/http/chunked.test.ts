import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { expectNoProcessFaults, post, startClient } from './setup.ts'

expectNoProcessFaults()

interface Seen {
  length: string | undefined
  encoding: string | undefined
  lines: string[]
  body: string
}

/** A server that tells how a request was framed. */
async function framing(): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    const lines = request.rawHeaders.filter((_value, at, all) => at % 2 === 1 && all[at - 1] === 'x-line')
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push({ length, encoding, lines, body })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen }
}

test('a chunked body arrives whole, its length not announced', async () => {
  await using client = startClient()
  const { url, seen } = await framing()
  await client.sendOnce({ ...post(url), chunked: true })
  await client.sendOnce({ ...post(url), body: Buffer.from('x'), chunked: true })
  expect(seen).toEqual([
    { length: undefined, encoding: 'chunked', lines: [], body: '{"package_id":7}' },
    { length: undefined, encoding: 'chunked', lines: [], body: 'x' },
  ])
})

test('an empty body has the length 0', async () => {
  await using client = startClient()
  const { url, seen } = await framing()
  await client.sendOnce({ ...post(url), body: Buffer.alloc(0) })
  expect(seen).toEqual([{ length: '0', encoding: undefined, lines: [], body: '' }])
})

test('a header with two values goes in two lines', async () => {
  await using client = startClient()
  const { url, seen } = await framing()
  await client.sendOnce(post(url, { headers: { 'x-line': ['one', 'two'] } }))
  expect(seen[0]?.lines).toEqual(['one', 'two'])
})
