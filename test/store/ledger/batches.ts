import { createHash, randomUUID } from 'node:crypto'

import type { Recipient } from '../../../src/contract/request.ts'

import type { QuotaPriority } from '../../../src/domain/quota/windows.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type {
  NewAttempt,
  NewBatch,
  RowVersion,
  Submission,
} from '../../../src/domain/submission/submission.ts'

export const someTime = Date.UTC(2026, 10, 21, 9, 30)

/** A person similar to no other: each e-mail has a phone of its own. */
export function personOf(email: string): Recipient {
  const digits = createHash('sha256').update(email.toLowerCase()).digest().readUInt32BE(0)
  return { first_name: 'Ana', last_name: 'Silva', email, phone: `+61${String(digits).padStart(10, '0')}` }
}

/** A batch of one person a row. */
export function batchOf(people: readonly string[], changes: Partial<NewBatch> = {}): NewBatch {
  return {
    id: randomUUID(),
    kind: 'single',
    addedAt: someTime,
    baseUrl: 'http://127.0.0.1:4010',
    userEmail: 'owner@example.com',
    submissions: people.map((email) => ({
      packageId: 12,
      recipient: personOf(email),
      body: Buffer.from(`{"for":"${email}"}`),
    })),
    ...changes,
  }
}

/** Adds a batch of one and answers its row. */
export async function addOne(
  ledger: Ledger,
  email: string,
  changes: Partial<NewBatch> = {},
): Promise<RowVersion> {
  const batch = batchOf([email], changes)
  const match = await ledger.add(batch, { allowDuplicate: false })
  if (match !== undefined) throw new Error(`in the way: ${match.order.state}`)
  return { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined }
}

/** A quota that has a place for every call. */
export const room: QuotaPriority = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

/** Takes a row to `sending`; undefined where that is not done. */
export async function beginAttempt(ledger: Ledger, from: RowVersion, attempt: NewAttempt) {
  return (await ledger.beginInQuota(from, attempt, room)).attempt
}

/** Adds a batch of one and begins an attempt. */
export async function beginOne(ledger: Ledger, email: string, changes: Partial<NewBatch> = {}) {
  const attempt = await beginAttempt(ledger, await addOne(ledger, email, changes), newAttempt())
  if (attempt === undefined) throw new Error('no attempt began')
  return attempt
}

export function newAttempt() {
  return { attemptId: randomUUID(), at: someTime + 10, monotonic: 1234.5, userEmail: 'member@example.com' }
}

export async function rowOf(ledger: Ledger, { batchId, row }: RowVersion): Promise<Submission> {
  const found = (await ledger.list({ batchId })).find((each) => each.row === row)
  if (found === undefined) throw new Error('no such row')
  return found
}
