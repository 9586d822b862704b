import { createHash, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

import { memoryStore, createRunner, addBatch } from './runner.ts'
import { requestOf } from '../request/answers.ts'
import { halfPastNine } from '../request/scripted-ordering.ts'
import { beginAttempt, personOf } from '../../store/ledger/batches.ts'
import { orderRows, rowsOf } from '../../store/ledger/files.ts'
import type { ManualClock } from '../../harness/manual-clock.ts'
import type { Package } from '../../../src/contract/package.ts'
import type { RequestResource } from '../../../src/contract/request.ts'
import type { BatchRow, NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import type { Change } from '../../../src/domain/submission/states.ts'
import type { RowVersion, Submission } from '../../../src/domain/submission/submission.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

export { memoryStore, rowsOf, createRunner }

/** The time at which the tests send rows, 09:30. */
export const sentAt = halfPastNine().now()

/** An id of a request. */
export const createId = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Returns the request at the service for a row of `orderRows`. */
export function requestFor(row: number, changes: Partial<RequestResource> = {}): RequestResource {
  const recipient = personOf(`person${row}@example.com`)
  return { ...requestOf({ package_id: 12, recipient }, 'RECEIVED', createId(row)), ...changes }
}

/** Begins an attempt for the row, and records its outcome a second later. */
export async function sendRow(
  store: Store,
  from: RowVersion,
  outcome:
    | (Change extends infer Each ? (Each extends { at: number } ? Omit<Each, 'at'> : never) : never)
    | 'in flight',
): Promise<void> {
  const attempt = await beginAttempt(store.ledger, from, {
    attemptId: randomUUID(),
    at: sentAt,
    monotonic: 0,
    userEmail: 'owner@example.com',
  })
  if (attempt === undefined) throw new Error('no attempt began')
  if (outcome !== 'in flight') await store.ledger.move(attempt, { ...outcome, at: sentAt + 1000 })
}

/** Adds a batch, by default with one row, and makes each of its rows unknown. */
export async function addUnknownRows(
  store: Store,
  {
    rows = orderRows(1),
    offeredId,
    ...changes
  }: Partial<NewFileBatch> & { rows?: NewRow[]; offeredId?: string } = {},
): Promise<{ batch: NewFileBatch; rows: BatchRow[]; submissions: Submission[] }> {
  const batch = await addBatch(store, { rows, ...changes })
  for (const row of await rowsOf(store, batch.id))
    await sendRow(store, row, { to: 'unknown', reason: 'the connection was cut', offeredId })
  const submissions = await store.ledger.list({ batchId: batch.id })
  return { batch, rows: await rowsOf(store, batch.id), submissions }
}

/** Returns a clock that is the given number of minutes after the rows were sent. */
export function clockAfterMinutes(minutes: number): ManualClock {
  const clock = halfPastNine()
  clock.jump(minutes * 60_000)
  return clock
}

const standard: Package = {
  id: 12,
  name: 'Standard',
  status: 'ACTIVE',
  details: { reference_survey: null, background_checks: [] },
}

/** Returns an API that lists the given packages, ACTIVE by default. */
export const packagesOf = (...all: Partial<Package>[]) => ({
  listPackages: () =>
    Promise.resolve(all.map((each): Package => Object.assign(structuredClone(standard), each))),
})

/** Package 12 can be ordered. */
export const packages = packagesOf({})

/** Writes a people file with `count` rows, and returns the properties of a batch from it. */
export function writePeopleFile(
  folder: string,
  count = 1,
): Required<Pick<NewFileBatch, 'path' | 'sha256' | 'resultsFile'>> {
  const path = join(folder, 'people.csv')
  const lines = Array.from({ length: count }, (_, at) => `Ana,Silva,person${at + 1}@example.com,\n`)
  const text = `first_name,last_name,email,phone\n${lines.join('')}`
  writeFileSync(path, text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { path, sha256, resultsFile: join(folder, 'people.results.csv') }
}

/** Checks that the lease of the batch is free. */
export async function expectFree(store: Store, id: string, kind: 'file' | 'single' = 'file'): Promise<void> {
  const lease = await store.ledger.acquire({ id, kind })
  expect(lease).toBeDefined()
  await lease?.release()
}
