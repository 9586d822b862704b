import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import { refcheck } from '../harness/run-command.ts'
import { emptyEnv, temporaryFolder, world } from '../harness/world.ts'

test('ping needs an address and nothing else', async () => {
  const { url, folder, sandbox } = await world()
  const env = { ...emptyEnv(folder), REFCHECK_BASE_URL: url }
  const { code, stdout } = await refcheck(['ping'], { env })
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^up  ${url} answered "ok" in \\d+ ms\n$`))
  expect(sandbox.log.entries().map((entry) => entry.kind)).toEqual(['call'])
})

test('ping --json', async () => {
  const { run, url } = await world()
  const outcome = await run(['ping', '--json'])
  expect(outcome.json()).toEqual({ base_url: url, status: 'ok', latency_ms: expect.any(Number) as number })
})

test('a service that is down: tried four times, told each time, exit 7', async () => {
  const env = { ...emptyEnv(temporaryFolder()), REFCHECK_BASE_URL: 'http://127.0.0.1:1' }
  const clock = new ManualClock({ auto: true })
  const { code, stdout, stderr } = await refcheck(['ping'], { env, clock })
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
  expect(clock.sleeps).toHaveLength(3)
  expect(stderr.replace(/in [\d.]+ s/g, 'in N s')).toMatchInlineSnapshot(`
    "127.0.0.1:1: nothing listens there; try 2 of 4 in N s
    127.0.0.1:1: nothing listens there; try 3 of 4 in N s
    127.0.0.1:1: nothing listens there; try 4 of 4 in N s
    Error: 127.0.0.1:1: nothing listens there
    Check the base URL, and that the service is running.
    "
  `)
})

test('--timeout 0s allows no second try', async () => {
  const env = { ...emptyEnv(temporaryFolder()), REFCHECK_BASE_URL: 'http://127.0.0.1:1' }
  const clock = new ManualClock({ auto: true })
  expect((await refcheck(['ping', '--timeout', '0s', '--json'], { env, clock })).code).toBe(7)
  expect(clock.sleeps).toEqual([])
})

test('something else answers there', async () => {
  const server = createServer((_request, response) => response.end('<html>Log in</html>')).listen(0)
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const env = { ...emptyEnv(temporaryFolder()), REFCHECK_BASE_URL: `http://127.0.0.1:${port}` }
  const outcome = await refcheck(['ping', '--json'], { env })
  expect(outcome.code).toBe(7)
  expect(outcome.json()).toMatchObject({ error: { code: 'unavailable', status: 200 } })
})

test.each([
  ['http://api.example.com', /https/],
  ['https://user:pw@api.example.com', /user name/i],
  ['https://api.example.com?x=1', /query/],
  ['ftp://api.example.com', /https/],
  ['nonsense', /URL/],
])('a base URL that is refused before a byte: %s', async (url, why) => {
  const env = { ...emptyEnv(temporaryFolder()), REFCHECK_BASE_URL: url }
  const { code, stderr } = await refcheck(['ping'], { env })
  expect(code).toBe(2)
  expect(stderr).toMatch(why)
  expect(stderr).not.toContain('pw')
})

test('no address at all', async () => {
  const { code, stderr } = await refcheck(['ping'], { env: emptyEnv(temporaryFolder()) })
  expect(code).toBe(2)
  expect(stderr).toMatchInlineSnapshot(`
    "Error: there is no base URL to call
    Set REFCHECK_BASE_URL, or run: refcheck auth login
    "
  `)
})
