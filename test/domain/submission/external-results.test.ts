import { expect, test } from 'vitest'

import {
  type ComparableRow,
  addStoredResults,
  nothingAllowed,
  findConflict,
} from '../../../src/domain/submission/conflicts.ts'
import { orderOfResult, orderWith } from '../../../src/domain/submission/submission.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'
import {
  mergeExternalResults,
  isEvidence,
  type ExternalResult,
  externalResultPosition,
} from '../../../src/domain/submission/external-results.ts'
import { ann } from '../batch/rows.ts'

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
const externalResult: ExternalResult = {
  file: 'people.results.csv',
  line: 3,
  state: 'accepted',
  requestId: 'r-1',
  requestStatus: undefined,
  account: '',
  baseUrl: row.baseUrl,
  packageId: 7,
  at: 99 * day,
  person: 'same',
  shares: [],
}

/** Returns `goes` if there is no conflict, or else the state that the row gets and the reason. */
function findVerdict(
  change: Partial<ExternalResult>,
  allowed = {},
  changes: Partial<ComparableRow> = {},
  released = false,
): string {
  const conflict = findConflict(
    { ...row, ...changes, externalResults: [{ ...externalResult, ...change }] },
    [],
    { ...nothingAllowed, ...allowed },
    {
      relatedIds: new Set([7]),
      predecessors: new Set([6]),
      isSameService: () => undefined,
      isReleased: () => released,
    },
  )
  return conflict === undefined ? 'goes' : `${conflict.becomes}: ${conflict.reason}`
}

test('rejected, invalid, cancelled and held rows without a request are not evidence', () => {
  expect(submissionStates.filter((state) => !isEvidence({ state }))).toEqual([
    'rejected',
    'held',
    'invalid',
    'cancelled',
  ])
})

test.each([
  ['accepted', { state: 'accepted' }, 'duplicate: same'],
  ['duplicate with an id', { state: 'duplicate' }, 'duplicate: same'],
  ['duplicate without one', { state: 'duplicate', requestId: undefined }, 'held: results_open'],
  ['pending', { state: 'pending', requestId: undefined }, 'held: results_open'],
  ['sending', { state: 'sending', requestId: undefined }, 'held: results_open'],
  ['unknown', { state: 'unknown', requestId: undefined }, 'held: results_open'],
  ['dropped', { state: 'dropped', requestId: undefined }, 'held: results_open'],
  ['cancelled', { state: 'cancelled', requestId: undefined }, 'goes'],
  ['cancelled, but ordered otherwise', { state: 'cancelled' }, 'duplicate: same'],
  ['rejected, but ordered otherwise', { state: 'rejected' }, 'duplicate: same'],
  ['held', { state: 'held', requestId: undefined }, 'goes'],
  ['held because of a request for the person', { state: 'held' }, 'held: results_open'],
  ['a similar person', { person: 'similar', shares: ['email'] }, 'held: similar'],
  ['a similar person, unknown', { person: 'similar', shares: ['phone'], state: 'unknown' }, 'held: similar'],
  ['an id that cannot be read', { person: 'unclear', packageId: undefined }, 'held: results_unclear'],
  ['another package', { packageId: 8 }, 'goes'],
  ['the package that this one replaces', { packageId: 6 }, 'held: replaced_package'],
  ['another URL', { baseUrl: 'https://other.example.com' }, 'held: other_service'],
  ['a rehearsal on this machine', { baseUrl: 'http://localhost:4010' }, 'goes'],
  ['a request that ended in ERROR', { requestStatus: 'ERROR' }, 'held: ended_in_error'],
] as [string, Partial<ExternalResult>, string][])('an external result: %s', (_what, change, shown) =>
  expect(findVerdict(change)).toBe(shown),
)

test('an external result that was released is not a conflict', () => {
  expect(findVerdict({ state: 'pending', requestId: undefined }, {}, {}, true)).toBe('goes')
  expect(findVerdict({}, {}, {}, true)).toBe('goes')
})

test('results of another account are ignored; a row without an account is compared with all', () => {
  expect(findVerdict({ account: 'acme' }, {}, { account: 'beta' })).toBe('goes')
  expect(findVerdict({ account: 'acme' }, {}, { account: 'acme' })).toBe('duplicate: same')
  expect(findVerdict({ account: 'acme' })).toBe('duplicate: same')
})

test('--allow-duplicate passes a result that was ordered more than 7 days ago', () => {
  expect(findVerdict({}, { duplicate: true })).toBe('held: recent')
  expect(findVerdict({ at: 90 * day }, { duplicate: true })).toBe('goes')
  expect(findVerdict({ state: 'pending', at: 90 * day, requestId: undefined }, { duplicate: true })).toBe(
    'held: results_open',
  )
})

