import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { addBatch } from './runner.ts'
import {
  expectFree,
  createId,
  memoryStore,
  packagesOf,
  createRunner,
  sendRow,
  sentAt,
  addUnknownRows,
} from './unknown-rows.ts'
import { schemaOf } from '../../domain/form/sample-schema.ts'
import { personOf } from '../../store/ledger/batches.ts'
import { orderRow, orderRows, rowsOf, statesOf } from '../../store/ledger/files.ts'
import type { Batch, NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import type { Release } from '../../../src/domain/submission/conflicts.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import { cancelBatch, moveBatch, releaseRows, retryBatch } from '../../../src/usecases/batch/change-batch.ts'

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

async function findBatch({ id }: Pick<NewFileBatch, 'id'>): Promise<Batch> {
  const batch = await store.batches.find(id)
  if (batch === undefined) throw new Error('no such batch')
  return batch
}

/** Returns the result or the error of a job, and checks that the lease of the batch is released. */
async function runAndExpectFree(
  batch: Pick<NewFileBatch, 'id'>,
  job: (batch: Batch) => Promise<unknown>,
): Promise<unknown> {
  const result = await job(await findBatch(batch)).catch((thrown: unknown) => ({ thrown }))
  await expectFree(store, batch.id)
  return result
}

const usageError = (message: string | RegExp, hint?: string) => ({
  thrown: {
    code: 'usage',
    message: typeof message === 'string' ? message : (expect.stringMatching(message) as string),
    ...(hint !== undefined && { hint: expect.stringContaining(hint) as string }),
  },
})

/** Adds a batch whose rows are pending, accepted, rejected and unknown. */
async function addMixedBatch(): Promise<NewFileBatch> {
  const batch = await addBatch(store, { rows: orderRows(4) })
  const [, two, three, four] = await rowsOf(store, batch.id)
  if (two) await sendRow(store, two, { to: 'accepted', requestId: createId(2), requestStatus: 'RECEIVED' })
  if (three) await sendRow(store, three, { to: 'rejected', reason: 'recipient.email: is not accepted' })
  if (four) await sendRow(store, four, { to: 'unknown', reason: 'cut' })
  return batch
}

/** Adds an earlier order and a file with a similar person: another first name, and the same e-mail and phone. */
async function addSimilarFile(state: 'accepted' | 'unknown' = 'accepted'): Promise<NewFileBatch> {
  const earlier = await addBatch(store, { rows: orderRows(1) })
  const [row] = await rowsOf(store, earlier.id)
  if (row === undefined) throw new Error('no row')
  await sendRow(
    store,
    row,
    state === 'accepted'
      ? { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' }
      : { to: 'unknown', reason: 'cut' },
  )
  return addBatch(store, { rows: [createAnneRow(1), orderRow(2, 'other@example.com')] })
}

const createAnneRow = (number: number) =>
  ({
    ...orderRow(number, 'person1@example.com'),
    recipient: { ...personOf('person1@example.com'), first_name: 'Anne' },
  }) as NewRow

describe('a batch that a runner has', () => {
  const jobs: [string, (batch: Batch) => Promise<unknown>][] = [
    ['cancel', (batch) => cancelBatch(createRunner(store).ports, batch)],
    ['retry', (batch) => retryBatch(createRunner(store).ports, batch, undefined)],
    [
      'release',
      (batch) => releaseRows(createRunner(store).ports, batch, { kind: 'all' }, 'owner@example.com'),
    ],
    ['move', (batch) => moveBatch(createRunner(store, successor).ports, batch, 13)],
  ]

  test.each(jobs)('%s is refused, and no row changes', async (_, job) => {
    const batch = await addMixedBatch()
    const before = await statesOf(store, batch.id)
    store.batches.acquire = () => Promise.resolve(undefined)
    await expect(job(await findBatch(batch))).rejects.toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining('is being run by another process') as string,
    })
    expect(await statesOf(store, batch.id)).toEqual(before)
  })
})

