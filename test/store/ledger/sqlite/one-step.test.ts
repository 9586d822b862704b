import { afterEach, beforeEach, expect, test } from 'vitest'

import { StoreBusyError } from '../../../../src/errors/kinds.ts'
import { batchOf, personOf } from '../batches.ts'
import { fileBatch, orderRow } from '../files.ts'
import { type Scratch, scratch } from '../scratch.ts'

let setup: Scratch
beforeEach(() => {
  setup = scratch(0)
})
afterEach(() => setup.end())

test('no other process can add a row between the comparison of the first row and the insertion of the last one', async () => {
  const [one, other] = [await setup.store(), await setup.store()]
  const refused: unknown[] = []
  const tried: Promise<unknown>[] = []
  const whenCompared = {
    ...orderRow(2, 'bob@example.com'),
    get recipient() {
      if (tried.length === 0) {
        const added = other.ledger.add(batchOf(['bob@example.com']), { allowDuplicate: false })
        tried.push(added.catch((error: unknown) => refused.push(error)))
      }
      return personOf('bob@example.com')
    },
  }
  await one.batches.add(fileBatch(), [orderRow(1, 'ann@example.com'), whenCompared])
  await Promise.all(tried)
  expect(refused).toEqual([expect.any(StoreBusyError)])
})
