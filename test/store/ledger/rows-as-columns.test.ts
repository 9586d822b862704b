import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'

import { newAttempt, personOf, someTime } from './batches.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'
import { resultsBatch } from '../../../src/domain/submission/witness.ts'
import { batchOf, batchRowOf } from '../../../src/store/ledger/batches.ts'
import { claimedOf } from '../../../src/store/ledger/claim.ts'
import { changeColumns } from '../../../src/store/ledger/ledger.ts'
import { storedRowOf } from '../../../src/store/ledger/matching.ts'
import { stopGroupOf } from '../../../src/store/ledger/held-rows.ts'

test('only what ends an attempt in flight says of the attempt what became of it', () => {
  const from = { batchId: 'b', row: 1, attemptId: 'a' }
  const requestId = '3F0C6F0E-9D1B-4E0A-8A34-2F6B0F6C1D55'
  const accepted = {
    to: 'accepted',
    at: someTime,
    requestId,
    requestStatus: 'RECEIVED',
    answerStatus: 201,
  } as const
  expect(changeColumns({ ...from, state: 'sending' }, accepted).attempt).toEqual({
    id: 'a',
    at: someTime,
    became: 'accepted',
    answer_status: 201,
    reason: null,
  })
  const decision = { by: 'owner@example.com', why: 'they have it' }
  expect(changeColumns({ ...from, state: 'unknown' }, { ...accepted, decision }).attempt).toBeUndefined()
})

test('a row of the store has the attempt that was made of it last', () => {
  const body = Buffer.from('{}')
  const selected = {
    ...personOf('ann@example.com'),
    batch_id: 'b',
    row_number: 1,
    state: 'pending',
    package_id: 12,
    base_url: 'http://127.0.0.1:4010',
    body,
    body_sha256: createHash('sha256').update(body).digest('hex'),
    account: '',
    added_at: someTime,
    kind: 'file',
    witnesses: null,
    person_print: 'p',
    email_print: 'e',
    phone_print: 'f',
    shared: '[]',
    allow_duplicate: 0,
    allow_similar: 0,
  }
  expect(storedRowOf({ ...selected, attempt_id: 'a' })).toMatchObject({ attemptId: 'a', body })
  expect(storedRowOf({ ...selected, attempt_id: null })?.attemptId).toBeUndefined()
})

test('an attempt of a person whose fingerprints were erased is recorded without them', () => {
  const row = {
    batchId: 'b',
    row: 1,
    packageId: 12,
    prints: undefined,
    baseUrl: '',
    body: Buffer.from('{}'),
    joined: [],
  }
  expect(
    claimedOf(row as unknown as Parameters<typeof claimedOf>[0], newAttempt(), {
      number: 7,
      generation: 'g',
    }),
  ).toMatchObject({
    attempt: { state: 'sending' },
    recorded: { number: 7, person: '', email: '', phone: '' },
  })
})

test('a row that stands in the way of another, by a store or by a results file', () => {
  const selected = {
    ...personOf('ann@example.com'),
    batch_id: 'b',
    row_number: 2,
    state: 'duplicate',
    attempt_id: null,
    changed_at: someTime,
    package_id: 12,
    base_url: 'http://127.0.0.1:4010',
    user_email: 'member@example.com',
    added_at: someTime,
    attempts: 0,
    attempted_at: null,
    matches_batch: 'a',
    matches_row: 1,
    matches_request: null,
    matches_state: null,
    matches_package: null,
    matches_at: null,
    held_for: null,
    shares: null,
    witnesses: null,
  }
  const unsaid = { requestId: undefined, state: undefined, packageId: undefined, orderedAt: undefined }
  expect(batchRowOf(selected).matches).toEqual({ batchId: 'a', row: 1, ...unsaid })
  expect(batchRowOf({ ...selected, matches_batch: resultsBatch }).matches).toBeUndefined()
  expect(batchRowOf({ ...selected, matches_batch: null }).matches).toBeUndefined()
})

test('a batch that was halted by a store that said less', () => {
  const counts = Object.fromEntries(
    submissionStates.flatMap((state) => [
      [`n_${state}`, 0],
      [`changed_${state}`, null],
    ]),
  )
  const selected = {
    ...counts,
    kind: 'file',
    shared: '[]',
    halted_at: someTime,
    halt_code: null,
    halt_message: null,
  }
  expect(batchOf(selected as unknown as Parameters<typeof batchOf>[0], undefined).halt).toEqual({
    at: someTime,
    code: '',
    message: '',
    hint: undefined,
  })
})

test('a row that is held for nothing is in no group of what stands in the way', () => {
  const group = {
    state: 'held',
    held_for: null,
    other_state: null,
    other_batch: null,
    count: 1,
    first_at: null,
    last_at: null,
  }
  expect(stopGroupOf(group)).toEqual([])
  expect(stopGroupOf({ ...group, held_for: 'similar' })).toMatchObject([{ heldFor: 'similar', count: 1 }])
  expect(stopGroupOf({ ...group, state: 'duplicate' })).toMatchObject([{ heldFor: undefined, count: 1 }])
})
