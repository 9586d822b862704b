import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { eventBody, postDelivery, requestIds } from '../harness/deliveries.ts'
import { TIME, TIME_OF_DAY } from '../harness/filters.ts'
import { startHandlerApp, startListening } from '../harness/listening-session.ts'
import { type Session, session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('children', { mustNotHappen: 'keys passed on', titles: /exec gets/ })

const [firstRequestId, secondRequestId] = requestIds as [string, string]
const vectors = join(import.meta.dirname, '..', 'vectors', 'tls')

interface ListedEvent {
  id: number
  request_id: string
  status: string
  forwarded: boolean
}

const listenerSession = (): Promise<Session> =>
  session({ filters: [TIME, TIME_OF_DAY, [/\S*(?=\/vectors\/)/g, 'TEST']] })
const secretOf = ({ sandbox }: Session): string => sandbox.credentials.webhookSecret
const listEvents = async ({ type }: Session): Promise<ListedEvent[]> =>
  (await type('webhook events list --json')).json() as ListedEvent[]

test('a valid delivery is stored, acknowledged and reported; the same delivery again is only acknowledged', async () => {
  const here = await listenerSession()
  const receiver = await startListening(here)
  const delivery = { body: eventBody() }
  expect(await postDelivery(receiver.url, secretOf(here), delivery)).toBe(204)
  expect(await postDelivery(receiver.url, secretOf(here), delivery)).toBe(204)
  expect(await receiver.stop()).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0
    2> Listening at http://127.0.0.1:PORT_1/ (Ctrl-C stops it).
    HH:MM:SS  ID_1                                  PARTIAL
    HH:MM:SS  ID_1                                  PARTIAL  (duplicate)
    2> Interrupted; 1 new event recorded
    ^C
    exit 130
  `)
  expect(await here.type('webhook events list')).toMatchInlineSnapshot(`
    $ refcheck webhook events list
    ID  RECEIVED AT              REQUEST ID                            STATUS   FORWARDED
    1   YYYY-MM-DD HH:MM +00:00  ID_1                                  PARTIAL  -
    exit 0
  `)
  expect(await listEvents(here)).toHaveLength(1)
})

test('--json prints one document per line; --max-events ends the command, and repeated events do not count', async () => {
  const here = await listenerSession()
  const receiver = await startListening(here, ['--max-events', '2', '--json'])
  for (const status of ['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED']) {
    expect(
      await postDelivery(receiver.url, secretOf(here), { body: eventBody(firstRequestId, status) }),
    ).toBe(204)
  }
  expect(await receiver.ended).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0 --max-events 2 --json
    2> Listening at http://127.0.0.1:PORT_1/ (Ctrl-C stops it).
    {"id":1,"received_at":"YYYY-MM-DD HH:MM +00:00","request_id":"ID_1","status":"IN_PROGRESS","event":"request.updated","error_reason":null,"repeated":false,"oddity":null}
    {"id":1,"received_at":"YYYY-MM-DD HH:MM +00:00","request_id":"ID_1","status":"IN_PROGRESS","event":"request.updated","error_reason":null,"repeated":true,"oddity":null}
    {"id":2,"received_at":"YYYY-MM-DD HH:MM +00:00","request_id":"ID_1","status":"COMPLETED","event":"request.updated","error_reason":null,"repeated":false,"oddity":null}
    exit 0
  `)
  expect(await listEvents(here)).toHaveLength(2)
})

test('a delivery without a signature, with another one, or with a prefix is refused with 401 and not stored', async () => {
  const here = await listenerSession()
  const receiver = await startListening(here)
  for (const signature of [null, 'a'.repeat(64), `sha256=${'a'.repeat(64)}`]) {
    expect(await postDelivery(receiver.url, secretOf(here), { body: eventBody(), signature })).toBe(401)
  }
  expect(await receiver.stop()).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0
    2> Listening at http://127.0.0.1:PORT_1/ (Ctrl-C stops it).
    2> Refused a delivery: the signature is missing.
    2> Refused a delivery: the signature does not match the body.
    2> Refused a delivery: the signature has a prefix, "sha256=".
    2> Interrupted; 0 new events recorded
    ^C
    exit 130
  `)
  expect(await listEvents(here)).toEqual([])
})

test('a signed body that is no known event is stored, and this is reported', async () => {
  const here = await listenerSession()
  const receiver = await startListening(here)
  const bodies = [
    eventBody(firstRequestId, 'SHINY'),
    eventBody().replace('request.updated', 'request.created'),
    'hello',
  ]
  for (const body of bodies) expect(await postDelivery(receiver.url, secretOf(here), { body })).toBe(204)
  expect(await receiver.stop()).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0
    2> Listening at http://127.0.0.1:PORT_1/ (Ctrl-C stops it).
    HH:MM:SS  ID_1                                  SHINY  (unknown status "SHINY")
    HH:MM:SS  ID_1                                  PARTIAL  (unknown event "request.created")
    HH:MM:SS  -  -  (the body is not an event of the API document)
    2> Interrupted; 3 new events recorded
    ^C
    exit 130
  `)
  expect(await listEvents(here)).toHaveLength(3)
})

