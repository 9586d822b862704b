import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { SaxesParser } from 'saxes'
import { expect, onTestFinished, test, vi } from 'vitest'

import { ManualClock } from '../../src/sandbox/control/manual-clock.ts'
import type { ConformanceReport } from '../../src/conformance/case.ts'
import { untestableRules } from '../../src/conformance/suite.ts'
import { listen } from '../../src/server/listen.ts'
import { world } from '../harness/world.ts'
import { createAnswer, onJson } from './defects/defect.ts'
import { largeQuota } from './quotas.ts'

// The tests run the whole suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

const largeQuotaOptions = { quota: largeQuota }
const start = Date.parse('2026-03-02T09:00:00.000Z')
const command = ['sandbox', 'conformance']

/** Starts a test environment whose service is the handler that `createHandler` returns for the sandbox. */
async function startBehind(
  createHandler: (handler: Awaited<ReturnType<typeof world>>['sandbox']) => Parameters<typeof listen>[0],
) {
  const environment = await world(largeQuotaOptions)
  const listener = await listen(createHandler(environment.sandbox))
  onTestFinished(() => listener.close())
  return { ...environment, runOptions: { env: { REFCHECK_BASE_URL: listener.url } }, url: listener.url }
}

test('without --allow-create the command sends no valid order and creates no request', async () => {
  const { run, sandbox, url } = await world(largeQuotaOptions)
  const { code, stdout, stderr } = await run(command)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /^not judged {2}creating requests was not allowed: add --allow-create\n {2}.*create\.accepted/m,
  )
  expect(stdout).toMatch(
    new RegExp(`^\\d+ rules at ${url}: \\d+ hold, 0 are broken, \\d+ were not judged\\.\\n$`, 'm'),
  )
  expect(sandbox.requests()).toEqual([])
})

test('--json prints the counts and every case', async () => {
  const { run, url } = await world(largeQuotaOptions)
  const outcome = await run([...command, '--only', 'ping', '--only', 'create.accepted', '--json'])
  expect(outcome.code).toBe(0)
  expect(outcome.json()).toEqual({
    base_url: url,
    counts: { cases: 3, holds: 2, broken: 0, not_judged: 1, advised: 0 },
    cannot_be_judged: untestableRules,
    cases: [
      {
        id: 'ping.answer',
        section: 'GET /v1/ping',
        rule: 'Response 200: data = `{status: string}`, status_message "ok", message "".',
        kind: 'read',
        verdict: 'holds',
        findings: [],
        advice: [],
        reason: null,
      },
      expect.objectContaining({ id: 'ping.no-authentication', verdict: 'holds' }) as unknown,
      expect.objectContaining({
        id: 'create.accepted',
        verdict: 'not_judged',
        reason: 'creating requests was not allowed: add --allow-create',
      }) as unknown,
    ],
  })
})

test('with --control every case is tried at a sandbox, and the sandbox is reset to its state before', async () => {
  const clock = new ManualClock(start)
  const { run, sandbox } = await world({ clock })
  const outcome = await run([...command, '--allow-create', '--control', '--json'])
  const report = outcome.json() as ConformanceReport
  expect(report.cases.filter(({ verdict }) => verdict !== 'holds').map(({ id }) => id)).toEqual([
    'versioning.transport',
    'requests.created-at',
  ])
  expect(outcome.code).toBe(0)
  expect(sandbox.requests()).toEqual([])
  expect(clock.now()).toBe(start)
  expect(sandbox.overview()).toMatchObject({ webhook_url: null, credits: null })
  expect((await run(['users', 'list'])).code).toBe(0)
})

