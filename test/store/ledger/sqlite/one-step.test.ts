import { afterEach, beforeEach, expect, test } from 'vitest'

import type { NewRow } from '../../../../src/domain/batch/batch.ts'
import { StoreBusyError } from '../../../../src/errors/kinds.ts'
import { batchOf } from '../batches.ts'
import { fileBatch, orderRow } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'

let place: Scratch
beforeEach(() => {
  place = scratch(0)
})
afterEach(() => place.end())

test('from the first row that is compared to the last that is added, no other process adds one', async () => {
  const [one, other] = [await place.store(), await place.store()]
  const refused: unknown[] = []
  const tried: Promise<unknown>[] = []
  function* rows(): Generator<NewRow> {
    yield orderRow(1, 'ann@example.com')
    tried.push(
      other.ledger
        .add(batchOf(['bob@example.com']), { allowDuplicate: false })
        .catch((error: unknown) => refused.push(error)),
    )
    yield orderRow(2, 'bob@example.com')
  }
  await one.batches.add(fileBatch(), rows())
  await Promise.all(tried)
  expect(refused).toEqual([expect.any(StoreBusyError)])
})
