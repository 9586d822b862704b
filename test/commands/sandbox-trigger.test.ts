import { createServer } from 'node:http'

import { expect, onTestFinished, test } from 'vitest'

import { signingKey, verify } from '../../src/contract/signature.ts'
import { startSandboxProcess } from '../harness/parallel-program.ts'
import { startHandlerApp } from '../harness/listening-session.ts'
import { session } from '../harness/session.ts'

/** Returns the statuses that a receiver accepted, in the order of their arrival. */
const readStatuses = (acceptedDeliveries: readonly { body: string }[]): string[] =>
  acceptedDeliveries.map(({ body }) => (JSON.parse(body) as { status: string }).status)

test('sandbox trigger without a story lists the stories, and needs no sandbox', async () => {
  const here = await session({ isLoggedOut: true })
  expect(
    await here.all([
      'sandbox trigger',
      'sandbox trigger --to http://127.0.0.1:9/',
      'sandbox trigger weather',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox trigger
    STORY         WHAT
    completed     IN_PROGRESS, PARTIAL, then COMPLETED, each event when it happens.
    partial       IN_PROGRESS, then PARTIAL: one check is COMPLETED, the others stay in progress.
    error         IN_PROGRESS, then ERROR with an error_reason.
    cancelled     IN_PROGRESS, then CANCELLED: the recipient declines.
    out-of-order  The request is COMPLETED; its events arrive in reverse, COMPLETED first.
    repeated      Each event of a COMPLETED request is delivered twice.
    late          The request is COMPLETED before the first of its events arrives.
    forged        Before each event the same with a signature that does not match; the receiver has to refuse it.
    exit 0

    $ refcheck sandbox trigger --to http://127.0.0.1:9/
    2> Error: STORY: required with --to
    2> Stories: completed, partial, error, cancelled, out-of-order, repeated, late, forged
    exit 2

    $ refcheck sandbox trigger weather
    2> Error: no story named "weather"
    2> Stories: completed, partial, error, cancelled, out-of-order, repeated, late, forged
    exit 2
  `)
})

const stories: [story: string, statuses: string[], end: string][] = [
  ['completed', ['IN_PROGRESS', 'PARTIAL', 'COMPLETED'], 'COMPLETED'],
  ['partial', ['IN_PROGRESS', 'PARTIAL'], 'PARTIAL'],
  ['error', ['IN_PROGRESS', 'ERROR'], 'ERROR'],
  ['cancelled', ['IN_PROGRESS', 'CANCELLED'], 'CANCELLED'],
  ['out-of-order', ['COMPLETED', 'PARTIAL', 'IN_PROGRESS'], 'COMPLETED'],
  ['repeated', ['IN_PROGRESS', 'IN_PROGRESS', 'PARTIAL', 'PARTIAL', 'COMPLETED', 'COMPLETED'], 'COMPLETED'],
  ['late', ['IN_PROGRESS', 'PARTIAL', 'COMPLETED'], 'COMPLETED'],
]

test('each story delivers the signed events of one request in its order, and the request has the last status of the story', async () => {
  const here = await startSandboxProcess(['--clock', 'manual'])
  const key = signingKey(here.address['webhook_secret'] ?? '')
  const lastStatuses = new Map<string, string>()
  for (const [story, statuses, end] of stories) {
    const app = await startHandlerApp()
    const step = await here.type(['sandbox', 'trigger', story, '--to', app.url, '--json'])
    expect(step.code).toBe(0)
    const ms = expect.any(Number) as number
    const request_id = expect.any(String) as string
    const printedStory = step.json() as { request_id: string }
    const answered = { signature: 'good', http_status: 204, failure: null, ms }
    const deliveries = statuses.map((status) => ({ status, ...answered }))
    expect(printedStory).toEqual({ story, request_id, deliveries })
    expect(readStatuses(app.acceptedDeliveries)).toEqual(statuses)
    for (const { body, signature } of app.acceptedDeliveries) {
      expect(verify(Buffer.from(body), signature, key)).toBe(true)
      const event = JSON.parse(body) as { request_id: string; status: string; error_reason?: string }
      expect(event.request_id).toBe(printedStory.request_id)
      expect(event.error_reason !== undefined).toBe(event.status === 'ERROR')
    }
    lastStatuses.set(printedStory.request_id, end)
  }
  await here.type('sandbox advance 30d')
  const read = (await here.type(['request', 'get', ...lastStatuses.keys(), '--json'])).json() as {
    request_id: string
    status: string
  }[]
  expect(new Map(read.map(({ request_id, status }) => [request_id, status]))).toEqual(lastStatuses)
})

test('sandbox trigger prints the answer to each event, and exits with 10 if the receiver accepts a forged event', async () => {
  const here = await startSandboxProcess()
  const app = await startHandlerApp()
  await here.type(['sandbox', 'set', 'webhook-url', app.url])
  // Delivers to the webhook URL of the sandbox. The receiver answers as if it verified signatures.
  app.answers.push(401, 204, 401, 204, 401, 204)
  expect(removeDurations(await here.type('sandbox trigger forged'))).toMatchInlineSnapshot(`
    "$ refcheck sandbox trigger forged
    Story "forged" of request ID_1
    IN_PROGRESS, bad signature: answered 401 after N ms
    IN_PROGRESS: answered 204 after N ms
    PARTIAL, bad signature: answered 401 after N ms
    PARTIAL: answered 204 after N ms
    COMPLETED, bad signature: answered 401 after N ms
    COMPLETED: answered 204 after N ms
    exit 0"
  `)
  expect(removeDurations(await here.type(['sandbox', 'trigger', 'forged', '--to', app.url])))
    .toMatchInlineSnapshot(`
    "$ refcheck sandbox trigger forged --to http://127.0.0.1:PORT_1/hooks
    Story "forged" of request ID_2
    IN_PROGRESS, bad signature: answered 204 after N ms
    IN_PROGRESS: answered 204 after N ms
    PARTIAL, bad signature: answered 204 after N ms
    PARTIAL: answered 204 after N ms
    COMPLETED, bad signature: answered 204 after N ms
    COMPLETED: answered 204 after N ms
    2> Error: the receiver did not answer 3 of 6 events as it has to: it accepted a bad signature
    2> Anybody could send it events. It has to verify the signature over the exact bytes.
    exit 10"
  `)
  app.answers.push(204, 500)
  expect(removeDurations(await here.type(['sandbox', 'trigger', 'cancelled', '--to', app.url])))
    .toMatchInlineSnapshot(`
    "$ refcheck sandbox trigger cancelled --to http://127.0.0.1:PORT_1/hooks
    Story "cancelled" of request ID_3
    IN_PROGRESS: answered 204 after N ms
    CANCELLED: answered 500 after N ms
    2> Error: the receiver did not answer 1 of 2 events with 2xx
    2> Check that it has the webhook secret of the sandbox, and find the cause with: refcheck webhook check-receiver URL
    exit 10"
  `)
  expect((await here.type('sandbox status --json')).json()).toMatchObject({
    requests: { COMPLETED: 2, CANCELLED: 1 },
    quota: [{ used: 0 }, { used: 0 }],
  })
})

test('sandbox trigger reports a missing receiver, and a sandbox without a webhook URL', async () => {
  const here = await startSandboxProcess()
  expect(removeDurations(await here.type('sandbox trigger partial --to http://127.0.0.1:9/')))
    .toMatchInlineSnapshot(`
    "$ refcheck sandbox trigger partial --to http://127.0.0.1:9/
    Story "partial" of request ID_1
    IN_PROGRESS: 127.0.0.1:9: connection refused after N ms
    PARTIAL: 127.0.0.1:9: connection refused after N ms
    2> Error: the receiver did not answer 2 of 2 events
    2> Check the URL, and that the receiver is running.
    exit 10"
  `)
  expect(
    await here.all(['sandbox trigger partial', 'sandbox trigger partial --to http://hooks.example.com/']),
  ).toMatchInlineSnapshot(`
    $ refcheck sandbox trigger partial
    2> Error: there is no webhook URL to deliver to
    2> Give one with --to URL, or set one with: refcheck sandbox set webhook-url URL
    exit 2

    $ refcheck sandbox trigger partial --to http://hooks.example.com/
    2> Error: the webhook http://hooks.example.com is not https
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost), and for networks that sandbox start --allow-http-from names.
    exit 2
  `)
})

test.each([
  [
    'the envelope of the API',
    404,
    '{"data":null,"status_message":"client_error","message":"resource not found"}',
  ],
  ['an empty object', 200, '{}'],
  ['a page', 200, '<html></html>'],
  ['other JSON', 404, '{"error":{"message":"no such page"}}'],
  ['a redirect', 302, ''],
])('a service that answers with %s is refused before anything is posted', async (_what, status, body) => {
  const methods: string[] = []
  const server = createServer((request, response) => {
    methods.push(request.method ?? '')
    response.writeHead(status, { location: '/elsewhere' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const here = await session({ isLoggedOut: true })
  const url = `http://127.0.0.1:${port}`
  const step = await here.type(['sandbox', 'trigger', 'completed', '--base-url', url, '--to', `${url}/hook`])
  expect(step.code).toBe(2)
  expect(step.stdout).toBe('')
  expect(methods).toEqual(['GET'])
})

/** Returns a transcript without the duration of each answer. */
const removeDurations = ({ text }: { text: string }): string => text.replaceAll(/after \d+ ms/g, 'after N ms')
