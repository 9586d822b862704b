import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { beginAttempt, newAttempt, someTime } from './batches.ts'
import { externalResult, fileBatch, orderRow, rowsOf, similarRow } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { NewRow } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const at = someTime + 100
const resultsFiles = new Set(['people.results.csv'])

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  async function addRows(rows: NewRow[]): Promise<string> {
    const batch = fileBatch()
    await store.batches.add(batch, rows)
    return batch.id
  }

  const readStates = async (batchId: string) => (await rowsOf(store, batchId)).map(({ state }) => state)

  describe('external results', () => {
    test('that are added make a pending row a duplicate at once, and a held row at its next recheck', async () => {
      const first = await addRows([orderRow(1, 'ann@example.com')])
      const batchId = await addRows([
        similarRow(1, 'ann@example.com'),
        orderRow(2, 'bob@example.com'),
        orderRow(3, 'cy@example.com'),
      ])
      const results = new Map([
        [1, [externalResult()]],
        [2, [externalResult({ line: 3 })]],
      ])
      await store.heldRows.updateExternalResults(batchId, results, resultsFiles, at)
      expect(await rowsOf(store, batchId)).toMatchObject([
        { state: 'held', heldFor: 'similar' },
        {
          state: 'duplicate',
          changedAt: at,
          matches: { externalResult: { file: 'people.results.csv', line: 3 } },
        },
        { state: 'pending' },
      ])
      await store.batches.cancelWaiting(first, at, 'cancelled')
      await store.heldRows.recheck(batchId, at)
      expect(await readStates(batchId)).toEqual(['duplicate', 'duplicate', 'pending'])
    })

    test('that are removed no longer conflict with the row, except those that name an order', async () => {
      const waits = externalResult({ state: 'pending', requestId: undefined })
      const batchId = await addRows([
        { ...orderRow(1, 'ann@example.com'), externalResults: [waits] },
        { ...orderRow(2, 'bob@example.com'), externalResults: [externalResult()] },
      ])
      expect(await readStates(batchId)).toEqual(['held', 'duplicate'])
      await store.heldRows.updateExternalResults(batchId, new Map(), resultsFiles, at)
      expect(await store.heldRows.recheck(batchId, at)).toBe(1)
      expect(await readStates(batchId)).toEqual(['pending', 'duplicate'])
    })

    test('that name an order conflict with rows of other batches, also when these are sent', async () => {
      const waiting = await addRows([orderRow(1, 'ann@example.com')])
      const batchId = await addRows([orderRow(1, 'ann@example.com')])
      expect(await readStates(batchId)).toEqual(['duplicate'])
      await store.heldRows.updateExternalResults(
        batchId,
        new Map([[1, [externalResult()]]]),
        resultsFiles,
        at,
      )
      const found = { batchId: 'results', row: 1, externalResult: { file: 'people.results.csv' } }
      const later = await addRows([orderRow(1, 'ann@example.com'), similarRow(2, 'ann@example.com')])
      expect(await rowsOf(store, later)).toMatchObject([
        { state: 'duplicate', heldFor: undefined },
        { state: 'held', heldFor: 'similar' },
      ])
      const [row] = await rowsOf(store, waiting)
      expect(await beginAttempt(store.ledger, row as NonNullable<typeof row>, newAttempt())).toBeUndefined()
      expect(await rowsOf(store, waiting)).toMatchObject([{ state: 'duplicate', matches: found }])
    })

    test('that were added with the file are found again by a recheck', async () => {
      const row = { ...orderRow(1, 'ann@example.com'), externalResults: [externalResult()] }
      const batchId = await addRows([row, orderRow(2, 'bob@example.com')])
      expect(await store.heldRows.recheck(batchId, at)).toBe(0)
      expect(await readStates(batchId)).toEqual(['duplicate', 'pending'])
    })

    test('that are ignored stay ignored when they are read again, and results do not change rows that were sent or cancelled', async () => {
      const row = (number: number, name: string) =>
        ({
          ...orderRow(number, `${name}@example.com`),
          externalResults: [externalResult({ line: number + 1 })],
        }) as NewRow
      const batchId = await addRows([row(1, 'ann'), row(2, 'bob')])
      await store.heldRows.ignoreResults(batchId)
      expect(await store.heldRows.recheck(batchId, at)).toBe(2)
      const resultsOfFirstRow = new Map([[1, [externalResult()]]])
      await store.heldRows.updateExternalResults(batchId, resultsOfFirstRow, resultsFiles, at)
      expect(await readStates(batchId)).toEqual(['pending', 'pending'])
      const other = await addRows([orderRow(1, 'cy@example.com'), orderRow(2, 'di@example.com')])
      await store.batches.cancelWaiting(other, at, 'cancelled', 1)
      const second = (await rowsOf(store, other))[1]
      await beginAttempt(store.ledger, second as NonNullable<typeof second>, newAttempt())
      const results = new Map([1, 2].map((each) => [each, [externalResult()]]))
      await store.heldRows.updateExternalResults(other, results, resultsFiles, at)
      expect(await readStates(other)).toEqual(['cancelled', 'sending'])
    })
  })
})
