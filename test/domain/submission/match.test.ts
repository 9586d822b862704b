import { describe, expect, test } from 'vitest'

import {
  type Allowed,
  type Candidate,
  type ComparableRow,
  highestPrecedence,
  type KnownRelations,
  canBeConfirmed,
  nothingAllowed,
  conflictReasons,
  releasableReasons,
  conflictingStates,
  findConflict,
  findConflicts,
} from '../../../src/domain/submission/conflicts.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'
import { type Submission, unmatchedOrder } from '../../../src/domain/submission/submission.ts'
import type { ExternalResult } from '../../../src/domain/submission/external-results.ts'
import { ann, batchRow } from '../batch/rows.ts'

const day = 86_400_000
const row: ComparableRow = {
  batchId: 'new',
  row: 1,
  baseUrl: 'https://api.example.com',
  packageId: 7,
  recipient: ann,
  addedAt: 100 * day,
  kind: 'file',
}

const relationsWith = (over: Partial<KnownRelations> = {}): KnownRelations => ({
  relatedIds: new Set([7]),
  predecessors: new Set(),
  isSameService: () => undefined,
  isReleased: () => false,
  ...over,
})

const toOrder = (over: Partial<Submission> = {}): Submission => ({
  ...batchRow({ batchId: 'old', baseUrl: row.baseUrl }),
  state: 'accepted',
  changedAt: 99 * day,
  ...over,
  packageId: over.packageId ?? 7,
})

const samePerson = (over: Partial<Submission> = {}) => ({ order: toOrder(over), isSamePerson: true })
const similarPerson = (over: Partial<Submission> = {}): Candidate => ({
  order: toOrder({ recipient: { ...ann, phone: '+61999999999' }, ...over }),
  isSamePerson: false,
  hasSameEmail: true,
})

/** Returns `goes` if there is no conflict, or else the state that the row gets and the reason. */
const compare = (
  candidate: Candidate,
  allowed: Partial<Allowed> = {},
  over: Partial<ComparableRow> = {},
  relations = relationsWith(),
) => {
  const newRow = { ...row, ...over }
  const conflict = findConflict(newRow, [candidate], { ...nothingAllowed, ...allowed }, relations)
  return conflict === undefined ? 'goes' : `${conflict.becomes}: ${conflict.reason}`
}

describe('the same person', () => {
  test.each(['accepted', 'pending', 'sending', 'unknown', 'dropped'] as const)(
    'with an order that is %s is a conflict',
    (state) => {
      expect(compare(samePerson({ state }))).toBe('duplicate: same')
    },
  )

  test('with --allow-duplicate, an order accepted more than 7 days ago is no conflict, and a newer one holds the row', () => {
    const duplicate = { duplicate: true }
    expect(compare(samePerson({ changedAt: 92 * day }), duplicate)).toBe('goes')
    expect(compare(samePerson({ changedAt: 93 * day }), duplicate)).toBe('held: recent')
    expect(compare(samePerson({ changedAt: 99 * day }), duplicate, { kind: 'single' })).toBe('goes')
  })

  test.each(submissionStates.filter((state) => state !== 'accepted'))(
    'with --allow-duplicate, an order that is %s is still a conflict',
    (state) => {
      expect(compare(samePerson({ state, changedAt: 0 }), { duplicate: true, similar: true })).toBe(
        'duplicate: same',
      )
    },
  )

  test('is held and not a duplicate if the request ended in ERROR', () => {
    expect(compare(samePerson({ requestStatus: 'ERROR' }))).toBe('held: ended_in_error')
  })

  test('in the same file is a duplicate whatever is allowed', () => {
    expect(compare(samePerson({ batchId: 'new', row: 2, changedAt: 0 }), { duplicate: true })).toBe(
      'duplicate: same',
    )
  })
})

describe('another service', () => {
  const elsewhere = { baseUrl: 'https://old.example.com' }

  test('an order at another URL holds the row until the user decides whether both are one service', () => {
    expect(compare(samePerson(elsewhere))).toBe('held: other_service')
    expect(compare(samePerson(elsewhere), {}, {}, relationsWith({ isSameService: () => true }))).toBe(
      'duplicate: same',
    )
    expect(compare(samePerson(elsewhere), {}, {}, relationsWith({ isSameService: () => false }))).toBe('goes')
  })

  test('a path that the user declared as different is another service', () => {
    const staging = { baseUrl: 'https://api.example.com/staging' }
    expect(compare(samePerson(staging), {}, {}, relationsWith({ isSameService: () => false }))).toBe('goes')
  })

  test('an order at a loopback URL does not conflict with another service, or the reverse', () => {
    expect(compare(samePerson({ baseUrl: 'http://127.0.0.1:4010' }))).toBe('goes')
    expect(compare(samePerson(), {}, { baseUrl: 'http://localhost:4010' })).toBe('goes')
  })
})

