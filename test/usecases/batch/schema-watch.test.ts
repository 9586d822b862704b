import { expect, test } from 'vitest'

import { memoryStore, createRunner, addBatch } from './runner.ts'
import { schemaOf } from '../../domain/form/sample-schema.ts'
import { orderRows } from '../../store/ledger/files.ts'
import { schemaMismatchError } from '../../../src/usecases/batch/packages.ts'

test('after a field was refused the schema is read from the service and not from the cache', async () => {
  const store = await memoryStore()
  const batch = await addBatch(store, { rows: orderRows(2) })
  const schema = schemaOf({ consent: { method: ['string', true] } })
  let reads = 0
  const packageSchema = () => {
    reads += 1
    return Promise.resolve(schema)
  }
  const { ports } = createRunner(store, { api: { packageSchema } })
  ports.schemas = { get: () => Promise.resolve(schema), put: () => Promise.resolve() }
  expect(await schemaMismatchError(ports, batch.id, 12)).toMatchObject({
    code: 'incomplete',
    message: expect.stringContaining('2 of the rows not sent no longer match it (row 1: ') as string,
  })
  expect(reads).toBe(1)
  await store.close()
})
