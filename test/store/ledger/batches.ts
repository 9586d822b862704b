import { createHash, randomUUID } from 'node:crypto'

import type { Recipient } from '../../../src/contract/request.ts'

import type { ReceivedEvent } from '../../../src/domain/webhook/events.ts'
import type { QuotaClaim } from '../../../src/domain/quota/windows.ts'
import type { Ledger } from '../../../src/store/ledger/ledger.ts'
import type {
  NewAttempt,
  NewBatch,
  RowVersion,
  Submission,
} from '../../../src/domain/submission/submission.ts'

export const someTime = Date.UTC(2026, 10, 21, 9, 30)

/** Returns a person who is not similar to any other: each e-mail has its own phone. */
export function personOf(email: string): Recipient {
  const digits = createHash('sha256').update(email.toLowerCase()).digest().readUInt32BE(0)
  return { first_name: 'Ana', last_name: 'Silva', email, phone: `+61${String(digits).padStart(10, '0')}` }
}

/** Returns a batch with one row for the person of each e-mail. */
export function batchOf(emails: readonly string[], changes: Partial<NewBatch> = {}): NewBatch {
  return {
    id: randomUUID(),
    kind: 'single',
    addedAt: someTime,
    baseUrl: 'http://127.0.0.1:4010',
    userEmail: 'owner@example.com',
    submissions: emails.map((email) => ({
      packageId: 12,
      recipient: personOf(email),
      body: Buffer.from(`{"for":"${email}"}`),
    })),
    ...changes,
  }
}

/** Adds a batch with one row and returns that row. */
export async function addOne(
  ledger: Ledger,
  email: string,
  changes: Partial<NewBatch> = {},
): Promise<RowVersion> {
  const batch = batchOf([email], changes)
  const match = await ledger.add(batch, { allowDuplicate: false })
  if (match !== undefined) throw new Error(`the order conflicts with an order that is ${match.order.state}`)
  return { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined }
}

/** A quota that allows every call at once. */
export const unlimitedQuota: QuotaClaim = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

/** Changes a row to `sending`. Returns the attempt, or undefined if the row was not changed. */
export async function beginAttempt(ledger: Ledger, from: RowVersion, attempt: NewAttempt) {
  return (await ledger.beginInQuota(from, attempt, unlimitedQuota)).attempt
}

/** Adds a batch with one row and begins an attempt of the row. */
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

/** Returns an event of a request. */
export function receivedEvent(
  requestId: string,
  status: string,
  changes: Partial<ReceivedEvent> = {},
): ReceivedEvent {
  return {
    receivedAt: someTime,
    body: Buffer.from(JSON.stringify({ event: 'request.updated', request_id: requestId, status })),
    signature: 'a'.repeat(64),
    requestId,
    status,
    event: 'request.updated',
    oddity: undefined,
    ...changes,
  }
}
