import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { backends, scratch, type Scratch } from './scratch.ts'
import { emptyBook, type OrphanBook } from '../../../src/domain/batch/second-orders.ts'

describe.each(backends)('%s', (backend) => {
  let place: Scratch
  beforeEach(() => {
    place = scratch(2_000, backend)
  })
  afterEach(() => place.end())

  test('what was read of requests that nobody ordered here is kept, whoever reads at the same time', async () => {
    const [one, other] = [(await place.store()).orphans, (await place.store()).orphans]
    expect(await one.book()).toEqual(emptyBook)
    const readAt =
      (at: number) =>
      ({ reads, orphans }: OrphanBook): OrphanBook => ({ orphans, reads: [...reads, at] })
    const updates = [1, 2, 3, 4, 5, 6].map((at) => (at % 2 === 0 ? one : other).update(readAt(at)))
    expect(await Promise.all(updates)).toEqual(Array(6).fill(true))
    const kept = await other.book()
    expect(kept.reads.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6])
    expect(await one.update(() => undefined)).toBe(false)
    expect(await one.book()).toEqual(kept)
  })
})