describe('another package', () => {
  test('is another order, unless moves connect the two packages, directly or in a chain', () => {
    expect(compare(samePerson({ packageId: 5 }))).toBe('goes')
    const relationsAfterMoves = relationsWith({ relatedIds: new Set([5, 6, 7]) })
    expect(compare(samePerson({ packageId: 5 }), {}, {}, relationsAfterMoves)).toBe('duplicate: same')
  })

  test('holds the row if it is a likely predecessor of the package of the row', () => {
    const replaced = relationsWith({ predecessors: new Set([5]) })
    expect(compare(samePerson({ packageId: 5 }), {}, {}, replaced)).toBe('held: replaced_package')
    expect(compare(similarPerson({ packageId: 5 }), {}, {}, replaced)).toBe('held: similar')
    expect(compare(samePerson({ packageId: 5, state: 'pending' }), {}, {}, replaced)).toBe('goes')
  })
})

describe('a similar person', () => {
  test('is held until the user releases the pair', () => {
    expect(compare(similarPerson())).toBe('held: similar')
    expect(compare(similarPerson(), {}, {}, relationsWith({ isReleased: () => true }))).toBe('goes')
  })

  test('is held as similar_unknown while its outcome is unknown; dropped counts as similar', () => {
    expect(compare(similarPerson({ state: 'unknown' }), { similar: true }, { kind: 'single' })).toBe(
      'held: similar_unknown',
    )
    expect(compare(similarPerson({ state: 'dropped' }))).toBe('held: similar')
  })

  test('with an unknown outcome holds the rows of its own file whatever is allowed; one in flight does not', () => {
    const office = { ...ann, first_name: 'Bob', last_name: 'High', phone: '+61999999999' }
    for (const allowed of [{ similar: true }, { shared: [ann.email] }]) {
      const ownRow = (over: Partial<Submission>) =>
        compare(similarPerson({ recipient: office, row: 2, ...over }), allowed)
      const states = ['unknown', 'sending', 'dropped', 'accepted', 'pending'] as const
      expect(states.map((state) => ownRow({ batchId: 'new', state }))).toEqual([
        'held: similar_unknown',
        'goes',
        'goes',
        'goes',
        'goes',
      ])
      expect(ownRow({ state: 'sending' })).toBe('held: similar_unknown')
    }
    expect(compare(similarPerson({ batchId: 'new', row: 2, state: 'sending' }))).toBe('held: similar')
  })

  test('--allow-similar applies to the rows of its own file, and for a single order to all orders', () => {
    expect(compare(similarPerson({ batchId: 'new', row: 2 }), { similar: true })).toBe('goes')
    expect(compare(similarPerson(), { similar: true })).toBe('held: similar')
    expect(compare(similarPerson(), { similar: true }, { kind: 'single' })).toBe('goes')
  })

  test('--shared releases rows of the file that share only this value, and no person with the same full name', () => {
    const shared = [ann.email]
    const other = { ...ann, first_name: 'Bob', last_name: 'High', phone: '+61999999999' }
    expect(compare(similarPerson({ batchId: 'new', row: 2, recipient: other }), { shared })).toBe('goes')
    expect(compare(similarPerson({ batchId: 'new', row: 2 }), { shared })).toBe('held: similar')
    expect(compare(similarPerson({ recipient: other }), { shared })).toBe('held: similar')
  })

  test('an erased person is similar by the e-mail alone', () => {
    expect(compare(similarPerson({ recipient: undefined }))).toBe('held: similar')
  })
})

describe('several conflicts', () => {
  test('are shown with a duplicate before a similar person, and unknown before accepted', () => {
    const found = findConflicts(
      row,
      [similarPerson(), samePerson(), samePerson({ state: 'unknown', row: 3 })],
      nothingAllowed,
      relationsWith(),
    )
    expect(found).toHaveLength(3)
    expect(highestPrecedence(found)).toMatchObject({
      becomes: 'duplicate',
      order: { state: 'unknown' },
      moreCount: 1,
    })
    expect(highestPrecedence([])).toBeUndefined()
  })
})

