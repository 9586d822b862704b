import { expect, test } from 'vitest'

import { requestIdsIn } from '../../../src/domain/batch/events-file.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'

const one = '11111111-1111-4111-8111-111111111111'
const event = { event: 'request.updated', request_id: one, status: 'PARTIAL' }

test.each([
  ['the event', event],
  ['a capture with it as text', { body: JSON.stringify(event) }],
  ['a capture with it as an object', { body: event }],
  ['a capture in base64', { body_base64: Buffer.from(JSON.stringify(event)).toString('base64') }],
])('an id is read from %s', (_form, line) => {
  expect(requestIdsIn(JSON.stringify(line), 'events')).toEqual([one])
})

test('each id once, whatever its case; empty lines and CRLF are passed over', () => {
  const text = `${JSON.stringify(event)}\r\n\r\n${JSON.stringify({ ...event, request_id: one.toUpperCase() })}\n`
  expect(requestIdsIn(text, 'events')).toEqual([one])
  expect(requestIdsIn('', 'events')).toEqual([])
})

test.each(['x', '[]', 'null', '{}', '{"request_id":"1"}', '{"body":"x"}', '{"body_base64":"x"}'])(
  'a line without one is refused with its number: %s',
  (line) => {
    expect(() => requestIdsIn(`${JSON.stringify(event)}\n${line}`, 'events')).toThrow(InvalidInputError)
    expect(() => requestIdsIn(`${JSON.stringify(event)}\n${line}`, 'events')).toThrow(/^events: line 2 /)
  },
)