test('a broken rule is reported in the words of the document, and the exit code is 10', async () => {
  const { run, runOptions, url } = await startBehind((sandbox) =>
    onJson(sandbox, (reply) => {
      if (reply.status === 404) reply.headers.delete('Pragma')
    }),
  )
  const { code, stdout, stderr } = await run([...command, '--only', 'answers.cache-headers'], runOptions)
  expect(code).toBe(10)
  expect(stdout).toBe(
    `broken  answers.cache-headers  What the service does
  "Cache headers | Cache-Control: no-store, Pragma: no-cache, Expires: 0 on every response"
  - GET /v1/requests/c0f0a11c-0000-4000-8000-000000000000 (404): expected pragma: no-cache, got none
  - GET /v1/no/such/place (no endpoint) (404): expected pragma: no-cache, got none

1 rule at ${url}: 0 hold, 1 is broken, 0 were not judged.
`,
  )
  expect(stderr).toBe(
    'Error: 1 of 1 rule is broken\nEach is listed above with the rule of the API document that it breaks.\n',
  )
})

test('with --json the document of a run with a broken rule contains an error', async () => {
  const { run, runOptions } = await startBehind((sandbox) =>
    onJson(sandbox, ({ headers }) => headers.delete('Expires')),
  )
  const outcome = await run([...command, '--only', 'answers', '--json'], runOptions)
  expect(outcome.code).toBe(10)
  expect(outcome.json()).toMatchObject({
    counts: { broken: 1 },
    error: { code: 'incomplete', message: '1 of 10 rules is broken' },
  })
})

test('--junit writes the results for a CI server, without secrets that the service returned', async () => {
  const { run, runOptions, sandbox, url, folder } = await startBehind(
    (inner) => (request, connection) =>
      new URL(request.url).pathname === '/v1/users'
        ? createAnswer(200, { users: `${inner.credentials.apiKey} <&"\u0007` })
        : inner.fetch(request, connection),
  )
  const only = ['ping.answer', 'users.list', 'create.accepted'].flatMap((name) => ['--only', name])
  const { code, stdout } = await run([...command, ...only, '--junit', 'report.xml'], runOptions)
  expect({ code, sum: stdout.split('\n').at(-2) }).toEqual({
    code: 10,
    sum: `3 rules at ${url}: 1 holds, 1 is broken, 1 was not judged.`,
  })
  const text = readFileSync(join(folder, 'report.xml'), 'utf8')
  expect(() => new SaxesParser().write(text).close()).not.toThrow()
  expect(text).not.toContain(sandbox.credentials.apiKey)
  expect(text.replaceAll(url, 'URL')).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="refcheck sandbox conformance" tests="3" failures="1" errors="0" skipped="1">
      <testsuite name="URL" tests="3" failures="1" errors="0" skipped="1">
        <testcase classname="conformance.ping" name="ping.answer: GET /v1/ping"/>
        <testcase classname="conformance.users" name="users.list: GET /v1/users">
          <failure type="rule" message="users: expected an array, got &quot;[API key] &lt;&amp;\\&quot;\\u0007&quot;">&quot;Response 200: data = \`{users: [User]}\`. The full list of active users of the organisation identified by the API key is returned; no pagination. Inactive users and inactive teams are excluded.&quot;
    - users: expected an array, got &quot;[API key] &lt;&amp;\\&quot;\\u0007&quot;</failure>
        </testcase>
        <testcase classname="conformance.create" name="create.accepted: POST /v1/requests">
          <skipped message="creating requests was not allowed: add --allow-create"/>
        </testcase>
      </testsuite>
    </testsuites>
    "
  `)
})

