import { afterEach, beforeEach, expect, test } from 'vitest'

import { StoreBusyError } from '../../../../src/errors/kinds.ts'
import { batchOf, personOf } from '../batches.ts'
import { fileBatch, orderRow } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores(0)
})
afterEach(() => setup.remove())

test('no other process can add a row between the comparison of the first row and the insertion of the last one', async () => {
  const [one, other] = [await setup.openStore(), await setup.openStore()]
  const errors: unknown[] = []
  const additions: Promise<unknown>[] = []
  // Another process tries to add the same person while this row is compared.
  const secondRow = {
    ...orderRow(2, 'bob@example.com'),
    get recipient() {
      if (additions.length === 0) {
        const added = other.ledger.add(batchOf(['bob@example.com']), { allowDuplicate: false })
        additions.push(added.catch((error: unknown) => errors.push(error)))
      }
      return personOf('bob@example.com')
    },
  }
  await one.batches.add(fileBatch(), [orderRow(1, 'ann@example.com'), secondRow])
  await Promise.all(additions)
  expect(errors).toEqual([expect.any(StoreBusyError)])
})
