import { afterEach, beforeEach, expect, test } from 'vitest'

import type { NewRow } from '../../../../src/domain/batch/batch.ts'
import { StoreBusyError } from '../../../../src/errors/kinds.ts'
import { batchOf, personOf, someTime } from '../batches.ts'
import { type Scratch, scratch } from '../scratch.ts'

let place: Scratch
beforeEach(() => {
  place = scratch(0)
})
afterEach(() => place.end())

const file = (id: string) => ({
  id,
  addedAt: someTime,
  baseUrl: 'http://127.0.0.1:4010',
  userEmail: 'owner@example.com',
  identity: id,
  name: 'people.csv',
  sha256: '',
  packageId: 12,
  path: undefined,
  resultsFile: undefined,
  reading: '{}',
  allowDuplicate: false,
})

const rowOf = (row: number, email: string): NewRow => ({
  row,
  state: 'pending',
  packageId: 12,
  recipient: personOf(email),
  body: Buffer.from('{}'),
})

test('from the first row that is compared to the last that is added, no other process adds one', async () => {
  const [one, other] = [await place.store(), await place.store()]
  const refused: unknown[] = []
  const tried: Promise<unknown>[] = []
  function* rows(): Generator<NewRow> {
    yield rowOf(1, 'ann@example.com')
    tried.push(
      other.ledger
        .add(batchOf(['bob@example.com']), { allowDuplicate: false })
        .catch((error: unknown) => refused.push(error)),
    )
    yield rowOf(2, 'bob@example.com')
  }
  await one.batches.add(file('6f1c0c4e-0000-4000-8000-000000000001'), rows())
  await Promise.all(tried)
  expect(refused).toEqual([expect.any(StoreBusyError)])
})