describe('cancel', () => {
  test('of a batch cancels its pending rows and no others', async () => {
    const batch = await addMixedBatch()
    expect(await runAndExpectFree(batch, (each) => cancelBatch(createRunner(store).ports, each))).toBe(1)
    expect(await rowsOf(store, batch.id)).toMatchObject([
      { state: 'cancelled', reason: 'cancelled before it was sent', changedAt: sentAt },
      { state: 'accepted' },
      { state: 'rejected' },
      { state: 'unknown' },
    ])
  })

  test('of a row cancels a held row', async () => {
    const batch = await addSimilarFile()
    expect(await runAndExpectFree(batch, (each) => cancelBatch(createRunner(store).ports, each, [1]))).toBe(1)
    expect(await statesOf(store, batch.id)).toEqual(['cancelled', 'pending'])
  })

  test('of a row that was sent is refused', async () => {
    const batch = await addMixedBatch()
    const result = await runAndExpectFree(batch, (each) =>
      cancelBatch(createRunner(store).ports, each, [1, 4]),
    )
    expect(result).toMatchObject(
      usageError(`row 4 of batch ${batch.id} is not waiting to be sent`, '--state pending,held'),
    )
    expect(await statesOf(store, batch.id)).toEqual(['cancelled', 'accepted', 'rejected', 'unknown'])
  })
})

describe('retry', () => {
  const retryRows = (batch: Pick<NewFileBatch, 'id'>, rows?: number[]) =>
    runAndExpectFree(batch, (each) => retryBatch(createRunner(store).ports, each, rows))

  test('makes rejected rows pending, and no others', async () => {
    const batch = await addMixedBatch()
    expect(await retryRows(batch)).toBe(1)
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'accepted', 'pending', 'unknown'])
  })

  test('of a given row makes it pending', async () => {
    const batch = await addMixedBatch()
    expect(await retryRows(batch, [3])).toBe(1)
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'accepted', 'pending', 'unknown'])
  })

  test('of a row that is not rejected is refused and changes nothing', async () => {
    const batch = await addMixedBatch()
    expect(await retryRows(batch, [3, 4])).toMatchObject(
      usageError(
        'row 4 is unknown; only rejected rows can be sent again',
        `refcheck batch reconcile ${batch.id}`,
      ),
    )
    expect(await retryRows(batch, [2])).toMatchObject(usageError(/^row 2 is accepted/, '--state rejected'))
    expect(await retryRows(batch, [9])).toMatchObject(
      usageError(`row 9 is not in batch ${batch.id}`, '--state rejected'),
    )
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'accepted', 'rejected', 'unknown'])
  })

  test('compares the row again, and a person who was ordered meanwhile is a duplicate', async () => {
    const batch = await addMixedBatch()
    await addBatch(store, { rows: orderRows(1, 3) })
    expect(await retryRows(batch)).toBe(0)
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'accepted', 'duplicate', 'unknown'])
  })
})

