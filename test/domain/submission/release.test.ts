import { expect, test } from 'vitest'

import {
  type ComparableRow,
  type Conflict,
  releasedConflicts,
  type Release,
  type ListedConflict,
} from '../../../src/domain/submission/conflicts.ts'
import { ann, batchRow } from '../batch/rows.ts'

const row: ComparableRow = {
  batchId: 'new',
  row: 1,
  baseUrl: 'https://api.example.com',
  packageId: 7,
  recipient: ann,
  addedAt: 0,
  kind: 'file',
}

const stop = (reason: Conflict['reason'], over: Partial<Conflict> = {}): Conflict => ({
  becomes: 'held',
  reason,
  shares: ['email'],
  order: { ...batchRow({ batchId: 'old', row: 3 }), packageId: 7 },
  more: 0,
  ...over,
})

const shown = (heldFor: Conflict['reason'], over: Partial<ListedConflict> = {}): ListedConflict => ({
  heldFor,
  batchId: 'old',
  row: 3,
  ...over,
})

/** Returns whether a release covers the conflict, which is the only one of the row and is listed with it. */
const isCovered = (release: Release, one: Conflict): boolean =>
  (releasedConflicts(release, row, [one], shown(one.reason)) ?? []).includes(one)

const byRow: Release = { kind: 'rows', rows: [1] }
const all: Release = { kind: 'all' }

test('a release by row covers similar, replaced, recent and failed orders, and not other reasons', () => {
  for (const reason of ['similar', 'replaced_package', 'recent', 'ended_in_error'] as const)
    expect([reason, isCovered(byRow, stop(reason))]).toEqual([reason, true])
  for (const reason of ['same', 'similar_unknown', 'other_service'] as const)
    expect([reason, isCovered(byRow, stop(reason))]).toEqual([reason, false])
  expect(isCovered({ kind: 'rows', rows: [2] }, stop('similar'))).toBe(false)
})

test('a release of all covers similar persons; one of a shared value excludes those with the same full name', () => {
  expect(isCovered(all, stop('similar'))).toBe(true)
  expect(isCovered(all, stop('ended_in_error'))).toBe(false)
  const shared: Release = { kind: 'shared', value: ann.email }
  expect(isCovered(shared, stop('similar', { shares: ['email'] }))).toBe(true)
  expect(isCovered(shared, stop('similar', { shares: ['email', 'name'] }))).toBe(false)
})

test('a release by row covers the listed order; a release of all covers every similar order', () => {
  const [one, other] = [
    stop('similar'),
    stop('similar', { order: { ...batchRow({ batchId: 'old', row: 4 }), packageId: 7 } }),
  ]
  expect(releasedConflicts(byRow, row, [one, other], shown('similar'))).toEqual([one])
  expect(releasedConflicts(all, row, [one, other], shown('similar'))).toEqual([one, other])
})

test('a row that the release names is compared again even if nothing is covered; other rows are not', () => {
  expect(releasedConflicts(byRow, row, [stop('same')], shown('same'))).toEqual([])
  expect(releasedConflicts(all, row, [stop('same')], shown('same'))).toBeUndefined()
})

test('a row without conflicts is compared again by any release', () => {
  expect(releasedConflicts(all, row, [], shown('similar'))).toEqual([])
})

test('a row that is held as store_forgot is released by its number or with all, and not by a shared value', () => {
  const uncertain = shown('store_forgot', { batchId: undefined, row: undefined })
  expect(releasedConflicts(byRow, row, [], uncertain)).toEqual([])
  expect(releasedConflicts(all, row, [], uncertain)).toEqual([])
  expect(releasedConflicts({ kind: 'shared', value: ann.email }, row, [], uncertain)).toBeUndefined()
})