test('the results are printed even if the file of --junit cannot be written', async () => {
  const { run } = await world(largeQuotaOptions)
  const { code, stdout, stderr } = await run([...command, '--only', 'ping', '--junit', 'nowhere/x.xml'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^2 rules at .+: 2 hold, 0 are broken, 0 were not judged\.$/m)
  expect(stderr).toContain('nowhere')
})

test('secrets that the service returns are not printed', async () => {
  const { run, runOptions, sandbox } = await startBehind(
    (inner) => (request, connection) =>
      new URL(request.url).pathname === '/v1/packages'
        ? createAnswer(200, { packages: inner.credentials.apiKey }, inner.credentials.apiKey)
        : inner.fetch(request, connection),
  )
  const { code, stdout, stderr } = await run(
    [...command, '--only', 'packages', '--only', 'answers'],
    runOptions,
  )
  expect(code).toBe(10)
  expect(stdout).toContain('expected an array, got "[API key]"')
  expect(stdout + stderr).not.toContain(sandbox.credentials.apiKey)
})

test('no rule is judged if there is no service, or if it refuses the key or the user', async () => {
  const { run, sandbox } = await world(largeQuotaOptions)
  const unreachable = await run(command, { env: { REFCHECK_BASE_URL: 'http://127.0.0.1:9' } })
  expect({ code: unreachable.code, stdout: unreachable.stdout }).toEqual({ code: 7, stdout: '' })
  const badKey = await run([...command, '--json'], { env: { REFCHECK_API_KEY: 'x'.repeat(32) } })
  expect(badKey.code).toBe(3)
  expect(badKey.json()).toMatchObject({ error: { code: 'unauthenticated', status: 401 } })
  const badUser = await run(command, { env: { REFCHECK_USER_EMAIL: sandbox.people.inactive } })
  expect(badUser.code).toBe(4)
})

test('the command waits for the quota no longer than --timeout allows', async () => {
  const { run } = await world({ quota: [{ calls: 5, seconds: 60 }] })
  const { code, stdout } = await run([...command, '--timeout', '1s'])
  expect(code).toBe(6)
  expect(stdout).toMatch(
    /^not judged {2}the quota is used up for the next \d+ s: wait for longer with --timeout$/m,
  )
})

test('a stored key is not sent to another service that --base-url names', async () => {
  const { run, env, url, sandbox } = await world(largeQuotaOptions)
  const login = ['auth', 'login', '--profile', 'one', '--base-url', url, '--email', sandbox.people.owner]
  const folders = {
    REFCHECK_CONFIG_DIR: env['REFCHECK_CONFIG_DIR'] ?? '',
    REFCHECK_DATA_DIR: env['REFCHECK_DATA_DIR'] ?? '',
    REFCHECK_BASE_URL: '',
    REFCHECK_API_KEY: '',
    REFCHECK_USER_EMAIL: '',
  }
  const stdin = `${sandbox.credentials.apiKey}\n`
  expect((await run([...login, '--with-key', '--insecure-storage'], { env: folders, stdin })).code).toBe(0)
  expect((await run([...command, '--only', 'ping'], { env: folders })).code).toBe(0)
  const otherService = await world(largeQuotaOptions)
  const { code, stderr } = await run([...command, '--base-url', otherService.url], { env: folders })
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /^Error: --base-url is .+, but the key of profile "one" is for .+\nSet REFCHECK_API_KEY and .+, or leave out --base-url\.\n$/,
  )
  expect(otherService.sandbox.log.entries()).toEqual([])
})

test.each([
  [['--only', 'pings'], '--only: no case or topic named "pings"'],
  [['--base-url', 'http://127.0.0.1:9', '--profile', 'one'], '--base-url and --profile cannot be combined'],
  [['--webhook-port', '70000'], '--webhook-port'],
  [['--watch', 'long'], '--watch: "long" is not a duration'],
])('the flags %j are refused before a call is sent', async (flags, message) => {
  const { run, sandbox } = await world(largeQuotaOptions)
  const { code, stdout, stderr } = await run([...command, ...flags])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(sandbox.log.entries()).toEqual([])
})

test('--control is refused for a service that is not a sandbox', async () => {
  const { run, runOptions } = await startBehind(
    (sandbox) => (request, connection) =>
      new URL(request.url).pathname.startsWith('/v1/')
        ? sandbox.fetch(request, connection)
        : createAnswer(404, null, 'resource not found'),
  )
  const { code, stderr } = await run([...command, '--control'], runOptions)
  expect(code).toBe(2)
  expect(stderr).toContain('is not a sandbox that can be controlled')
})
