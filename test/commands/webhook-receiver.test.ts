import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { handler } from '../usecases/webhook/receivers/handler.ts'
import { secret } from '../usecases/webhook/receivers/served.ts'
import { webhookSession, startGoodReceiver } from '../harness/webhook-session.ts'
import { identity } from '../http/raw-server.ts'

const id = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

test('webhook send posts a signed event with any status, and prints the answer and its duration', async () => {
  const { url, bodies } = await startGoodReceiver()
  const { webhook } = await webhookSession()
  expect(await webhook(`send --to ${url} --request-id ${id}`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED
    exit 0
  `)
  const error = `send --to ${url} --request-id ${id} --status ERROR`
  expect(await webhook(`${error} --error-reason None`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --status ERROR --error-reason None
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  ERROR
    exit 0
  `)
  expect(await webhook(error)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --status ERROR
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  ERROR
    exit 0
  `)
  expect(await webhook(`send --to ${url} --request-id ${id} --status ON_HOLD`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --status ON_HOLD
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  ON_HOLD
    exit 0
  `)
  const head = `{"event":"request.updated","request_id":"${id}","status":`
  expect(bodies).toEqual([
    `${head}"COMPLETED"}`,
    `${head}"ERROR","error_reason":"None"}`,
    `${head}"ERROR","error_reason":"The request could not be processed."}`,
    `${head}"ON_HOLD"}`,
  ])
})

test('webhook send can repeat an event, and send events in the wrong order', async () => {
  const { url, bodies } = await startGoodReceiver()
  const { webhook } = await webhookSession()
  expect(await webhook(`send --to ${url} --request-id ${id} --times 3`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --times 3
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED
    exit 0
  `)
  expect(new Set(bodies).size).toBe(1)
  expect(bodies.splice(0)).toHaveLength(3)
  expect(await webhook(`send --to ${url} --request-id ${id} --out-of-order`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --out-of-order
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  PARTIAL
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  IN_PROGRESS
    exit 0
  `)
  const events = bodies.map((body) => JSON.parse(body) as Record<string, string>)
  expect(events.map(({ status }) => status)).toEqual(['COMPLETED', 'PARTIAL', 'IN_PROGRESS'])
  expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(1)
})

test('webhook send exits with 10 if the receiver refuses the event, and --json has the answer', async () => {
  const { url } = await startGoodReceiver()
  const { webhook } = await webhookSession()
  const wrongSecret = { env: { REFCHECK_WEBHOOK_SECRET: 'another' } }
  expect(await webhook(`send --to ${url} --request-id ${id}`, wrongSecret)).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET=another refcheck webhook send --to http://127.0.0.1:PORT_1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    refused  401 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED
    2> Error: the receiver refused the event
    2> It has to answer 2xx. Check that it has the same secret, and find the cause with: refcheck webhook check-receiver URL
    exit 10
  `)
  const json = await webhook(`send --to ${url} --request-id ${id} --json`, wrongSecret)
  expect(json.code).toBe(10)
  expect(json.json()).toMatchObject({
    to: url,
    deliveries: [
      { request_id: id, status: 'COMPLETED', signature: 'good', answered: 401, accepted: false, said: '' },
    ],
    error: { code: 'incomplete' },
  })
})

test('webhook send --bad-signature exits with 0 only if the receiver refuses the event', async () => {
  const { url } = await startGoodReceiver()
  const { webhook } = await webhookSession()
  expect(await webhook(`send --to ${url} --bad-signature --request-id ${id}`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --bad-signature --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    refused  401 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED  bad signature
    exit 0
  `)
  const careless = await handler({ isSignatureValid: () => true })()
  expect(await webhook(`send --to ${careless} --bad-signature --request-id ${id}`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_2/hook --bad-signature --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    accepted  204 in # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED  bad signature
    2> Error: the receiver accepted the event with a bad signature
    2> Anybody could send it events. It has to verify the signature over the exact bytes.
    exit 10
  `)
})

test('a refused connection exits with 7', async () => {
  const { webhook } = await webhookSession()
  expect(await webhook(`send --to http://127.0.0.1:1/hook --request-id ${id}`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:1/hook --request-id 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    no answer  # ms  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55  COMPLETED  "connection refused"
    2> Error: 127.0.0.1:1: connection refused
    2> Check the URL, and that the receiver is running.
    exit 7
  `)
  expect(await webhook('check-receiver http://127.0.0.1:1/hook')).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:1/hook
    2> Sending made-up events to http://127.0.0.1:1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: 127.0.0.1:1: connection refused
    2> Check the URL, and that the receiver is running.
    exit 7
  `)
})

test('webhook send and check-receiver refuse plain http over a network, a password in a URL, and a text that is no URL', async () => {
  const { all } = await webhookSession()
  const urls = ['http://receiver.example/hook', 'https://me:pass@receiver.example/hook', 'receiver']
  const lines = urls.flatMap((url) => [`webhook send --to ${url}`, `webhook check-receiver ${url}`])
  const exported = { REFCHECK_WEBHOOK_SECRET: secret }
  expect(await all(lines, { exported })).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://receiver.example/hook
    2> Error: --to: refused http://receiver.example: https is required
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost).
    exit 2

    $ refcheck webhook check-receiver http://receiver.example/hook
    2> Error: URL: refused http://receiver.example: https is required
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost).
    exit 2

    $ refcheck webhook send --to https://me:pass@receiver.example/hook
    2> Error: --to: refused a URL with a user name in it: receiver.example
    2> Remove the part before the @.
    exit 2

    $ refcheck webhook check-receiver https://me:pass@receiver.example/hook
    2> Error: URL: refused a URL with a user name in it: receiver.example
    2> Remove the part before the @.
    exit 2

    $ refcheck webhook send --to receiver
    2> Error: --to: "receiver" is not a URL
    2> A URL looks like https://staging.example.com/hook
    exit 2

    $ refcheck webhook check-receiver receiver
    2> Error: URL: "receiver" is not a URL
    2> A URL looks like https://staging.example.com/hook
    exit 2
  `)
})

test('invalid flags and a missing secret exit with 2, and nothing is sent', async () => {
  const { url, bodies } = await startGoodReceiver()
  const { type, all } = await webhookSession()
  const env = { REFCHECK_WEBHOOK_SECRET: secret }
  expect(
    await all(
      [
        `webhook send --to ${url} --error-reason x`,
        `webhook send --to ${url} --status PARTIAL --out-of-order`,
        `webhook send --to ${url} --times 0`,
        'webhook send',
        `webhook check-receiver ${url} --only nothing`,
        `webhook check-receiver ${url} --within 0s`,
      ],
      { exported: env },
    ),
  ).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --error-reason x
    2> Error: --error-reason requires --status ERROR
    2> The service sends a reason only when the status is ERROR.
    exit 2

    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --status PARTIAL --out-of-order
    2> Error: --status and --out-of-order cannot be combined
    2> --out-of-order sends COMPLETED, PARTIAL, IN_PROGRESS of one request.
    exit 2

    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook --times 0
    2> Error: --times: "0" is less than 1
    2> Show its help with: refcheck webhook send --help
    exit 2

    $ refcheck webhook send
    2> Error: --to is required
    2> Show its help with: refcheck webhook send --help
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --only nothing
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --only: no case named "nothing"
    2> Cases: good-event, every-status, error-with-reason, error-without-reason, error-reason-odd, bytes-spaced, bytes-escaped, bytes-utf8, bytes-order, bytes-newline, header-case, chunked, content-type-charset, duplicate, duplicate-at-once, out-of-order, extra-fields, unknown-status, unknown-event, signature-missing, signature-empty, signature-wrong, signature-upper-case, signature-base64, signature-prefixed, signature-doubled, signature-cut, signature-longer, signature-not-hex, body-edited, body-reformatted, verify-before-parsing, constant-time, method-get, burst, signed-oddities, still-good, stored-first, stored-once, stored-each-status, stored-in-order, stored-burst, stored-forged, stored-all, stored-restart, in-time
    exit 2

    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook --within 0s
    2> Sending made-up events to http://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: --within must be above 0
    2> For example: --within 2s
    exit 2
  `)
  expect(await type(`webhook send --to ${url}`)).toMatchInlineSnapshot(`
    $ refcheck webhook send --to http://127.0.0.1:PORT_1/hook
    2> Error: the webhook secret is missing
    2> Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret
    exit 2
  `)
  expect(await type(`webhook check-receiver ${url}`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver http://127.0.0.1:PORT_1/hook
    2> Error: the webhook secret is missing
    2> Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret
    exit 2
  `)
  expect(bodies).toEqual([])
})

test('a token in the URL’s query is sent to the receiver, and not printed', async () => {
  const { url, bodies } = await startGoodReceiver()
  const { webhook } = await webhookSession()
  for (const argv of [
    `send --to ${url}?token=abc123 --json`,
    `check-receiver ${url}?token=abc123 --only good --json --junit r.xml`,
  ]) {
    const { stdout, stderr, code } = await webhook(argv)
    expect({ code, isPrinted: `${stdout}${stderr}`.includes('abc123') }).toEqual({
      code: 0,
      isPrinted: false,
    })
  }
  expect(bodies).toHaveLength(2)
})

test('an untrusted certificate exits with 7 and the way to trust it', async () => {
  const server = createServer(identity('self-signed'), (_request, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { webhook } = await webhookSession()
  expect(await webhook(`check-receiver https://127.0.0.1:${port}/hook`)).toMatchInlineSnapshot(`
    $ refcheck webhook check-receiver https://127.0.0.1:PORT_1/hook
    2> Sending made-up events to https://127.0.0.1:PORT_1/hook, signed with the webhook secret; the requests they name do not exist.
    2> Error: 127.0.0.1:PORT_1: its certificate is self-signed
    2> If the certificate is your own, set its authority with: NODE_EXTRA_CA_CERTS=FILE
    exit 7
  `)
})