test('a similar person under another package or at another service is not a conflict', () => {
  expect(compare(similarPerson({ packageId: 3 }))).toBe('goes')
  expect(compare(similarPerson({ baseUrl: 'https://other.example.com' }))).toBe('goes')
})

test('the order of precedence, and the reasons that cannot be released', () => {
  expect(conflictReasons).toEqual([
    'store_forgot',
    'same',
    'similar_unknown',
    'unmatched_request',
    'results_open',
    'results_unclear',
    'other_service',
    'recent',
    'ended_in_error',
    'replaced_package',
    'similar',
  ])
  expect(conflictReasons.filter((reason) => !releasableReasons.includes(reason))).toEqual([
    'same',
    'similar_unknown',
    'other_service',
  ])
})

test('of several similar persons the most similar one is shown', () => {
  const office = { ...ann, first_name: 'Bob', last_name: 'High', phone: '+61999999999' }
  const lessSimilar = similarPerson({ recipient: office, batchId: 'far', changedAt: 2 })
  const moreSimilar = similarPerson({ batchId: 'near', changedAt: 1 })
  for (const candidates of [
    [lessSimilar, moreSimilar],
    [moreSimilar, lessSimilar],
  ]) {
    expect(findConflict(row, candidates, nothingAllowed, relationsWith())?.order.batchId).toBe('near')
  }
})

test('with --allow-duplicate, an order is no conflict from exactly seven days on', () => {
  const duplicate = { duplicate: true }
  expect(compare(samePerson({ changedAt: 93 * day - 1 }), duplicate)).toBe('goes')
  expect(compare(samePerson({ changedAt: 93 * day }), duplicate)).toBe('held: recent')
})

test('a row is never compared with itself', () => {
  expect(compare(samePerson({ batchId: 'new', row: 1 }))).toBe('goes')
  expect(compare(samePerson({ batchId: 'old', row: 1 }))).toBe('duplicate: same')
})

test('an accepted order that was released is not a conflict, even if it ended in ERROR', () => {
  const released = relationsWith({ isReleased: () => true })
  expect(compare(samePerson({ requestStatus: 'ERROR' }), {}, {}, released)).toBe('goes')
  expect(compare(samePerson({ state: 'unknown' }), {}, {}, released)).toBe('duplicate: same')
})

test('--allow-similar for a single order, or a release, allows the same person under a replaced package', () => {
  const replaced = relationsWith({ predecessors: new Set([5]) })
  const old = samePerson({ packageId: 5 })
  expect(compare(old, { similar: true }, { kind: 'single' }, replaced)).toBe('goes')
  expect(compare(old, { similar: true }, {}, replaced)).toBe('held: replaced_package')
  expect(compare(old, {}, { kind: 'single' }, replaced)).toBe('held: replaced_package')
  expect(compare(old, {}, {}, { ...replaced, isReleased: () => true })).toBe('goes')
})

test('an erased person is shown with the value whose fingerprint is equal', () => {
  const findShares = (candidate: Candidate) =>
    findConflict(row, [candidate], nothingAllowed, relationsWith())?.shares
  const erasedPerson = { ...similarPerson(), order: toOrder({ recipient: undefined }) }
  expect(findShares(erasedPerson)).toEqual(['email'])
  expect(findShares({ ...erasedPerson, hasSameEmail: false })).toEqual(['phone'])
})

test('a person with equal details is the same even if the fingerprint differs', () => {
  expect(compare({ ...samePerson(), isSamePerson: false })).toBe('duplicate: same')
})

test('of several conflicts with one reason the state with the highest precedence is shown, then the newest order', () => {
  const shownFirst = (...states: Partial<Submission>[]) =>
    findConflict(row, states.map(samePerson), nothingAllowed, relationsWith())?.order
  const orders = conflictingStates.map((state, at) => ({ state, row: at + 1 }))
  expect(orders.map(({ state }) => state)).toEqual(['unknown', 'dropped', 'sending', 'accepted', 'pending'])
  for (let at = 1; at < orders.length; at += 1) {
    const [first = {}, other = {}] = orders.slice(at - 1)
    expect(shownFirst(first, other)?.row).toBe(at)
    expect(shownFirst(other, first)?.row).toBe(at)
  }
  const [older, newer] = [
    { row: 1, changedAt: 5 },
    { row: 2, changedAt: 6 },
  ]
  expect(shownFirst(older, newer)?.row).toBe(2)
  expect(shownFirst(newer, older)?.row).toBe(2)
  expect(shownFirst({ row: 1 }, { row: 2 })?.row).toBe(1)
})

