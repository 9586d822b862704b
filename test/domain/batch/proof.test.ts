import { expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import { nearText, type Reconciliation, unsettled, fitsOthersToo } from '../../../src/domain/batch/proof.ts'
import { batchRow } from './rows.ts'

const order = (row: number) => ({ ...batchRow({ row, state: 'unknown' }), packageId: 7 })
const found = (over: Partial<Reconciliation> = {}): Reconciliation => ({
  settled: [],
  ambiguous: [],
  open: [],
  reads: 0,
  ...over,
})
const request = { request_id: 'r-1' } as RequestResource

test('nothing is left to settle where every row is proven', () => {
  expect(unsettled(found(), 'b-1')).toBeUndefined()
})

test('open and ambiguous rows are counted, and the first has its commands', () => {
  const left = found({ open: [order(2)], ambiguous: [{ submission: order(3), requestIds: [], near: [] }] })
  expect(unsettled(left, undefined)).toMatchObject({ code: 'outcome_unknown' })
  expect(unsettled(left, undefined)?.message).toMatch(/^2 orders are /)
  expect(unsettled(found({ open: [order(2)] }), 'b-9')?.message).toMatch(/^1 order is /)
  expect(unsettled(left, 'b-9')?.hint).toContain('refcheck batch reconcile b-9 --row 2 ')
  expect(unsettled(left, undefined)?.hint).toContain('refcheck batch reconcile b-1 --row 2 ')
})

test('a request that fits two rows proves neither', () => {
  const [one, two] = [order(1), order(2)]
  const fits = new Map([
    [one, [request]],
    [two, [request]],
  ])
  expect(fitsOthersToo(request, one, fits)).toBe(true)
  expect(fitsOthersToo(request, one, new Map([[one, [request]]]))).toBe(false)
})

test('a request is shown with when it was created', () => {
  const text = nearText({ requestId: 'r-1', createdAt: '2026-11-20', differs: [] })
  expect(text).toMatch(/r-1.*2026-11-20/)
})

test('what differs is said, and that it fits where nothing does', () => {
  const near = { requestId: 'r-1', createdAt: '2026-11-20T10:00:00Z' }
  expect(nearText({ ...near, differs: [] })).toMatch(/, fits$/)
  expect(nearText({ ...near, differs: ['time'] })).toMatch(/fits but for: created outside the time/)
})
