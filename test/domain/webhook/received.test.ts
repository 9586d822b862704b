import { expect, test } from 'vitest'

import { read } from '../../../src/domain/webhook/received.ts'
import { eventBody, requestIds } from '../../harness/deliveries.ts'

const of = (body: string | Uint8Array) => read(Buffer.from(body), 'ab', 5)

test('an event of the document is read whole, and nothing is odd about it', () => {
  const body = eventBody()
  expect(of(body)).toEqual({
    receivedAt: 5,
    body: Buffer.from(body),
    signature: 'ab',
    requestId: requestIds[0],
    status: 'PARTIAL',
    event: 'request.updated',
    oddity: undefined,
  })
})

test.each([
  ['an unknown status', eventBody(requestIds[0], 'SHINY'), /SHINY/],
  ['an unknown event', eventBody().replace('updated', 'created'), /request\.created/],
  ['an id that is no UUID', eventBody('42'), /UUID/],
])('%s is odd, and what it says is kept', (_what, body, remark) => {
  const found = of(body)
  expect(found.oddity).toMatch(remark)
  expect(found.requestId).toBeDefined()
})

test.each([
  ['no JSON', 'x'],
  ['another document', '{"a":1}'],
  ['no UTF-8', Buffer.from([0xff, 0xfe])],
])('%s says nothing, and is odd', (_what, body) => {
  expect(of(body)).toMatchObject({ requestId: undefined, status: undefined, event: undefined })
  expect(of(body).oddity).toBeDefined()
})

test('a remark never repeats more than the beginning of what came', () => {
  expect(of(eventBody(requestIds[0], 'X'.repeat(500))).oddity?.length).toBeLessThan(120)
})