test('the position of an external result is its line and file', () => {
  expect(externalResultPosition(externalResult)).toBe('line 3 of people.results.csv')
})

test('when results are read again, equal ones keep their number, changed ones are added, and missing ones become cancelled unless they name an order', () => {
  const files = new Set(['people.results.csv'])
  const pendingResult: ExternalResult = { ...externalResult, state: 'pending', requestId: undefined }
  const inputResult: ExternalResult = { ...externalResult, file: 'input.csv' }
  const cancelledResult = { ...pendingResult, state: 'cancelled' }
  expect(mergeExternalResults([inputResult, pendingResult], files, [pendingResult])).toBeUndefined()
  expect(mergeExternalResults([inputResult, pendingResult], files, [{ ...pendingResult, line: 9 }])).toEqual([
    inputResult,
    { ...pendingResult, line: 9 },
  ])
  expect(mergeExternalResults([inputResult, pendingResult], files, [externalResult])).toEqual([
    inputResult,
    cancelledResult,
    externalResult,
  ])
  expect(mergeExternalResults([inputResult, pendingResult], files, [])).toEqual([
    inputResult,
    cancelledResult,
  ])
  expect(mergeExternalResults([pendingResult], new Set(['another.csv']), [])).toBeUndefined()
  expect(mergeExternalResults([externalResult], files, [])).toBeUndefined()
})

test('a result that a user ignores stays ignored when it is read again, and is no evidence', () => {
  const files = new Set([externalResult.file])
  const ignored = { ...externalResult, isIgnored: true }
  const changed: ExternalResult = { ...externalResult, requestId: 'r-2' }
  expect(mergeExternalResults([ignored], files, [externalResult])).toBeUndefined()
  expect(mergeExternalResults([ignored], files, [changed])).toEqual([ignored, changed])
  expect(findVerdict({ isIgnored: true })).toBe('goes')
})

test('a row gets the results that are stored with rows of the same or a similar person and name an order', () => {
  const order = orderWith({ ...row, batchId: 'other', state: 'duplicate', packageId: 9 })
  const candidate = { order, isSamePerson: true, hasResultsOnly: true }
  const results = (storedResults: ExternalResult[], others = {}, added: Partial<ComparableRow> = {}) =>
    addStoredResults({ ...row, ...added }, [{ ...candidate, storedResults, ...others }])
  expect(results([externalResult, { ...externalResult, state: 'pending', requestId: undefined }])).toEqual([
    externalResult,
  ])
  expect(results([{ ...externalResult, packageId: undefined }])).toMatchObject([{ packageId: 9 }])
  expect(results([externalResult], {}, { externalResults: [externalResult] })).toEqual([externalResult])
  expect(results([{ ...externalResult, account: 'acme' }], {}, { account: 'beta' })).toBeUndefined()
  expect(results([{ ...externalResult, isIgnored: true }])).toBeUndefined()
  const similar = { isSamePerson: false, order: { ...order, recipient: { ...ann, phone: '+61400000099' } } }
  expect(results([externalResult], similar)).toMatchObject([{ person: 'similar', shares: ['email', 'name'] }])
  const partner = { ...ann, first_name: 'Zed', email: 'zed@example.com' }
  expect(
    results([externalResult], { isSamePerson: false, order: { ...order, recipient: partner } }),
  ).toBeUndefined()
})

test.each([
  ['accepted', 'r-1', 'accepted'],
  ['duplicate', 'r-1', 'accepted'],
  ['duplicate', undefined, 'unknown'],
  ['pending', undefined, 'pending'],
  ['sending', undefined, 'unknown'],
  ['unknown', undefined, 'unknown'],
  ['dropped', undefined, 'unknown'],
] as const)(
  'orderOfResult of a row that is %s with the id %s is an order that is %s with one attempt',
  (state, requestId, orderState) => {
    const { baseUrl, packageId, addedAt } = row
    expect(
      orderOfResult({ ...externalResult, state, requestId }, 2, { baseUrl, packageId, addedAt }),
    ).toMatchObject({
      batchId: 'results',
      row: 2,
      state: orderState,
      attempts: 1,
      requestId,
    })
  },
)

test('two equal lines become two results', () => {
  const both = [externalResult, { ...externalResult, line: 4 }]
  expect(mergeExternalResults([externalResult], new Set([externalResult.file]), both)).toEqual(both)
})
