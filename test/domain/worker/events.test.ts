import { expect, test } from 'vitest'

import { logEntry } from '../../../src/domain/worker/events.ts'

const eventTime = Date.UTC(2026, 10, 21, 9)

test('a log entry has time, level, event and its fields', () => {
  expect(
    logEntry({ name: 'row', profile: 'acme', batchId: 'b', row: 3, state: 'accepted' }, eventTime),
  ).toEqual({
    time: '2026-11-21T09:00:00.000Z',
    level: 'info',
    event: 'row',
    profile: 'acme',
    batch_id: 'b',
    row: 3,
    state: 'accepted',
  })
})

test('an event that needs attention has the level warn', () => {
  expect(logEntry({ name: 'refreshed', profile: 'acme', code: undefined }, eventTime)).toMatchObject({
    level: 'info',
  })
  expect(logEntry({ name: 'refreshed', profile: 'acme', code: 'unavailable' }, eventTime)).toMatchObject({
    level: 'warn',
    code: 'unavailable',
    reason: 'the service is unreachable or answers with errors',
  })
  expect(logEntry({ name: 'batch-without-profile', batchId: 'b', reason: 'none' }, eventTime)).toMatchObject({
    level: 'warn',
    reason: 'none',
  })
})