describe('release', () => {
  const releaseBatch = (batch: Pick<NewFileBatch, 'id'>, release: Release) =>
    runAndExpectFree(batch, (each) =>
      releaseRows(createRunner(store).ports, each, release, 'owner@example.com'),
    )

  test('of a row makes it pending', async () => {
    const batch = await addSimilarFile()
    expect(await statesOf(store, batch.id)).toEqual(['held', 'pending'])
    expect(await releaseBatch(batch, { kind: 'rows', rows: [1] })).toEqual({ rows: [1], left: [] })
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'pending'])
  })

  test('of all covers rows held for a similar person', async () => {
    const batch = await addSimilarFile()
    expect(await releaseBatch(batch, { kind: 'all' })).toMatchObject({ rows: [1] })
  })

  test('of a shared value excludes a person whose full name is also equal', async () => {
    const email = 'agency@example.com'
    const createMember = (row: number, first_name: string, phone: string) =>
      ({ ...orderRow(row, email), recipient: { first_name, last_name: 'Lee', email, phone } }) as NewRow
    const rows = [
      createMember(1, 'Ann', '+61400000001'),
      createMember(2, 'Bob', '+61400000002'),
      createMember(3, 'Ann', '+61400000003'),
    ]
    const batch = await addBatch(store, { rows })
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'held', 'held'])
    expect(await releaseBatch(batch, { kind: 'shared', value: 'else@example.com' })).toMatchObject({
      rows: [],
    })
    expect(await releaseBatch(batch, { kind: 'shared', value: email })).toMatchObject({ rows: [2] })
    expect(await statesOf(store, batch.id)).toEqual(['pending', 'pending', 'held'])
  })

  test('of a row that is not held is refused, and the error names the rows that were released', async () => {
    const batch = await addSimilarFile()
    expect(await releaseBatch(batch, { kind: 'rows', rows: [1, 2] })).toMatchObject(
      usageError(`row 2 of batch ${batch.id} is not held; released: 1`, '--state held'),
    )
    expect(await releaseBatch(batch, { kind: 'rows', rows: [2] })).toMatchObject(
      usageError(`row 2 of batch ${batch.id} is not held`),
    )
  })

  test('of a duplicate is refused, because it is not held', async () => {
    await addBatch(store, { rows: orderRows(2) })
    const batch = await addBatch(store, { rows: orderRows(2) })
    const result = await releaseBatch(batch, { kind: 'rows', rows: [2] })
    expect(result).toMatchObject(usageError(`row 2 of batch ${batch.id} is not held`))
  })

  test('covers the conflict that was shown; another similar order holds the row again', async () => {
    const batch = await addSimilarFile()
    const third = { ...personOf('third@example.com'), email: 'person1@example.com', first_name: 'Anna' }
    const more = await addBatch(store, {
      allowSimilar: true,
      rows: [{ ...createAnneRow(1), recipient: third } as NewRow],
    })
    await releaseBatch(more, { kind: 'all' })
    const [row] = await rowsOf(store, more.id)
    if (row) await sendRow(store, row, { to: 'accepted', requestId: createId(6), requestStatus: 'RECEIVED' })
    expect(await releaseBatch(batch, { kind: 'rows', rows: [1] })).toMatchObject(
      usageError(/^row 1 stays held because of another order: it/, 'if these are two people'),
    )
    expect(await statesOf(store, batch.id)).toEqual(['held', 'pending'])
    expect(await releaseBatch(batch, { kind: 'rows', rows: [1] })).toMatchObject({ rows: [1] })
  })

  test('is refused while the outcome of the similar order is unknown', async () => {
    const batch = await addSimilarFile('unknown')
    const earlier = (await store.batches.list()).find(({ id }) => id !== batch.id)
    expect(await releaseBatch(batch, { kind: 'rows', rows: [1] })).toMatchObject(
      usageError(/^row 1 cannot be released: it/, `refcheck batch reconcile ${earlier?.id}`),
    )
    expect(await statesOf(store, batch.id)).toEqual(['held', 'pending'])
    // A release of all does not cover this row, and does not report rows that were not named.
    expect(await releaseBatch(batch, { kind: 'all' })).toMatchObject({ rows: [] })
  })

  test('is refused for an order at another URL until the user decides whether both are one service', async () => {
    const [currentUrl, otherUrl] = ['http://127.0.0.1:4010', 'https://old.example.com']
    const batch = await addSimilarFile()
    // A store in memory accepts orders only for this machine, so the other service is simulated.
    store.heldRows.release = () => Promise.resolve({ rows: [], left: [{ row: 1, reason: 'other_service' }] })
    const find = store.batches.find.bind(store.batches)
    store.batches.find = async (id) => {
      const each = await find(id)
      return each && { ...each, baseUrl: id === batch.id ? currentUrl : otherUrl }
    }
    expect(await releaseBatch(batch, { kind: 'rows', rows: [1] })).toMatchObject(
      usageError(/^row 1 cannot be released/, `refcheck store same-service ${otherUrl} ${currentUrl}`),
    )
  })
})

const schema = { packageSchema: () => Promise.resolve(schemaOf({}, 13)) }
/** A service at which package 12 is disabled and package 13 is its successor. */
const successor = { api: { ...packagesOf({ status: 'DISABLED' }, { id: 13 }), ...schema } }

