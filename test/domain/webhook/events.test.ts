import { expect, test } from 'vitest'

import {
  errorReasonOf,
  formatExportLine,
  identityOf,
  type InboxEvent,
  toListedEvent,
  notForwardedMessage,
  type ReceivedEvent,
  toDetailedEvent,
  whyNotDropped,
} from '../../../src/domain/webhook/events.ts'
import { readEvent } from '../../../src/domain/webhook/read-event.ts'
import { eventBody, requestIds } from '../../harness/deliveries.ts'

const createEvent = (changes: Partial<ReceivedEvent> = {}): ReceivedEvent => ({
  receivedAt: 0,
  body: Buffer.from('{}'),
  signature: '',
  requestId: 'R-1',
  status: 'PARTIAL',
  event: 'request.updated',
  oddity: undefined,
  ...changes,
})

const createIdentity = (changes: Partial<ReceivedEvent> = {}): string =>
  identityOf(createEvent(changes), (bytes) => `hash of ${Buffer.from(bytes).toString()}`)

test('two deliveries with the same request and status are one event, whatever their bytes and the case of the id', () => {
  expect(createIdentity({ body: Buffer.from('{ }'), requestId: 'r-1' })).toBe(createIdentity())
  expect(createIdentity({ status: 'COMPLETED' })).not.toBe(createIdentity())
  expect(createIdentity({ requestId: 'r-2' })).not.toBe(createIdentity())
})

test('an event with unexpected content is identified by its bytes', () => {
  const unexpectedContent = { oddity: 'is not known' }
  expect(createIdentity(unexpectedContent)).toBe('hash of {}')
  expect(createIdentity({ ...unexpectedContent, body: Buffer.from('x') })).toBe('hash of x')
})

const readBody = (body: string | Uint8Array) => readEvent(Buffer.from(body), 'ab', 5)

test('an event as in the API document is read completely, without a remark', () => {
  const body = eventBody()
  expect(readBody(body)).toEqual({
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
])('%s is remarked as unexpected, and the values of the event are stored', (_what, body, remark) => {
  const found = readBody(body)
  expect(found.oddity).toMatch(remark)
  expect(found.requestId).toBeDefined()
})

test.each([
  ['no JSON', 'x'],
  ['another document', '{"a":1}'],
  ['no UTF-8', Buffer.from([0xff, 0xfe])],
])('%s is remarked as unexpected, and the event has no values', (_what, body) => {
  expect(readBody(body)).toMatchObject({ requestId: undefined, status: undefined, event: undefined })
  expect(readBody(body).oddity).toBeDefined()
})

test('a remark contains only the beginning of a long value', () => {
  expect(readBody(eventBody(requestIds[0], 'X'.repeat(500))).oddity?.length).toBeLessThan(120)
})

const createInboxEvent = (changes: Partial<InboxEvent> = {}): InboxEvent => ({
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
  ...changes,
})

test('unknown values of an event are null, and times are in ISO 8601', () => {
  expect(toListedEvent(createInboxEvent())).toEqual({
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

test('an event waits until a receiver has accepted it, and is then forwarded', () => {
  expect(toListedEvent(createInboxEvent({ forward: 'waiting' }))).toMatchObject({
    forwarded: false,
    forwarding: 'waits',
  })
  expect(toListedEvent(createInboxEvent({ forward: 'done', forwardedAt: 2000 }))).toMatchObject({
    forwarded: true,
    forwarding: '1970-01-01 00:00 +00:00',
  })
})

test('a dropped event is not forwarded and does not wait', () => {
  expect(toListedEvent(createInboxEvent({ forward: 'dropped', attempts: 3 }))).toMatchObject({
    forwarded: false,
    dropped: true,
    forwarding: 'dropped',
  })
  expect(whyNotDropped(createInboxEvent())).toBe('does not wait to be forwarded')
  expect(whyNotDropped(createInboxEvent({ forward: 'done', forwardedAt: 2000 }))).toBe(
    'was forwarded at 1970-01-01 00:00 +00:00',
  )
})

test('a body is shown as text, and also in base64 if it is not UTF-8', () => {
  expect(toDetailedEvent(createInboxEvent())).toMatchObject({ body: '{"a":"é"}', body_base64: null })
  const bytes = Buffer.from([0xff, 0x00])
  expect(toDetailedEvent(createInboxEvent({ body: bytes }))).toMatchObject({
    body_base64: bytes.toString('base64'),
  })
})

test('an exported line contains the exact bytes of the body', () => {
  const withMark = Buffer.from('\uFEFF{}')
  const text = JSON.parse(formatExportLine(createInboxEvent({ body: withMark }))) as { body: string }
  expect(Buffer.from(text.body)).toEqual(withMark)
  const bytes = Buffer.from([0xff, 0x00])
  const line = JSON.parse(formatExportLine(createInboxEvent({ body: bytes }))) as {
    body_base64: string
    body?: string
  }
  expect(Buffer.from(line.body_base64, 'base64')).toEqual(bytes)
  expect(line.body).toBeUndefined()
})

test('the message for events that were not forwarded counts them if there are several', () => {
  expect(notForwardedMessage(1, 1)).not.toMatch(/\d/)
  expect(notForwardedMessage(1, 3)).toMatch(/^1 of 3 /)
})

const readReason = (text: string): string | undefined => errorReasonOf(new TextEncoder().encode(text))

test('errorReasonOf returns the reason of an event, or undefined if it has none', () => {
  expect(readReason('{"status":"ERROR","error_reason":"no such partner"}')).toBe('no such partner')
  for (const body of ['{}', 'null', '[]', '3', '"x"', '', '{', '{"error_reason":7}', '{"error_reason":""}']) {
    expect(readReason(body)).toBeUndefined()
  }
  expect(errorReasonOf(Uint8Array.of(0xff))).toBeUndefined()
})
