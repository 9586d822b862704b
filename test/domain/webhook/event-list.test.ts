import { expect, test } from 'vitest'

import {
  exportedLine,
  listed,
  notForwarded,
  shownEvent,
  whyNotDropped,
} from '../../../src/domain/webhook/event-list.ts'
import type { InboxEvent } from '../../../src/domain/webhook/inbox-event.ts'

const event = (over: Partial<InboxEvent> = {}): InboxEvent => ({
  id: 3,
  receivedAt: 1000,
  body: Buffer.from('{"a":"é"}'),
  signature: 'ab',
  requestId: undefined,
  status: undefined,
  event: undefined,
  oddity: undefined,
  repeats: 0,
  forward: 'none',
  attempts: 0,
  lastAnswer: undefined,
  forwardedAt: undefined,
  ...over,
})

test('what is not known is null, and times are ISO 8601', () => {
  expect(listed(event())).toEqual({
    id: 3,
    received_at: '1970-01-01T00:00:01.000Z',
    request_id: null,
    status: null,
    error_reason: null,
    forwarded: false,
    dropped: false,
    forwarding: '-',
    repeats: 0,
    attempts: 0,
    last_answer: null,
    oddity: null,
  })
})

test('an event is forwarded once somebody took it; until then it waits', () => {
  expect(listed(event({ forward: 'waiting' }))).toMatchObject({ forwarded: false, forwarding: 'waits' })
  expect(listed(event({ forward: 'done', forwardedAt: 2000 }))).toMatchObject({
    forwarded: true,
    forwarding: '1970-01-01 00:00 +00:00',
  })
})

test('one that was given up is neither forwarded nor does it wait', () => {
  expect(listed(event({ forward: 'dropped', attempts: 3 }))).toMatchObject({
    forwarded: false,
    dropped: true,
    forwarding: 'dropped',
  })
  expect(whyNotDropped(event())).toBe('does not wait to be forwarded')
  expect(whyNotDropped(event({ forward: 'done', forwardedAt: 2000 }))).toBe(
    'was forwarded at 1970-01-01 00:00 +00:00',
  )
})

test('a body is shown as text, with its bytes beside it where it is none', () => {
  expect(shownEvent(event())).toMatchObject({ body: '{"a":"é"}', body_base64: null })
  const bytes = Buffer.from([0xff, 0x00])
  expect(shownEvent(event({ body: bytes }))).toMatchObject({ body_base64: bytes.toString('base64') })
})

test('an exported line holds the exact bytes', () => {
  const withMark = Buffer.from('\uFEFF{}')
  const text = JSON.parse(exportedLine(event({ body: withMark }))) as { body: string }
  expect(Buffer.from(text.body)).toEqual(withMark)
  const bytes = Buffer.from([0xff, 0x00])
  const coded = JSON.parse(exportedLine(event({ body: bytes }))) as { body_base64: string; body?: string }
  expect(Buffer.from(coded.body_base64, 'base64')).toEqual(bytes)
  expect(coded.body).toBeUndefined()
})

test('how many were not acknowledged, of how many', () => {
  expect(notForwarded(1, 1)).not.toMatch(/\d/)
  expect(notForwarded(1, 3)).toMatch(/^1 of 3 /)
})