describe('move', () => {
  const movePackage = (
    batch: Pick<NewFileBatch, 'id'>,
    packageId = 13,
    overrides: Parameters<typeof createRunner>[1] = successor,
  ) => runAndExpectFree(batch, (each) => moveBatch(createRunner(store, overrides).ports, each, packageId))

  /** Returns rows whose bodies are complete requests. */
  const createCompleteRows = (count: number, from = 1, packageId = 12): NewRow[] =>
    Array.from({ length: count }, (_, at) => {
      const recipient = personOf(`person${at + from}@example.com`)
      const body = Buffer.from(JSON.stringify({ package_id: packageId, recipient }))
      return { row: at + 1, state: 'pending', packageId, recipient, body }
    })

  test('changes pending and rejected rows to the successor, and no rows that may be ordered', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(4) })
    const [one, two, three] = await rowsOf(store, batch.id)
    if (one) await sendRow(store, one, { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' })
    if (two) await sendRow(store, two, { to: 'rejected', reason: 'gone' })
    if (three) await sendRow(store, three, { to: 'unknown', reason: 'cut' })
    const halt = { at: sentAt, code: 'not_found', message: 'package 12 is gone', hint: undefined }
    await store.batches.recordHalt(batch.id, halt)
    expect(await movePackage(batch)).toBe(2)
    expect((await rowsOf(store, batch.id)).map(({ packageId, state }) => `${packageId} ${state}`)).toEqual([
      '12 accepted',
      '13 rejected',
      '12 unknown',
      '13 pending',
    ])
    expect(await findBatch(batch)).toMatchObject({ packageId: 13, halt: undefined })
    for await (const { row, body } of store.batches.bodies(batch.id, { states: ['pending', 'rejected'] }))
      expect([row, JSON.parse(Buffer.from(body).toString())]).toMatchObject([row, { package_id: 13 }])
  })

  test('makes the same person under either package a duplicate', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(2) })
    const [one] = await rowsOf(store, batch.id)
    if (one) await sendRow(store, one, { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' })
    await movePackage(batch)
    const again = await addBatch(store, {
      packageId: 13,
      rows: createCompleteRows(1, 1, 13),
    })
    expect(await statesOf(store, again.id)).toEqual(['duplicate'])
  })

  test('with a row that is invalid for the new package moves nothing', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(2) })
    const packageSchema = () => Promise.resolve(schemaOf({ consent: { method: ['string', true] } }, 13))
    const result = await movePackage(batch, 13, { api: { ...successor.api, packageSchema } })
    expect(result).toMatchObject({
      thrown: {
        code: 'invalid_input',
        message: expect.stringContaining('2 rows are invalid for package 13') as string,
      },
    })
    expect((await rowsOf(store, batch.id)).map(({ packageId }) => packageId)).toEqual([12, 12])
  })

  test('to the same package, or of rows that name their own packages, is refused', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(1) })
    expect(await movePackage(batch, 12)).toMatchObject(
      usageError(`batch ${batch.id} is already for package 12`),
    )
    const ownPackagesBatch = await addBatch(store, { rows: createCompleteRows(1, 7), packageId: undefined })
    expect(await movePackage(ownPackagesBatch)).toMatchObject(usageError(/name packages of their own$/))
  })

  test('of a batch for another service is refused', async () => {
    const batch = await addBatch(store, {
      rows: createCompleteRows(1),
      baseUrl: 'http://127.0.0.1:4010/other',
    })
    expect(await movePackage(batch)).toMatchObject(
      usageError(/and this profile is for http:\/\/127\.0\.0\.1:4010$/),
    )
  })

  test('to a package that does not exist or cannot be ordered moves nothing', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(1) })
    expect(await movePackage(batch, 14)).toMatchObject({ thrown: { code: 'not_found', field: 'package_id' } })
    const inactive = { api: { ...packagesOf({ id: 13, status: 'INACTIVE' }), ...schema } }
    expect(await movePackage(batch, 13, inactive)).toMatchObject({
      thrown: { code: 'invalid_input', message: 'package 13 (Standard) is INACTIVE' },
    })
    expect(await findBatch(batch)).toMatchObject({ packageId: 12 })
  })

  test('without rows to move does not relate the packages', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(1) })
    await cancelBatch(createRunner(store).ports, await findBatch(batch))
    expect(await movePackage(batch)).toMatchObject(usageError(`batch ${batch.id} has no rows left to move`))
    const { submissions } = await addUnknownRows(store, { rows: createCompleteRows(1) })
    expect(submissions).toMatchObject([{ state: 'unknown' }])
    const again = await addBatch(store, {
      packageId: 13,
      rows: createCompleteRows(1, 1, 13),
    })
    expect(await statesOf(store, again.id)).toEqual(['pending'])
  })

  test('reads the schema from the service and not from the cache', async () => {
    const batch = await addBatch(store, { rows: createCompleteRows(1) })
    const { ports } = createRunner(store, successor)
    const old = schemaOf({ consent: { method: ['string', true] } }, 13)
    const schemas = { get: () => Promise.resolve(old), put: () => Promise.resolve() }
    expect(await moveBatch({ ...ports, schemas }, await findBatch(batch), 13)).toBe(1)
  })
})
