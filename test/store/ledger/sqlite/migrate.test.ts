import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { someTime } from '../batches.ts'
import { scratch, type Scratch } from '../scratch.ts'
import { submissionStates } from '../../../../src/domain/submission/states.ts'
import { first } from '../../../../src/store/ledger/sqlite/migrations/0001-first.ts'
import { files } from '../../../../src/store/ledger/sqlite/migrations/0002-files.ts'
import { quota } from '../../../../src/store/ledger/sqlite/migrations/0003-quota.ts'
import { inbox } from '../../../../src/store/ledger/sqlite/migrations/0004-inbox.ts'
import { byEmail } from '../../../../src/store/ledger/sqlite/migrations/0005-by-email.ts'

let place: Scratch
beforeEach(() => {
  place = scratch()
})
afterEach(() => place.end())

/** The states there were. */
const statesThen: readonly string[] = submissionStates.filter(
  (state) => state !== 'held' && state !== 'dropped',
)

const batchId = '11111111-1111-4111-8111-111111111111'

/** A store as the versions before left it: a batch with a row in every state, changed one after another. */
function storeOfFormat5(): void {
  mkdirSync(dirname(place.path), { mode: 0o700 })
  const database = new DatabaseSync(place.path)
  for (const migration of [first, files, quota, inbox, byEmail]) database.exec(migration)
  database.exec(`
    PRAGMA journal_mode = WAL; PRAGMA application_id = 0x5246434c; PRAGMA user_version = 5;
    INSERT INTO meta VALUES ('fingerprint_key', x'${'00'.repeat(32)}');
    INSERT INTO batches (id, kind, base_url, user_email, added_at, name)
      VALUES ('${batchId}', 'file', 'http://127.0.0.1:4010', 'owner@example.com', ${someTime}, 'people.csv');`)
  for (const [at, state] of statesThen.entries()) {
    const isOrder = state !== 'invalid'
    database
      .prepare(
        `INSERT INTO submissions (batch_id, row_number, state, attempt_id, changed_at, package_id, body, body_sha256,
          fingerprint, request_id, matches_batch, matches_row) VALUES (?, ?, ?, ?, ?, 12, x'', '', ?, ?, ?, ?)`,
      )
      .run(
        batchId,
        at + 1,
        state,
        state === 'sending' ? 'a' : null,
        someTime + at,
        isOrder ? (state === 'duplicate' ? 'of pending' : `of ${state}`) : null,
        state === 'accepted' ? 'r' : null,
        ...(state === 'duplicate' ? [batchId, 1] : [null, null]),
      )
  }
  database.close()
}

test('a store of an earlier version is opened with every row where it stood', async () => {
  storeOfFormat5()
  const { batches } = await place.store()
  const batch = await batches.find(batchId)
  expect(batch?.counts).toEqual({
    total: statesThen.length,
    ...Object.fromEntries(submissionStates.map((state) => [state, statesThen.includes(state) ? 1 : 0])),
  })
  expect(batch?.changedAt).toBe(someTime + statesThen.length - 1)
})

test('and in it a person is still in flight once, whatever is compared', async () => {
  storeOfFormat5()
  await place.store()
  const database = new DatabaseSync(place.path)
  const insert = (fingerprint: string): void =>
    database.exec(`INSERT INTO submissions
      (batch_id, row_number, state, attempt_id, changed_at, package_id, body_sha256, fingerprint)
      VALUES ('${batchId}', 99, 'sending', 'b', 0, 12, '', '${fingerprint}')`)
  expect(() => insert('of sending')).toThrow(/UNIQUE/)
  insert('of somebody else')
  database.close()
})