test('errors are 413 for large bodies, 404 for other paths and 405 for other methods; GET returns the health, also at /', async () => {
  const here = await listenerSession()
  const receiver = await startListening(here, ['--path', '/in'])
  expect(receiver.url.endsWith('/in')).toBe(true)
  expect(await postDelivery(receiver.url, secretOf(here), { body: 'x'.repeat(1024 * 1024 + 1) })).toBe(413)
  expect(await postDelivery(receiver.url.replace('/in', '/out'), secretOf(here), { body: eventBody() })).toBe(
    404,
  )
  expect((await fetch(receiver.url, { method: 'DELETE' })).status).toBe(405)
  for (const url of [receiver.url, new URL('/', receiver.url)]) {
    const health = await fetch(url)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
  }
  expect((await fetch(new URL('/', receiver.url), { method: 'POST', body: 'x' })).status).toBe(404)
  expect((await fetch(new URL('/out', receiver.url))).status).toBe(404)
  await receiver.stop()
  expect(await listEvents(here)).toEqual([])
})

test('the receiver can use TLS; an invalid or missing certificate and key are refused with a message', async () => {
  const here = await listenerSession()
  const createTlsLine = (cert: string, key: string): string =>
    `webhook listen --port 0 --tls-cert ${join(vectors, cert)} --tls-key ${join(vectors, key)}`
  const [, , , , ...tlsFlags] = createTlsLine('service.pem', 'service.key').split(' ')
  const receiver = await startListening(here, tlsFlags)
  expect(receiver.url).toMatch(/^https:/)
  await receiver.stop()
  expect(
    await here.all([
      createTlsLine('README.md', 'service.key'),
      createTlsLine('service.pem', 'other.key'),
      'webhook listen --port 0 --tls-cert none.pem --tls-key none.key',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0 --tls-cert TESTTEST/vectors/tls/README.md --tls-key TESTTEST/vectors/tls/service.key
    2> Error: the TLS certificate and its key cannot be used
    2> Both have to be PEM files, and the key has to belong to the certificate and have no passphrase.
    exit 2

    $ refcheck webhook listen --port 0 --tls-cert TESTTEST/vectors/tls/service.pem --tls-key TESTTEST/vectors/tls/other.key
    2> Error: the TLS certificate and its key cannot be used
    2> Both have to be PEM files, and the key has to belong to the certificate and have no passphrase.
    exit 2

    $ refcheck webhook listen --port 0 --tls-cert none.pem --tls-key none.key
    2> Error: file not found: none.pem
    2> Check the path.
    exit 2
  `)
})

test('webhook listen is refused without a secret, and with forwarding over plain http to another machine', async () => {
  const { type } = await listenerSession()
  const env = { REFCHECK_WEBHOOK_SECRET: '' }
  expect(await type('webhook listen --port 0', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_WEBHOOK_SECRET='' refcheck webhook listen --port 0
    2> Error: REFCHECK_WEBHOOK_SECRET is empty
    2> Give the secret of the organisation’s webhook. Without one, anybody could sign.
    exit 2
  `)
  expect(await type('webhook listen --port 0 --forward-to http://example.com/')).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0 --forward-to http://example.com/
    2> Error: --forward-to: refused http://example.com: https is required
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost).
    exit 2
  `)
})

test('a line break in an event cannot forge a line of output', async () => {
  const here = await listenerSession()
  const handler = await startHandlerApp()
  const receiver = await startListening(here, ['--forward-to', handler.url, '--max-events', '1'])
  const body = JSON.stringify({
    event: 'request.updated',
    request_id: firstRequestId,
    status: 'X\nForwarded event 9',
  })
  await postDelivery(receiver.url, secretOf(here), { body })
  const { stderr } = await receiver.ended
  expect(stderr.split('\n')).toContain(`Forwarded event 1 (${firstRequestId} X Forwarded event 9): 204`)
})

test('events are forwarded with their exact bytes and signature', async () => {
  const here = await listenerSession()
  const handler = await startHandlerApp()
  const receiver = await startListening(here, ['--forward-to', handler.url, '--max-events', '1'])
  const body = `{ "event" : "request.updated",\n "request_id":"${firstRequestId}", "status":"PARTIAL" }\n`
  await postDelivery(receiver.url, secretOf(here), { body })
  expect(await receiver.ended).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0 --forward-to http://127.0.0.1:PORT_1/hooks --max-events 1
    2> Listening at http://127.0.0.1:PORT_2/ (Ctrl-C stops it).
    HH:MM:SS  ID_1                                  PARTIAL
    2> Forwarded event 1 (ID_1 PARTIAL): 204
    exit 0
  `)
  expect(handler.acceptedDeliveries).toEqual([
    { body, signature: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  ])
  expect(await listEvents(here)).toMatchObject([{ forwarded: true }])
})

test('a failed forward is tried again within a second, and delays only events of the same request', async () => {
  const here = await listenerSession()
  const handler = await startHandlerApp()
  handler.answers = [503, 503]
  const receiver = await startListening(here, ['--forward-to', handler.url, '--max-events', '3'])
  const bodies = [
    eventBody(firstRequestId, 'IN_PROGRESS'),
    eventBody(firstRequestId, 'COMPLETED'),
    eventBody(secondRequestId, 'PARTIAL'),
  ]
  for (const body of bodies) await postDelivery(receiver.url, secretOf(here), { body })
  const { code, stderr } = await receiver.ended
  expect(code).toBe(0)
  // No snapshot, because it varies which of the two requests is forwarded first.
  expect(stderr).toMatch(
    /^Could not forward event 1 \(\S+ IN_PROGRESS\): it answered 503; retrying in 0\.5 s$/m,
  )
  const order = handler.acceptedDeliveries.map(({ body }) => body)
  expect(order.indexOf(eventBody(firstRequestId, 'IN_PROGRESS'))).toBeLessThan(
    order.indexOf(eventBody(firstRequestId, 'COMPLETED')),
  )
  expect(order).toHaveLength(3)
})

test('after a restart, events that were not forwarded are forwarded first', async () => {
  const here = await listenerSession()
  const handler = await startHandlerApp()
  handler.answers = Array.from({ length: 50 }, () => 503)
  const first = await startListening(here, ['--forward-to', handler.url])
  await postDelivery(first.url, secretOf(here), { body: eventBody(firstRequestId, 'PARTIAL') })
  await first.stop()
  handler.answers = []
  const second = await startListening(here, ['--forward-to', handler.url, '--max-events', '1'])
  await postDelivery(second.url, secretOf(here), { body: eventBody(firstRequestId, 'COMPLETED') })
  await second.ended
  expect(handler.acceptedDeliveries.map(({ body }) => body)).toEqual([
    eventBody(firstRequestId, 'PARTIAL'),
    eventBody(firstRequestId, 'COMPLETED'),
  ])
})

test('two receivers on one store forward each event once', async () => {
  const here = await listenerSession()
  const handler = await startHandlerApp()
  const receivers = [
    await startListening(here, ['--forward-to', handler.url]),
    await startListening(here, ['--forward-to', handler.url]),
  ]
  const statuses = ['IN_PROGRESS', 'PARTIAL', 'COMPLETED']
  for (const [at, status] of statuses.entries()) {
    await postDelivery(receivers[at % 2]?.url ?? '', secretOf(here), {
      body: eventBody(firstRequestId, status),
    })
  }
  while (handler.acceptedDeliveries.length < 3) await new Promise((resolve) => setImmediate(resolve))
  for (const each of receivers) await each.stop()
  expect(handler.acceptedDeliveries.map(({ body }) => body)).toEqual(
    statuses.map((status) => eventBody(firstRequestId, status)),
  )
})

test('--exec gets the event on its standard input, without a shell and without secrets', async () => {
  const here = await listenerSession()
  mkdirSync(join(here.folder, 'a folder'))
  here.write(
    'a folder/on event.mjs',
    `import { readFileSync, writeFileSync } from 'node:fs'
     writeFileSync(process.argv[2], JSON.stringify({
       stdin: readFileSync(0, 'utf8'), rest: process.argv.slice(3),
       secrets: Object.keys(process.env).filter((name) => /API_KEY|SECRET/.test(name)),
     }))`,
  )
  const script = join(here.folder, 'a folder', 'on event.mjs')
  const exec = `"${process.execPath}" '${script}' ${join(here.folder, 'out.json')} '$HOME; echo' *`
  const receiver = await startListening(here, ['--exec', exec, '--max-events', '1'])
  await postDelivery(receiver.url, secretOf(here), { body: eventBody() })
  expect((await receiver.ended).code).toBe(0)
  expect(JSON.parse(here.read('out.json'))).toEqual({
    stdin: eventBody(),
    rest: ['$HOME; echo', '*'],
    secrets: [],
  })
})
