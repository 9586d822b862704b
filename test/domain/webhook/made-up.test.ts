import { expect, test } from 'vitest'

import { eventName, eventText } from '../../../src/domain/webhook/made-up.ts'

test('an event stands in the order of the document, a reason only where there is one', () => {
  const event = { status: 'ERROR', request_id: 'r-1', event: eventName }
  expect(eventText(event)).toBe('{"event":"request.updated","request_id":"r-1","status":"ERROR"}')
  expect(eventText({ ...event, error_reason: 'x' })).toBe(
    '{"event":"request.updated","request_id":"r-1","status":"ERROR","error_reason":"x"}',
  )
  expect(eventText({ ...event, more: 1 })).toMatch(/"status":"ERROR","more":1}$/)
})
