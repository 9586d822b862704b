import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'

import { newAttempt, personOf, someTime } from './batches.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'
import { resultsBatch } from '../../../src/domain/submission/external-results.ts'
import { batchOf } from '../../../src/store/ledger/batches.ts'
import { toClaimed } from '../../../src/store/ledger/claim.ts'
import { changeFields } from '../../../src/store/ledger/ledger.ts'
import { storedRowOf } from '../../../src/store/ledger/matching.ts'
import { batchRowOf } from '../../../src/store/ledger/submission-rows.ts'

test('only a change that ends an attempt in flight records the outcome of the attempt', () => {
  const from = { batchId: 'b', row: 1, attemptId: 'a' }
  const requestId = '3F0C6F0E-9D1B-4E0A-8A34-2F6B0F6C1D55'
  const accepted = {
    to: 'accepted',
    at: someTime,
    requestId,
    requestStatus: 'RECEIVED',
    answerStatus: 201,
  } as const
  expect(changeFields({ ...from, state: 'sending' }, accepted).attempt).toEqual({
    id: 'a',
    at: someTime,
    became: 'accepted',
    answerStatus: 201,
    reason: undefined,
  })
  const decision = { by: 'owner@example.com', why: 'they have it' }
  expect(changeFields({ ...from, state: 'unknown' }, { ...accepted, decision }).attempt).toBeUndefined()
})

test('a stored row has the id of its last attempt', () => {
  const body = Buffer.from('{}')
  const selected = {
    ...personOf('ann@example.com'),
    batchId: 'b',
    row: 1,
    state: 'pending',
    packageId: 12,
    baseUrl: 'http://127.0.0.1:4010',
    body,
    bodySha256: createHash('sha256').update(body).digest('hex'),
    account: '',
    addedAt: someTime,
    kind: 'file',
    externalResults: undefined,
    personPrint: 'p',
    emailPrint: 'e',
    phonePrint: 'f',
    shared: '[]',
    allowDuplicate: 0,
    allowSimilar: 0,
  }
  expect(storedRowOf({ ...selected, attemptId: 'a' })).toMatchObject({ attemptId: 'a', body })
  expect(storedRowOf({ ...selected, attemptId: undefined })?.attemptId).toBeUndefined()
})

test('an attempt of a person whose fingerprints were erased is recorded without them', () => {
  const row = {
    batchId: 'b',
    row: 1,
    packageId: 12,
    fingerprints: undefined,
    baseUrl: '',
    body: Buffer.from('{}'),
    relatedIds: [],
  }
  expect(
    toClaimed(row as unknown as Parameters<typeof toClaimed>[0], newAttempt(), {
      number: 7,
      generation: 'g',
    }),
  ).toMatchObject({
    attempt: { state: 'sending' },
    recorded: { number: 7, person: '', email: '', phone: '' },
  })
})

test('a row matches an order of the store, but not an external result without data', () => {
  const selected = {
    ...personOf('ann@example.com'),
    batchId: 'b',
    row: 2,
    state: 'duplicate',
    attemptId: undefined,
    changedAt: someTime,
    packageId: 12,
    baseUrl: 'http://127.0.0.1:4010',
    userEmail: 'member@example.com',
    addedAt: someTime,
    attempts: 0,
    attemptedAt: undefined,
    matchesBatch: 'a',
    matchesRow: 1,
    matchesRequest: undefined,
    matchesState: undefined,
    matchesPackage: undefined,
    matchesAt: undefined,
    heldFor: undefined,
    shares: undefined,
    externalResults: undefined,
  }
  const row = selected as unknown as Parameters<typeof batchRowOf>[0]
  const undefinedFields = {
    requestId: undefined,
    state: undefined,
    packageId: undefined,
    orderedAt: undefined,
  }
  expect(batchRowOf(row).matches).toEqual({ batchId: 'a', row: 1, ...undefinedFields })
  expect(batchRowOf({ ...row, matchesBatch: resultsBatch }).matches).toBeUndefined()
  expect(batchRowOf({ ...row, matchesBatch: undefined }).matches).toBeUndefined()
})

test('a batch that was halted without a code and message has empty texts for them', () => {
  const selected = {
    counts: submissionStates.map(() => 0).join(' '),
    kind: 'file',
    shared: '[]',
    haltedAt: someTime,
    haltCode: undefined,
    haltMessage: undefined,
  }
  expect(batchOf(selected as unknown as Parameters<typeof batchOf>[0], undefined).halt).toEqual({
    at: someTime,
    code: '',
    message: '',
    hint: undefined,
  })
})
