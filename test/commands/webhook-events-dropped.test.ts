import { expect, test } from 'vitest'

import { eventBody, postDelivery, requestIds } from '../harness/deliveries.ts'
import { TIME, TIME_OF_DAY } from '../harness/filters.ts'
import { startHandlerApp, startListening } from '../harness/listening-session.ts'
import { session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `poison` of the fault table (test/resilience/rows.ts).
recordForFaultTable('poison', { mustNotHappen: 'blocked for ever' })

const firstRequestId = requestIds[0] as string

test('an event that no handler accepts is dropped after --max-attempts or by webhook events drop, and stays stored', async () => {
  const here = await session({ filters: [TIME, TIME_OF_DAY] })
  const secret = here.sandbox.credentials.webhookSecret
  const handler = await startHandlerApp()
  handler.answers = [500, 500]
  const forwarding = ['--forward-to', handler.url, '--max-attempts', '2', '--max-events', '2']
  const receiver = await startListening(here, forwarding)
  for (const status of ['PARTIAL', 'COMPLETED'])
    await postDelivery(receiver.url, secret, { body: eventBody(firstRequestId, status) })
  expect(await receiver.ended).toMatchInlineSnapshot(`
    $ refcheck webhook listen --port 0 --forward-to http://127.0.0.1:PORT_1/hooks --max-attempts 2 --max-events 2
    2> Listening at http://127.0.0.1:PORT_2/ (Ctrl-C stops it).
    HH:MM:SS  ID_1                                  PARTIAL
    HH:MM:SS  ID_1                                  COMPLETED
    2> Could not forward event 1 (ID_1 PARTIAL): it answered 500; retrying in 0.5 s
    2> Dropped event 1 (ID_1 PARTIAL): it answered 500. Forward it again with: refcheck webhook events replay 1
    2> Forwarded event 2 (ID_1 COMPLETED): 204
    exit 0
  `)
  expect(
    await here.all([
      'webhook events list --columns id,status,forwarded',
      'webhook events drop 2',
      'webhook events replay 1',
      'webhook events list --columns id,status,forwarded',
      'webhook events drop 1 2',
      'webhook events drop 1',
      'webhook events drop 1 --json',
      'webhook events list --json',
      'webhook events drop 9',
      'webhook listen --port 0 --max-attempts 3',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck webhook events list --columns id,status,forwarded
    ID  STATUS     FORWARDED
    1   PARTIAL    dropped
    2   COMPLETED  YYYY-MM-DD HH:MM +00:00
    exit 0

    $ refcheck webhook events drop 2
    2> Error: event 2 was forwarded at YYYY-MM-DD HH:MM +00:00
    2> Nothing was dropped. See which events wait: refcheck webhook events list
    exit 2

    $ refcheck webhook events replay 1
    event 1: queued for "webhook listen" with --forward-to or --exec
    exit 0

    $ refcheck webhook events list --columns id,status,forwarded
    ID  STATUS     FORWARDED
    1   PARTIAL    waits
    2   COMPLETED  YYYY-MM-DD HH:MM +00:00
    exit 0

    $ refcheck webhook events drop 1 2
    2> Error: event 2 was forwarded at YYYY-MM-DD HH:MM +00:00
    2> Nothing was dropped. See which events wait: refcheck webhook events list
    exit 2

    $ refcheck webhook events drop 1
    event 1: dropped, and kept
    exit 0

    $ refcheck webhook events drop 1 --json
    [
      {
        "id": 1,
        "dropped": true
      }
    ]
    exit 0

    $ refcheck webhook events list --json
    [
      {
        "id": 1,
        "received_at": "YYYY-MM-DD HH:MM +00:00",
        "request_id": "ID_1",
        "status": "PARTIAL",
        "error_reason": null,
        "forwarded": false,
        "dropped": true
      },
      {
        "id": 2,
        "received_at": "YYYY-MM-DD HH:MM +00:00",
        "request_id": "ID_1",
        "status": "COMPLETED",
        "error_reason": null,
        "forwarded": true,
        "dropped": false
      }
    ]
    exit 0

    $ refcheck webhook events drop 9
    2> Error: no event 9 in this inbox
    2> List the events with: refcheck webhook events list
    exit 5

    $ refcheck webhook listen --port 0 --max-attempts 3
    2> Error: --max-attempts requires --forward-to or --exec
    2> Nothing is forwarded without one of them.
    exit 2
  `)
  expect(handler.acceptedDeliveries.map(({ body }) => body)).toEqual([eventBody(firstRequestId, 'COMPLETED')])
})

test('an event about a removed person is not forwarded', async () => {
  const here = await session()
  const ana = '--first-name Ana --last-name Silva --email ana@example.com --phone +61400000001'
  await here.type(`request create --package 102 ${ana} --yes`)
  const id = here.sandbox.requests()[0]?.request_id ?? ''
  await here.type('store purge --email ana@example.com --yes')
  const receiver = await startListening(here)
  await postDelivery(receiver.url, here.sandbox.credentials.webhookSecret, {
    body: eventBody(id, 'IN_PROGRESS'),
  })
  await receiver.stop()
  const handler = await startHandlerApp()
  expect(await here.all([`webhook events replay 1 --to ${handler.url}`, 'webhook events replay 1']))
    .toMatchInlineSnapshot(`
    $ refcheck webhook events replay 1 --to http://127.0.0.1:PORT_2/hooks
    2> Error: event 1 is about a person who was removed
    2> Nothing was forwarded: of such an event only the status is kept.
    exit 2

    $ refcheck webhook events replay 1
    2> Error: event 1 is about a person who was removed
    2> Nothing was forwarded: of such an event only the status is kept.
    exit 2
  `)
  expect(handler.acceptedDeliveries).toEqual([])
})
