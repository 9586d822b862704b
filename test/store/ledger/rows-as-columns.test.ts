import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'

import { personOf, someTime } from './batches.ts'
import type { ListedAttempt } from '../../../src/domain/store/attempt-list.ts'
import { changeColumns } from '../../../src/store/ledger/change-columns.ts'
import { storedRowOf } from '../../../src/store/ledger/match-rows.ts'
import { putBackColumns } from '../../../src/store/ledger/put-back.ts'

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

test('an attempt that is put back has the fingerprints that its list has: 0.1.0’s, today’s, or none', () => {
  const attempt: ListedAttempt = {
    attemptId: 'a',
    batchId: 'b',
    row: 1,
    packageId: 12,
    person: 'p',
    email: 'e',
    phone: 'f',
    at: someTime,
    baseUrl: 'http://127.0.0.1:4010',
    userEmail: 'owner@example.com',
  }
  const prints = (changes: Partial<ListedAttempt>) => {
    const { fingerprint, person_print, email_print, phone_print } = putBackColumns(
      { ...attempt, ...changes },
      someTime,
    ).row
    return [fingerprint, person_print, email_print, phone_print]
  }
  expect(prints({})).toEqual(['p', 'p', 'e', 'f'])
  expect(prints({ email: '', phone: '' })).toEqual(['p', null, null, null])
  expect(prints({ person: '', email: '', phone: '' })).toEqual(['a', null, null, null])
})
