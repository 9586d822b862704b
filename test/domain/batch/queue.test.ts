import { expect, test } from 'vitest'

import { type Batch, noCounts } from '../../../src/domain/batch/batch.ts'
import { ordererOf, turnOf } from '../../../src/domain/batch/queue.ts'

const at = Date.UTC(2026, 10, 21, 9)

function queued(counts: Partial<Batch['counts']>, code?: string): Batch {
  const halt = code === undefined ? undefined : { at, code, message: '', hint: undefined }
  return { counts: { ...noCounts(), ...counts }, halt } as Batch
}

test.each([
  ['rows to send', { pending: 1 }, undefined, undefined, 'run'],
  ['nothing left', { accepted: 3, rejected: 1, duplicate: 1 }, undefined, undefined, 'done'],
  ['held rows alone', { accepted: 3, held: 1 }, undefined, undefined, 'wait'],
  ['an outage a moment ago', { pending: 1 }, 'unavailable', undefined, 'rest'],
  ['a key that is refused', { pending: 1 }, 'unauthenticated', undefined, 'rest'],
  ['a package that is gone', { pending: 1 }, 'not_found', undefined, 'wait'],
  ['three unknown in a row', { pending: 1, unknown: 3 }, 'outcome_unknown', undefined, 'wait'],
  ['an unknown row', { accepted: 1, unknown: 1 }, undefined, undefined, 'run'],
  ['an unknown row that was looked at', { accepted: 1, unknown: 1 }, undefined, at, 'rest'],
  ['a dropped row that was looked at', { dropped: 1 }, undefined, at, 'rest'],
  ['rows to send beside an unknown one', { pending: 1, unknown: 1 }, undefined, at, 'run'],
] as const)('%s', (_, counts, code, triedAt, kind) => {
  expect(turnOf(queued(counts, code), at + 1000, triedAt).kind).toBe(kind)
})

test('a rest ends', () => {
  expect(turnOf(queued({ pending: 1 }, 'forbidden'), at + 899_999, undefined)).toEqual({
    kind: 'rest',
    untilMs: at + 900_000,
  })
  expect(turnOf(queued({ pending: 1 }, 'forbidden'), at + 900_000, undefined)).toEqual({ kind: 'run' })
})

const profiles = [
  { name: 'a', baseUrl: 'https://api.example.com', email: 'a@example.com', account: 'one' },
  { name: 'b', baseUrl: 'https://api.example.com/', email: 'B@example.com', account: 'one' },
  { name: 'c', baseUrl: 'https://api.example.com', email: 'c@example.com', account: 'two' },
  { name: 'd', baseUrl: 'https://staging.example.com', email: 'a@example.com', account: 'one' },
]

test.each([
  ['whoever began it', 'https://api.example.com', 'b@example.com', 'one', 'b'],
  ['a colleague where that one has left', 'https://api.example.com', 'left@example.com', 'one', 'a'],
  ['never another account', 'https://api.example.com', 'a@example.com', 'two', 'c'],
  ['never another service', 'https://staging.example.com', 'c@example.com', 'one', 'd'],
  ['nobody', 'https://api.example.org', 'a@example.com', 'one', undefined],
  ['a request, whose account is not told', 'https://api.example.com', 'c@example.com', undefined, 'c'],
] as const)('a batch is for %s', (_, baseUrl, userEmail, account, name) => {
  expect(ordererOf({ baseUrl, userEmail, account }, profiles)?.name).toBe(name)
})
