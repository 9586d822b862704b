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

const createConflict = (reason: Conflict['reason'], changes: Partial<Conflict> = {}): Conflict => ({
  becomes: 'held',
  reason,
  shares: ['email'],
  order: { ...batchRow({ batchId: 'old', row: 3 }), packageId: 7 },
  moreCount: 0,
  ...changes,
})

const createListedConflict = (
  heldFor: Conflict['reason'],
  changes: Partial<ListedConflict> = {},
): ListedConflict => ({
  heldFor,
  batchId: 'old',
  row: 3,
  ...changes,
})

/** Returns whether a release covers the conflict, which is the only one of the row and is listed with it. */
const isCovered = (release: Release, one: Conflict): boolean =>
  (releasedConflicts(release, row, [one], createListedConflict(one.reason)) ?? []).includes(one)

const releaseOfRow: Release = { kind: 'rows', rows: [1] }
const releaseOfAll: Release = { kind: 'all' }

test('a release by row covers similar, replaced, recent and failed orders, and not other reasons', () => {
  for (const reason of ['similar', 'replaced_package', 'recent', 'ended_in_error'] as const)
    expect([reason, isCovered(releaseOfRow, createConflict(reason))]).toEqual([reason, true])
  for (const reason of ['same', 'similar_unknown', 'other_service'] as const)
    expect([reason, isCovered(releaseOfRow, createConflict(reason))]).toEqual([reason, false])
  expect(isCovered({ kind: 'rows', rows: [2] }, createConflict('similar'))).toBe(false)
})

test('a release of all covers similar persons; one of a shared value excludes those with the same full name', () => {
  expect(isCovered(releaseOfAll, createConflict('similar'))).toBe(true)
  expect(isCovered(releaseOfAll, createConflict('ended_in_error'))).toBe(false)
  const shared: Release = { kind: 'shared', value: ann.email }
  expect(isCovered(shared, createConflict('similar', { shares: ['email'] }))).toBe(true)
  expect(isCovered(shared, createConflict('similar', { shares: ['email', 'name'] }))).toBe(false)
})

test('a release by row covers the listed order; a release of all covers every similar order', () => {
  const [one, other] = [
    createConflict('similar'),
    createConflict('similar', { order: { ...batchRow({ batchId: 'old', row: 4 }), packageId: 7 } }),
  ]
  expect(releasedConflicts(releaseOfRow, row, [one, other], createListedConflict('similar'))).toEqual([one])
  expect(releasedConflicts(releaseOfAll, row, [one, other], createListedConflict('similar'))).toEqual([
    one,
    other,
  ])
})

test('a row that the release names is compared again even if nothing is covered; other rows are not', () => {
  expect(
    releasedConflicts(releaseOfRow, row, [createConflict('same')], createListedConflict('same')),
  ).toEqual([])
  expect(
    releasedConflicts(releaseOfAll, row, [createConflict('same')], createListedConflict('same')),
  ).toBeUndefined()
})

test('a row without conflicts is compared again by any release', () => {
  expect(releasedConflicts(releaseOfAll, row, [], createListedConflict('similar'))).toEqual([])
})

test('a row that is held as store_forgot is released by its number or by a confirmed release of all, and not by a shared value', () => {
  const listedWithoutOrder = createListedConflict('store_forgot', { batchId: undefined, row: undefined })
  expect(releasedConflicts(releaseOfRow, row, [], listedWithoutOrder)).toEqual([])
  const confirmed: Release = { kind: 'all', includesLostAttempts: true }
  expect(releasedConflicts(confirmed, row, [], listedWithoutOrder)).toEqual([])
  expect(releasedConflicts(releaseOfAll, row, [], listedWithoutOrder)).toBeUndefined()
  expect(releasedConflicts({ kind: 'shared', value: ann.email }, row, [], listedWithoutOrder)).toBeUndefined()
})
