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

/** Whether a release covers the one order that the row is held for and is listed with. */
const isCovered = (release: Release, one: Conflict): boolean =>
  (releasedConflicts(release, row, [one], shown(one.reason)) ?? []).includes(one)

const byRow: Release = { kind: 'rows', rows: [1] }
const all: Release = { kind: 'all' }

test('by row covers what is merely similar, replaced, recent or ended in ERROR, and nothing else', () => {
  for (const reason of ['similar', 'replaced_package', 'recent', 'ended_in_error'] as const)
    expect([reason, isCovered(byRow, stop(reason))]).toEqual([reason, true])
  for (const reason of ['same', 'similar_unknown', 'other_service'] as const)
    expect([reason, isCovered(byRow, stop(reason))]).toEqual([reason, false])
  expect(isCovered({ kind: 'rows', rows: [2] }, stop('similar'))).toBe(false)
})

test('of all covers the merely similar; of a shared value not whom the full name joins', () => {
  expect(isCovered(all, stop('similar'))).toBe(true)
  expect(isCovered(all, stop('ended_in_error'))).toBe(false)
  const shared: Release = { kind: 'shared', value: ann.email }
  expect(isCovered(shared, stop('similar', { shares: ['email'] }))).toBe(true)
  expect(isCovered(shared, stop('similar', { shares: ['email', 'name'] }))).toBe(false)
})

test('by row covers the order that the row is listed with; of all covers each of them', () => {
  const [one, other] = [
    stop('similar'),
    stop('similar', { order: { ...batchRow({ batchId: 'old', row: 4 }), packageId: 7 } }),
  ]
  expect(releasedConflicts(byRow, row, [one, other], shown('similar'))).toEqual([one])
  expect(releasedConflicts(all, row, [one, other], shown('similar'))).toEqual([one, other])
})

test('a row that is named is looked at again though nothing of it is covered; another is left', () => {
  expect(releasedConflicts(byRow, row, [stop('same')], shown('same'))).toEqual([])
  expect(releasedConflicts(all, row, [stop('same')], shown('same'))).toBeUndefined()
})

test('a row in whose way nothing stands any more is about to go, whatever is released', () => {
  expect(releasedConflicts(all, row, [], shown('similar'))).toEqual([])
})

test('a row that a forgetful store held goes by its number or with all, never by a shared value', () => {
  const uncertain = shown('store_forgot', { batchId: undefined, row: undefined })
  expect(releasedConflicts(byRow, row, [], uncertain)).toEqual([])
  expect(releasedConflicts(all, row, [], uncertain)).toEqual([])
  expect(releasedConflicts({ kind: 'shared', value: ann.email }, row, [], uncertain)).toBeUndefined()
})
