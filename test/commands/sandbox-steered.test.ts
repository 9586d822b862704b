import { join } from 'node:path'

import { expect, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { type SandboxProcess, startSandboxProcess } from '../harness/parallel-program.ts'
import { startHandlerApp } from '../harness/listening-session.ts'
import { orderArguments } from '../harness/people.ts'
import { startProgram } from '../harness/process.ts'
import { session } from '../harness/session.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { refcheck } from '../harness/run-command.ts'

/** An entry of `sandbox logs`: a call or a delivery. */
interface Entry {
  kind: string
  delivery_id: string
  request_id: string
  /** Of a call: the HTTP status. Of a delivery: the request status that the event reports. */
  status: string | number
  /** Of a delivery: the HTTP status of the receiver, or the reason why there is none. */
  outcome: string
}

const readLog = async ({ type }: SandboxProcess): Promise<Entry[]> =>
  (await type('sandbox logs --json')).json() as Entry[]

test('sandbox set sets a webhook URL, sandbox logs shows the deliveries, and sandbox redeliver repeats an event', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  const app = await startHandlerApp()
  expect(await here.all(['sandbox logs', ['sandbox', 'set', 'webhook-url', app.url]])).toMatchInlineSnapshot(`
    $ refcheck sandbox logs
    Nothing has happened yet. Follow it with: refcheck sandbox logs --follow
    exit 0

    $ refcheck sandbox set webhook-url http://127.0.0.1:PORT_1/hooks
    Set webhook-url to http://127.0.0.1:PORT_1/hooks.
    exit 0
  `)
  await here.type(orderArguments('Priya', ['--yes']))
  await here.type('sandbox advance 2h')
  expect(await here.type('sandbox logs')).toMatchInlineSnapshot(`
    $ refcheck sandbox logs
    HH:MM:SS  GET /v1/packages  200
    HH:MM:SS  GET /v1/packages/102/schema  200
    HH:MM:SS  request ID_1                                  RECEIVED
    HH:MM:SS  POST /v1/requests  201
    HH:MM:SS  request ID_1                                  IN_PROGRESS
    HH:MM:SS  event ID_2                                  IN_PROGRESS: 204
    HH:MM:SS  request ID_1                                  COMPLETED
    HH:MM:SS  event ID_3                                  COMPLETED: 204
    exit 0
  `)
  const lastDelivery = (await readLog(here)).findLast(({ kind }) => kind === 'delivery')
  expect(lastDelivery).toMatchObject({ status: 'COMPLETED', outcome: '204', attempt: 1 })
  expect(await here.type(['sandbox', 'redeliver', lastDelivery?.delivery_id ?? ''])).toMatchInlineSnapshot(`
    $ refcheck sandbox redeliver ID_3
    COMPLETED of request ID_1 was sent once more: it was answered 204
    exit 0
  `)
  // For the id of a request, its latest event is delivered again.
  app.answers.push(503)
  const again = await here.type(['sandbox', 'redeliver', lastDelivery?.request_id ?? '', '--json'])
  expect(again.json()).toMatchObject({
    request_id: lastDelivery?.request_id,
    status: 'COMPLETED',
    outcome: '503',
  })
  expect(app.acceptedDeliveries.map(({ body }) => (JSON.parse(body) as { status: string }).status)).toEqual([
    'IN_PROGRESS',
    'COMPLETED',
    'COMPLETED',
  ])
  expect(app.acceptedDeliveries[2]).toEqual(app.acceptedDeliveries[1])
  expect(
    await here.all([
      'sandbox set webhook-url none',
      ['sandbox', 'redeliver', lastDelivery?.request_id ?? ''],
      'sandbox redeliver nothing',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox set webhook-url none
    Set webhook-url to none.
    exit 0

    $ refcheck sandbox redeliver ID_1
    2> Error: there is no webhook URL to deliver to
    2> Set one with: refcheck sandbox set webhook-url URL
    exit 2

    $ refcheck sandbox redeliver nothing
    2> Error: there is no webhook URL to deliver to
    2> Set one with: refcheck sandbox set webhook-url URL
    exit 2
  `)
})

test('sandbox logs --follow prints each entry as it happens, until Ctrl-C', async () => {
  const here = await startSandboxProcess()
  const ctrlC = new AbortController()
  let shown = ''
  const following = here.type('sandbox logs --follow', {
    clock: systemClock,
    signal: ctrlC.signal,
    onWrite(_stream, text) {
      shown += text
      if (shown.includes('/v1/users')) ctrlC.abort()
      else if (shown.includes('/v1/packages')) void here.type('users list')
    },
  })
  await here.type('packages list')
  expect(await following).toMatchInlineSnapshot(`
    $ refcheck sandbox logs --follow
    HH:MM:SS  GET /v1/packages  200
    HH:MM:SS  GET /v1/users  200
    2> Interrupted
    ^C
    exit 130
  `)
  const calls = await here.type([
    'sandbox',
    'logs',
    '--jq',
    'map(select(.kind == "call") | "\\(.path) \\(.status)") | .[]',
  ])
  expect(calls.stdout).toBe('/v1/packages 200\n/v1/users 200\n')
})

test('sandbox set changes credits, trial, subscription and users, and refuses invalid settings', async () => {
  const here = await startSandboxProcess()
  expect(
    await here.all([
      'sandbox set credits 0',
      orderArguments('Priya', ['--yes']),
      'sandbox set credits unlimited',
      'sandbox set trial expired',
      orderArguments('Priya', ['--yes']),
      'sandbox set trial none',
      'sandbox set subscription inactive',
      orderArguments('Priya', ['--yes']),
      'sandbox set subscription active',
      'sandbox set inactive-user olive.owner@example.com',
      'users list',
      'sandbox set active-user olive.owner@example.com --json',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox set credits 0
    Set credits to 0.
    exit 0

    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes
    2> Error: organisation has no credits remaining
    2> Nothing was ordered. The organisation has to buy credits.
    exit 4

    $ refcheck sandbox set credits unlimited
    Set credits to unlimited.
    exit 0

    $ refcheck sandbox set trial expired
    Set trial to expired.
    exit 0

    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes
    2> Error: organisation trial has expired
    2> Nothing was ordered. The organisation’s trial is over; an Owner can subscribe.
    exit 4

    $ refcheck sandbox set trial none
    Set trial to none.
    exit 0

    $ refcheck sandbox set subscription inactive
    Set subscription to inactive.
    exit 0

    $ refcheck request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes
    2> Error: organisation subscription is not active
    2> Nothing was ordered. An Owner of the organisation has to renew the subscription.
    exit 4

    $ refcheck sandbox set subscription active
    Set subscription to active.
    exit 0

    $ refcheck sandbox set inactive-user olive.owner@example.com
    Set inactive-user to olive.owner@example.com.
    exit 0

    $ refcheck users list
    2> Error: user is not an active member of the organisation
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 4

    $ refcheck sandbox set active-user olive.owner@example.com --json
    {
      "name": "active-user",
      "value": "olive.owner@example.com"
    }
    exit 0
  `)
  expect((await here.type('sandbox status --json')).json()).toMatchObject({
    credits: null,
    trial: 'none',
    subscription: 'active',
  })
  expect(
    await here.all([
      'sandbox set weather fine',
      'sandbox set credits many',
      'sandbox set trial over',
      'sandbox set webhook-url http://hooks.example.com/',
      'sandbox set active-user nobody@example.com',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox set weather fine
    2> Error: no setting named "weather"
    2> Settings: webhook-url, credits, trial, subscription, active-user, inactive-user
    exit 2

    $ refcheck sandbox set credits many
    2> Error: credits cannot be set to "many"
    2> Give a number or unlimited.
    exit 2

    $ refcheck sandbox set trial over
    2> Error: trial cannot be set to "over"
    2> Give none, running or expired.
    exit 2

    $ refcheck sandbox set webhook-url http://hooks.example.com/
    2> Error: the webhook http://hooks.example.com is not https
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost), and for networks that sandbox start --allow-http-from names.
    exit 2

    $ refcheck sandbox set active-user nobody@example.com
    2> Error: the sandbox has no user "nobody@example.com"
    2> See its commands with: refcheck help sandbox
    exit 2
  `)
})

test('with a latency fault the order is accepted, and its answer is sent later', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  const fault = '{"kind":"latency","ms":3000,"when":"after"}'
  expect(await here.all([`sandbox inject --on 'POST /v1/requests' --fault '${fault}'`]))
    .toMatchInlineSnapshot(`
    $ refcheck sandbox inject --on 'POST /v1/requests' --fault '{"kind":"latency","ms":3000,"when":"after"}'
    Injected: {"on":"POST /v1/requests","fault":{"kind":"latency","ms":3000,"when":"after"}}
    exit 0
  `)
  const ordering = here.type(orderArguments('Priya', ['--yes', '--json']), { clock: systemClock })
  let requests = 0
  while (requests === 0) {
    const state = (await here.type('sandbox status --json')).json() as { requests: { RECEIVED: number } }
    requests = state.requests.RECEIVED
  }
  expect(await readLog(here)).not.toContainEqual(expect.objectContaining({ kind: 'call', status: 201 }))
  await here.type('sandbox advance 3s')
  expect((await ordering).code).toBe(0)
  expect((await readLog(here)).at(-1)).toMatchObject({ status: 201, fault: 'latency' })
})

test('a sandbox that other machines can reach requires the control token', async () => {
  const token = 'chosen-by-the-pipeline'
  const here = await startSandboxProcess(
    ['--host', '127.0.0.1', '--allow-http-from', '192.0.2.0/24', '--public-url', 'https://sandbox.example/'],
    { REFCHECK_SANDBOX_TOKEN: token },
  )
  expect(here.address).toMatchObject({ control_token: token, public_url: 'https://sandbox.example' })
  expect((await here.type('sandbox set credits 3')).code).toBe(0)
  expect(await here.type('sandbox set credits 3', { env: { REFCHECK_SANDBOX_TOKEN: 'wrong' } }))
    .toMatchInlineSnapshot(`
    $ REFCHECK_SANDBOX_TOKEN=wrong refcheck sandbox set credits 3
    2> Error: the control token of the sandbox is missing or wrong
    2> Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.
    exit 3
  `)
  expect(
    await here.type('sandbox conformance --control --only ping', { env: { REFCHECK_SANDBOX_TOKEN: '' } }),
  ).toMatchInlineSnapshot(`
    $ REFCHECK_SANDBOX_TOKEN='' refcheck sandbox conformance --control --only ping
    2> Error: the control token of the sandbox is missing or wrong
    2> Set REFCHECK_SANDBOX_TOKEN to the control_token that "sandbox start" printed.
    exit 3
  `)
  expect((await here.type('sandbox conformance --control --only ping')).code).toBe(0)
})

test.each([
  [['--allow-http-from', 'everybody'], '--allow-http-from: "everybody" is not a network'],
  [['--allow-http-from', '10.0.0.0/33'], '--allow-http-from: "10.0.0.0/33" is not a network'],
  [['--public-url', 'ftp://sandbox.example'], '--public-url: not the base URL of a proxy'],
  [['--public-url', 'https://sandbox.example/?t=1'], '--public-url: not the base URL of a proxy'],
])('sandbox start %j is refused', async (flags, message) => {
  const argv = ['sandbox', 'start', '--port', '0', ...flags]
  const { code, stdout, stderr } = await refcheck(argv, { env: emptyEnv(join(temporaryFolder())) })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(new RegExp(`^Error: ${message.replaceAll(/[.?/]/g, '\\$&')}\\nGive .+\\n$`))
})

test('a control token that is too short is refused, and not shown', async () => {
  const { type } = await session({ isLoggedOut: true })
  const argv = 'sandbox start --port 0 --public-url https://sandbox.example'
  expect(await type(argv, { exported: { REFCHECK_SANDBOX_TOKEN: 'a-short-token-1' } }))
    .toMatchInlineSnapshot(`
    $ refcheck sandbox start --port 0 --public-url https://sandbox.example
    2> Error: REFCHECK_SANDBOX_TOKEN is shorter than 16 characters
    2> Set a longer one, or unset it: a random control token is then printed.
    exit 2
  `)
})

test('a control token of few different characters is refused, and not shown', async () => {
  const { type } = await session({ isLoggedOut: true })
  const argv = 'sandbox start --port 0 --public-url https://sandbox.example'
  for (const token of ['aaaaaaaaaaaaaaaa', '01234560123456012345601234560123'])
    expect(await type(argv, { exported: { REFCHECK_SANDBOX_TOKEN: token } })).toMatchInlineSnapshot(`
      $ refcheck sandbox start --port 0 --public-url https://sandbox.example
      2> Error: REFCHECK_SANDBOX_TOKEN has fewer than 8 different characters
      2> Set a random one, or unset it: a random control token is then printed.
      exit 2
    `)
})

test('a sandbox with --seed that other machines can reach warns that its keys can be guessed', async () => {
  const hasWarning = async (...flags: string[]): Promise<boolean> => {
    const running = startProgram(
      ['sandbox', 'start', '--port', '0', '--json', ...flags],
      emptyEnv(temporaryFolder()),
    )
    await running.until('\n')
    running.child.kill('SIGINT')
    await running.ended
    return running
      .stderr()
      .includes(
        'Warning: the keys of this sandbox follow from --seed, and others can reach it; leave out --seed for random ones\n',
      )
  }
  expect(await hasWarning('--seed', 'demo', '--public-url', 'https://sandbox.example')).toBe(true)
  expect(await hasWarning('--public-url', 'https://sandbox.example')).toBe(false)
  expect(await hasWarning('--seed', 'demo')).toBe(false)
  const data = ['--data', join(temporaryFolder(), 'sandbox.jsonl')]
  expect(await hasWarning('--seed', 'demo', ...data)).toBe(false)
  expect(await hasWarning('--public-url', 'https://sandbox.example', ...data)).toBe(true)
})

test('each start of a sandbox that other machines can reach has another key and webhook secret', async () => {
  const flags = ['sandbox', 'start', '--port', '0', '--json', '--public-url', 'https://sandbox.example']
  const startAndReadSecrets = async () => {
    const running = startProgram(flags, emptyEnv(temporaryFolder()))
    const { api_key, webhook_secret } = JSON.parse(await running.until('\n')) as Record<string, string>
    return [api_key, webhook_secret]
  }
  const [one, other] = [await startAndReadSecrets(), await startAndReadSecrets()]
  expect(new Set([...one, ...other]).size).toBe(4)
})
