import { expect, test } from 'vitest'

import { identityOf, type ReceivedEvent } from '../../../src/domain/webhook/inbox-event.ts'

const event = (over: Partial<ReceivedEvent> = {}): ReceivedEvent => ({
  receivedAt: 0,
  body: Buffer.from('{}'),
  signature: '',
  requestId: 'R-1',
  status: 'PARTIAL',
  event: 'request.updated',
  oddity: undefined,
  ...over,
})

const identity = (over: Partial<ReceivedEvent> = {}): string =>
  identityOf(event(over), (bytes) => `hash of ${Buffer.from(bytes).toString()}`)

test('two deliveries are one event by request and status, whatever their bytes and the case of the id', () => {
  expect(identity({ body: Buffer.from('{ }'), requestId: 'r-1' })).toBe(identity())
  expect(identity({ status: 'COMPLETED' })).not.toBe(identity())
  expect(identity({ requestId: 'r-2' })).not.toBe(identity())
})

test('one that is odd is only ever the same as itself', () => {
  const odd = { oddity: 'is not known' }
  expect(identity(odd)).toBe('hash of {}')
  expect(identity({ ...odd, body: Buffer.from('x') })).toBe('hash of x')
})
