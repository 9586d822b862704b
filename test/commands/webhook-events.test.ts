import { expect, test } from 'vitest'

import { eventBody, postDelivery, requestIds } from '../harness/deliveries.ts'
import { TIME } from '../harness/filters.ts'
import { startHandlerApp, startListening } from '../harness/listening-session.ts'
import { type Session, session } from '../harness/session.ts'
import { sign, signingKey } from '../../src/contract/signature.ts'
import { importEvents } from '../../src/usecases/webhook/inbox.ts'

const [firstRequestId, secondRequestId] = requestIds as [string, string]

/** Starts a session with three received events of two requests. */
async function sessionWithEvents(): Promise<Session> {
  const here = await session({ filters: [TIME] })
  const receiver = await startListening(here)
  const bodies = [
    eventBody(firstRequestId, 'PARTIAL'),
    eventBody(secondRequestId, 'PARTIAL'),
    eventBody(secondRequestId, 'COMPLETED'),
  ]
  for (const body of bodies)
    await postDelivery(receiver.url, here.sandbox.credentials.webhookSecret, { body })
  await receiver.stop()
  return here
}

test('webhook events list selects by status, request and time, and webhook events show prints a whole event', async () => {
  const here = await sessionWithEvents()
  expect((await here.type('webhook events list --json')).json()).toMatchObject([
    { id: 1 },
    { id: 2 },
    { id: 3 },
  ])
  const columns = '--columns id,request_id,status,forwarded'
  expect(
    await here.all([
      `webhook events list ${columns}`,
      `webhook events list --status completed ${columns}`,
      `webhook events list --request-id ${secondRequestId} ${columns}`,
      'webhook events list --since 1h --columns id,status',
      'webhook events list --until 1h',
      'webhook events show 3',
      'webhook events show 3 --json',
      'webhook events show 9',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck webhook events list --columns id,request_id,status,forwarded
    ID  REQUEST ID                            STATUS     FORWARDED
    1   ID_1                                  PARTIAL    -
    2   ID_2                                  PARTIAL    -
    3   ID_2                                  COMPLETED  -
    exit 0

    $ refcheck webhook events list --status completed --columns id,request_id,status,forwarded
    ID  REQUEST ID                            STATUS     FORWARDED
    3   ID_2                                  COMPLETED  -
    exit 0

    $ refcheck webhook events list --request-id ID_2 --columns id,request_id,status,forwarded
    ID  REQUEST ID                            STATUS     FORWARDED
    2   ID_2                                  PARTIAL    -
    3   ID_2                                  COMPLETED  -
    exit 0

    $ refcheck webhook events list --since 1h --columns id,status
    ID  STATUS
    1   PARTIAL
    2   PARTIAL
    3   COMPLETED
    exit 0

    $ refcheck webhook events list --until 1h
    No events. Receive them with: refcheck webhook listen
    exit 0

    $ refcheck webhook events show 3
    event 3  YYYY-MM-DD HH:MM +00:00
    ID_2                                  COMPLETED
    forwarded: -
    signature 4e3bd59ee9b0c1278c12f744fcf37aa3a890d7e894569d2fc74d710a7b25a158

    {"event":"request.updated","request_id":"ID_2","status":"COMPLETED"}
    exit 0

    $ refcheck webhook events show 3 --json
    {
      "id": 3,
      "received_at": "YYYY-MM-DD HH:MM +00:00",
      "request_id": "ID_2",
      "status": "COMPLETED",
      "error_reason": null,
      "forwarded": false,
      "dropped": false,
      "repeats": 0,
      "attempts": 0,
      "last_answer": null,
      "oddity": null,
      "signature": "4e3bd59ee9b0c1278c12f744fcf37aa3a890d7e894569d2fc74d710a7b25a158",
      "body": "{\\"event\\":\\"request.updated\\",\\"request_id\\":\\"ID_2\\",\\"status\\":\\"COMPLETED\\"}",
      "body_base64": null
    }
    exit 0

    $ refcheck webhook events show 9
    2> Error: no event 9 in this inbox
    2> List the events with: refcheck webhook events list
    exit 5
  `)
})

test('exported events can be verified and imported into another store; a forged line is refused', async () => {
  const here = await sessionWithEvents()
  const env = { REFCHECK_STORE: 'other.sqlite' }
  expect(await here.all(['webhook events list --export events.ndjson', 'webhook verify --all events.ndjson']))
    .toMatchInlineSnapshot(`
      $ refcheck webhook events list --export events.ndjson
      ID  RECEIVED AT              REQUEST ID                            STATUS     FORWARDED
      1   YYYY-MM-DD HH:MM +00:00  ID_1                                  PARTIAL    -
      2   YYYY-MM-DD HH:MM +00:00  ID_2                                  PARTIAL    -
      3   YYYY-MM-DD HH:MM +00:00  ID_2                                  COMPLETED  -
      exit 0

      $ refcheck webhook verify --all events.ndjson
      PLACE   VALID  REQUEST ID                            STATUS     PROBLEM
      line 1  valid  ID_1                                  PARTIAL    -
      line 2  valid  ID_2                                  PARTIAL    -
      line 3  valid  ID_2                                  COMPLETED  -
      exit 0
    `)
  expect(await here.type('webhook events import events.ndjson', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=other.sqlite refcheck webhook events import events.ndjson
    3 events read: 3 new, 0 already in the inbox
    exit 0
  `)
  expect(await here.type('webhook events import events.ndjson --json', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=other.sqlite refcheck webhook events import events.ndjson --json
    {
      "read": 3,
      "added": 0,
      "repeated": 3
    }
    exit 0
  `)
  here.write('events.ndjson', here.read('events.ndjson').replace('COMPLETED\\"', 'CANCELLED\\"'))
  expect(await here.type('webhook events import events.ndjson')).toMatchInlineSnapshot(`
    $ refcheck webhook events import events.ndjson
    2> Error: events.ndjson: line 3: the signature does not match the body
    2> Nothing was imported. See what is wrong with each line: refcheck webhook verify --all events.ndjson
    exit 2
  `)
})

test('a log of 2,500 events is added in transactions of at most 1,000, and nothing is added if one line is forged', async () => {
  const here = await session()
  const secret = here.sandbox.credentials.webhookSecret
  const createLine = (number: number): string => {
    const body = `{"event":"request.updated","request_id":"${number}","status":"PARTIAL"}`
    return JSON.stringify({ body, signature: sign(Buffer.from(body), signingKey(secret)) })
  }
  const lines = Array.from({ length: 2_500 }, (_, number) => createLine(number))
  const added: number[] = []
  const inbox = {
    add: async (events: readonly unknown[]) => {
      added.push(events.length)
      return events.map((_, id) => ({ id, repeated: id === 0 }))
    },
  }
  const options = { secret, baseUrl: undefined, now: 0, name: 'log.ndjson' }
  const forged = [...lines.slice(0, -1), createLine(1).replace('PARTIAL', 'ERROR')]
  await expect(importEvents(inbox, Buffer.from(forged.join('\n')), options)).rejects.toThrow('line 2500')
  expect(added).toEqual([])
  expect(await importEvents(inbox, Buffer.from(lines.join('\n')), options)).toEqual({
    read: 2_500,
    added: 2_497,
    repeated: 3,
  })
  expect(added).toEqual([1_000, 1_000, 500])
})

test('webhook events replay delivers events to a handler in the given order', async () => {
  const here = await sessionWithEvents()
  const handler = await startHandlerApp()
  expect(await here.type(`webhook events replay 3 1 --to ${handler.url}`)).toMatchInlineSnapshot(`
    $ refcheck webhook events replay 3 1 --to http://127.0.0.1:PORT_2/hooks
    event 3: taken (204)
    event 1: taken (204)
    exit 0
  `)
  expect(handler.acceptedDeliveries.map(({ body }) => body)).toEqual([
    eventBody(secondRequestId, 'COMPLETED'),
    eventBody(firstRequestId, 'PARTIAL'),
  ])
  handler.answers = [500]
  expect(await here.type(`webhook events replay 1 --to ${handler.url}`)).toMatchInlineSnapshot(`
    $ refcheck webhook events replay 1 --to http://127.0.0.1:PORT_2/hooks
    event 1: not taken (500)
    2> Error: the event was not acknowledged
    2> A receiver has to answer 2xx within 10 seconds.
    exit 10
  `)
})

test('an imported event has the time at which it was captured', async () => {
  const here = await session()
  const body = eventBody(firstRequestId)
  const signature = sign(Buffer.from(body), signingKey(here.sandbox.credentials.webhookSecret))
  here.write('captured.ndjson', JSON.stringify({ received_at: '2020-01-02T03:04:05.000Z', body, signature }))
  await here.type('webhook events import captured.ndjson')
  expect(await here.type('webhook events list --columns received_at,status')).toMatchInlineSnapshot(`
    $ refcheck webhook events list --columns received_at,status
    RECEIVED AT              STATUS
    2020-01-02 03:04 +00:00  PARTIAL
    exit 0
  `)
})

test('batch reconcile uses stored events for an order with an unknown outcome', async () => {
  const here = await session()
  const ana = '--first-name Ana --last-name Silva --email ana+cut-after@example.com --phone +61400000001'
  expect((await here.type(`request create --package 102 ${ana} --yes`)).code).toBe(8)
  const id = here.sandbox.requests()[0]?.request_id ?? ''
  const receiver = await startListening(here)
  const body = eventBody(id, 'IN_PROGRESS')
  await postDelivery(receiver.url, here.sandbox.credentials.webhookSecret, { body })
  await receiver.stop()
  expect(await here.type('batch reconcile')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile
    Ana Silva was accepted: request REQUEST_1
    exit 0
  `)
})

test('invalid event ids and an existing export file are refused', async () => {
  const { all, write, read } = await session()
  const ids = ['x', '0', '-1', '1e3', '1.5', '']
  const lines = ids.flatMap((id) => ['show', 'replay'].map((verb) => `webhook events ${verb} -- '${id}'`))
  write('mine', 'mine')
  expect(await all([...lines, 'webhook events list --export mine'])).toMatchInlineSnapshot(`
    $ refcheck webhook events show -- 'x'
    2> Error: ID: "x" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay -- 'x'
    2> Error: ID: "x" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events show -- '0'
    2> Error: ID: "0" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay -- '0'
    2> Error: ID: "0" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events show -- '-1'
    2> Error: ID: "-1" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay -- '-1'
    2> Error: ID: "-1" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events show -- '1e3'
    2> Error: ID: "1e3" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay -- '1e3'
    2> Error: ID: "1e3" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events show -- '1.5'
    2> Error: ID: "1.5" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay -- '1.5'
    2> Error: ID: "1.5" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events show -- ''
    2> Error: ID: "" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay -- ''
    2> Error: ID: "" is not an event id
    2> Event ids are whole numbers. List them with: refcheck webhook events list
    exit 2

    $ refcheck webhook events list --export mine
    2> Error: --export: mine already exists
    2> Choose another name, or remove it first.
    exit 2
  `)
  expect(read('mine')).toBe('mine')
})