test('a single order can be confirmed against a similar person or a replaced package, and nothing else', () => {
  const confirmableReasons = conflictReasons.filter((reason) =>
    canBeConfirmed({ becomes: 'held', reason, shares: [], order: toOrder(), moreCount: 0 }),
  )
  expect(confirmableReasons).toEqual(['replaced_package', 'similar'])
})

describe('an external result', () => {
  const externalResult: ExternalResult = {
    file: '/d/people.results.csv',
    line: 3,
    state: 'accepted',
    requestId: 'r-1',
    requestStatus: 'COMPLETED',
    account: '',
    baseUrl: row.baseUrl,
    packageId: 7,
    at: 5,
    person: 'same',
    shares: [],
  }
  const compareResult = (over: Partial<ExternalResult>, relations = relationsWith()) =>
    findConflict({ ...row, externalResults: [{ ...externalResult, ...over }] }, [], nothingAllowed, relations)

  test('of the same person makes the row a duplicate that names the line', () => {
    expect(compareResult({})).toMatchObject({
      becomes: 'duplicate',
      reason: 'same',
      order: { batchId: 'results', row: 1, requestId: 'r-1' },
      externalResult: { line: 3 },
      moreCount: 0,
    })
  })

  test('is numbered from 1, so that a release covers the result that was shown', () => {
    const two = findConflicts(
      { ...row, externalResults: [externalResult, externalResult] },
      [],
      nothingAllowed,
      relationsWith(),
    )
    expect(two.map(({ order: { row: number } }) => number)).toEqual([1, 2])
  })

  test.each<[string, Partial<ExternalResult>, string]>([
    ['a result that is not settled', { state: 'unknown', requestId: undefined }, 'held: results_open'],
    ['a result whose person is unclear', { person: 'unclear' }, 'held: results_unclear'],
    ['a similar person', { person: 'similar', shares: ['phone'] }, 'held: similar'],
    ['another URL', { baseUrl: 'https://old.example.com' }, 'held: other_service'],
    [
      'another URL, with an unclear person',
      { baseUrl: 'https://old.example.com', person: 'unclear' },
      'held: other_service',
    ],
  ])('%s holds the row', (_, over, expected) => {
    const conflict = compareResult(over)
    expect(`${conflict?.becomes}: ${conflict?.reason}`).toBe(expected)
    expect(conflict?.shares).toEqual(over.shares ?? [])
    expect(compareResult(over, relationsWith({ isReleased: () => true }))).toBeUndefined()
  })
})

describe('an unmatched request', () => {
  const request = unmatchedOrder({
    service: row.baseUrl,
    requestId: 'r-1',
    createdAt: 99 * day,
    packageId: 7,
    status: 'RECEIVED',
  })
  const listed: Candidate = { order: request, isSamePerson: true }

  test('holds its person, and a person with the same e-mail or phone', () => {
    expect(compare(listed)).toBe('held: unmatched_request')
    const similarCandidate: Candidate = { order: request, isSamePerson: false, hasSameEmail: true }
    expect(compare(similarCandidate)).toBe('held: unmatched_request')
    expect(findConflict(row, [similarCandidate], nothingAllowed, relationsWith())?.shares).toEqual(['email'])
  })

  test('is passed by a release, and by --allow-duplicate if it is older than 7 days', () => {
    expect(compare(listed, {}, {}, relationsWith({ isReleased: () => true }))).toBe('goes')
    const old = { ...listed, order: { ...request, changedAt: 92 * day } }
    expect(compare(old, { duplicate: true })).toBe('goes')
    expect(compare(listed, { duplicate: true })).toBe('held: unmatched_request')
    expect(compare(listed, { duplicate: true }, { kind: 'single' })).toBe('goes')
  })

  test('of another package or service is compared like an order', () => {
    const other = { ...listed, order: { ...request, packageId: 8 } }
    expect(compare(other)).toBe('goes')
    expect(compare(other, {}, {}, relationsWith({ predecessors: new Set([8]) }))).toBe(
      'held: replaced_package',
    )
    const elsewhere = { ...listed, order: { ...request, baseUrl: 'https://other.example.com' } }
    expect(compare(elsewhere)).toBe('held: other_service')
  })
})
