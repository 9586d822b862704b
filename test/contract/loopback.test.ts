import { expect, test } from 'vitest'

import { isLoopbackHost, isLoopbackUrl } from '../../src/contract/loopback.ts'

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['127.255.1.2', true],
  ['::1', true],
  ['[::1]', true],
  ['128.0.0.1', false],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
  ['::2', false],
  ['', false],
])('the host %j is this machine: %s', (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback)
})

test.each([
  ['http://127.0.0.1:4010/v1', true],
  ['http://[::1]:4010', true],
  ['https://api.example.com/localhost', false],
  ['localhost', false],
])('the URL %j is this machine: %s', (url, isLoopback) => {
  expect(isLoopbackUrl(url)).toBe(isLoopback)
})
