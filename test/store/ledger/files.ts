import { randomUUID } from 'node:crypto'

import { personOf, someTime } from './batches.ts'
import type { BatchRow, NewFileBatch, NewRow } from '../../../src/domain/batch/batch.ts'
import type { ExternalResult } from '../../../src/domain/submission/external-results.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

/** Returns a file batch for a service on this machine. */
export function fileBatch(changes: Partial<NewFileBatch> = {}): NewFileBatch {
  const id = randomUUID()
  return {
    id,
    addedAt: someTime,
    baseUrl: 'http://127.0.0.1:4010',
    userEmail: 'owner@example.com',
    identity: id,
    name: 'people.csv',
    sha256: '0'.repeat(64),
    packageId: 12,
    path: undefined,
    resultsFile: undefined,
    reading: '{}',
    allowDuplicate: false,
    ...changes,
  }
}

/** Returns a pending row that orders the person with this e-mail. */
export function orderRow(row: number, email: string): NewRow {
  return {
    row,
    state: 'pending',
    packageId: 12,
    recipient: personOf(email),
    body: Buffer.from(`{"for":"${email}"}`),
  }
}

export function orderRows(count: number, from = 1): NewRow[] {
  return Array.from({ length: count }, (_, index) => orderRow(index + 1, `person${index + from}@example.com`))
}

/** Returns a pending row of a person who is similar to the one with this e-mail: only the first name differs. */
export function similarRow(row: number, email: string, first_name = 'Anne'): NewRow {
  return { ...orderRow(row, email), recipient: { ...personOf(email), first_name } } as NewRow
}

export function invalidRow(row: number, email = ''): NewRow {
  return {
    row,
    state: 'invalid',
    packageId: undefined,
    person: { first_name: '', last_name: '', email, phone: '' },
    reason: 'is missing',
    field: 'phone',
    matchesRow: undefined,
  }
}

/** Returns rows of colleagues who share only one e-mail. */
export function officeRows(email: string, names: readonly string[]): NewRow[] {
  return names.map((first_name, index) => ({
    row: index + 1,
    state: 'pending',
    packageId: 12,
    recipient: { first_name, last_name: `${first_name}son`, email, phone: `+6140000000${index}` },
    body: Buffer.from(first_name),
  }))
}

export async function rowsOf(store: Store, batchId: string): Promise<BatchRow[]> {
  const rows: BatchRow[] = []
  for await (const row of store.batches.rows(batchId)) rows.push(row)
  return rows
}

/** Returns the state of each row. */
export async function statesOf(store: Store, batchId: string): Promise<string[]> {
  return (await rowsOf(store, batchId)).map(({ state }) => state)
}

/** Returns an external result: a row of a results file which states that the person was ordered. */
export const externalResult = (changes: Partial<ExternalResult> = {}): ExternalResult => ({
  file: 'people.results.csv',
  line: 2,
  state: 'accepted',
  requestId: '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55',
  requestStatus: 'RECEIVED',
  account: '',
  baseUrl: undefined,
  packageId: undefined,
  at: someTime,
  person: 'same',
  shares: [],
  ...changes,
})
