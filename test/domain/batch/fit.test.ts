import { describe, expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import { toConfirm } from '../../../src/domain/batch/recorded.ts'
import { differences, type SentOrder } from '../../../src/domain/batch/fit.ts'

const recipient = {
  first_name: 'Ana',
  last_name: 'Silva',
  email: 'ana@example.com',
  phone: '+61400000001',
}
const attemptedAt = Date.UTC(2026, 10, 21, 9, 30)
const changedAt = attemptedAt + 5_000
const sent: SentOrder = { recipient, packageId: 102, userEmail: 'owner@example.com', attemptedAt, changedAt }
const minute = 60_000

function request(createdAt: number, changes: Partial<RequestResource> = {}): RequestResource {
  return {
    request_id: '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55',
    package_id: 102,
    status: 'RECEIVED',
    created_at: new Date(createdAt).toISOString(),
    requester: { email: 'OWNER@example.com' },
    recipient,
    checks: [],
    ...changes,
  }
}

describe('the time of the fit', () => {
  const time = (createdAt: number, ahead?: number, of = sent) => differences(of, request(createdAt), ahead)

  test('its lower bound is a minute before the attempt', () => {
    expect(time(attemptedAt - minute)).toEqual([])
    expect(time(attemptedAt - minute - 1)).toEqual(['time'])
  })

  test('its upper bound is a minute after the attempt ended', () => {
    expect(time(changedAt + minute)).toEqual([])
    expect(time(changedAt + minute + 1)).toEqual(['time'])
  })

  test('an attempt that never ended counts as ten minutes', () => {
    const died = { ...sent, changedAt: attemptedAt + 100 * minute }
    expect(time(attemptedAt + 11 * minute, undefined, died)).toEqual([])
    expect(time(attemptedAt + 11 * minute + 1, undefined, died)).toEqual(['time'])
  })

  test.each([-5 * minute, 5 * minute])('a known clock difference of %i ms is allowed for', (ahead) => {
    expect(time(attemptedAt + ahead - minute, ahead)).toEqual([])
    expect(time(changedAt + ahead + minute, ahead)).toEqual([])
    const [before, after] = [attemptedAt + Math.min(ahead, 0), changedAt + Math.max(ahead, 0)]
    expect(time(before - minute - 1, ahead)).toEqual(['time'])
    expect(time(after + minute + 1, ahead)).toEqual(['time'])
    // A clock that was set right since the attempt.
    expect(time(attemptedAt, ahead)).toEqual([])
    // Between the two nothing fits.
    expect(time(attemptedAt + ahead / 2, ahead)).toEqual(['time'])
  })

  test('a difference of more than a day is a wrong date, not one to allow for', () => {
    const day = 24 * 60 * minute
    expect(time(attemptedAt + day, day)).toEqual([])
    expect(time(attemptedAt + day + 1, day + 1)).toEqual(['time'])
  })

  test('a request without a time that can be read does not fit', () => {
    expect(differences(sent, { ...request(attemptedAt), created_at: 'soon' })).toEqual(['time'])
  })

  test('a row that was never attempted fits nothing', () => {
    expect(time(attemptedAt, 0, { ...sent, attemptedAt: undefined })).toEqual(['time'])
  })
})

describe('everything but the time', () => {
  test.each<[string, Partial<RequestResource>, string[] | undefined]>([
    ['the same in another case', { recipient: { ...recipient, first_name: 'ANA' } }, []],
    ['a corrected phone', { recipient: { ...recipient, phone: '+61400000009' } }, ['person']],
    ['a new e-mail', { recipient: { ...recipient, email: 'ana@new.example' } }, ['person']],
    [
      'another first name with the same e-mail',
      { recipient: { ...recipient, first_name: 'Anne' } },
      ['person'],
    ],
    ['another package', { package_id: 103 }, ['package']],
    ['another requester', { requester: { email: 'member@example.com' } }, ['requester']],
    [
      'somebody else',
      {
        recipient: { first_name: 'Ben', last_name: 'Silva', email: 'ben@example.com', phone: '+61400000002' },
      },
      undefined,
    ],
  ])('%s', (_what, changes, expected) => {
    expect(differences(sent, request(attemptedAt, changes))).toEqual(expected)
  })

  test('a person who was removed fits nothing', () => {
    expect(differences({ ...sent, recipient: undefined }, request(attemptedAt))).toBeUndefined()
  })
})

describe('an id that the provider named', () => {
  const row = { ...sent, batchId: 'b-1', row: 2 }

  test('that fits in all needs no further word', () => {
    expect(toConfirm(row, request(attemptedAt), [row], 0)).toEqual([])
  })

  test('another spelling, requester or time is for a person to confirm', () => {
    const changes = { recipient: { ...recipient, last_name: 'Sylva' }, requester: { email: 'x@example.com' } }
    expect(toConfirm(row, request(attemptedAt - 5 * minute, changes), [], 0)).toEqual([
      'person',
      'requester',
      'time',
    ])
  })

  test.each<[string, Partial<RequestResource>, { batchId: string; row: number }[], string]>([
    ['of another package', { package_id: 103 }, [], 'invalid_input'],
    [
      'for somebody else',
      { recipient: { first_name: 'B', last_name: 'C', email: 'b@example.com', phone: '+1' } },
      [],
      'invalid_input',
    ],
    ['that another row has', {}, [{ batchId: 'b-1', row: 3 }], 'duplicate'],
    ['that another batch has', {}, [{ batchId: 'b-2', row: 2 }], 'duplicate'],
  ])('%s is refused', (_what, changes, holders, code) => {
    expect(() => toConfirm(row, request(attemptedAt, changes), holders, 0)).toThrow(
      expect.objectContaining({ code }),
    )
  })
})

test.each<[string, Partial<typeof recipient>, boolean]>([
  ['the e-mail', { first_name: 'X', last_name: 'Y', phone: '+1' }, true],
  ['the phone', { first_name: 'X', last_name: 'Y', email: 'x@y.example' }, true],
  ['the full name', { email: 'x@y.example', phone: '+1' }, true],
  ['the first name', { last_name: 'Y', email: 'x@y.example', phone: '+1' }, false],
  ['the last name', { first_name: 'X', email: 'x@y.example', phone: '+1' }, false],
])('a request that shares only %s', (_what, changes, isShown) => {
  const found = differences(sent, request(attemptedAt, { recipient: { ...recipient, ...changes } }))
  expect(found).toEqual(isShown ? ['person'] : undefined)
})

test('the requester is one in any case of the letters, on either side', () => {
  const shouted = { ...sent, userEmail: 'OWNER@Example.com' }
  expect(differences(shouted, request(attemptedAt, { requester: { email: 'owner@example.com' } }))).toEqual(
    [],
  )
})

test('a row that was never attempted fits nothing at the beginning of the clock either', () => {
  expect(differences({ ...sent, attemptedAt: undefined, changedAt: 0 }, request(0))).toEqual(['time'])
})

test('whom a row was for whose name is gone, the fingerprints say', () => {
  const nameless = { ...sent, recipient: undefined }
  const by = (...whom: Parameters<typeof differences>[3][]) =>
    whom.map((each) => differences(nameless, request(attemptedAt), 0, each))
  expect(by('same', 'similar', 'unknown', 'other')).toEqual([[], ['person'], ['person'], undefined])
})
