import { expect, test } from 'vitest'

import { columnsWithRule, erasurePolicy, statesNotErased } from '../../../src/domain/store/erasure.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'

/** The columns of each field of a submission; a new field does not compile without an entry here. */
const columnsOf: Record<keyof Submission, readonly string[]> = {
  batchId: ['submissions.batch_id'],
  row: ['submissions.row_number'],
  state: ['submissions.state'],
  attemptId: ['submissions.attempt_id'],
  baseUrl: ['batches.base_url'],
  userEmail: ['batches.user_email', 'attempts.user_email'],
  packageId: ['submissions.package_id'],
  recipient: ['submissions.first_name', 'submissions.last_name', 'submissions.email', 'submissions.phone'],
  attempts: ['attempts.id'],
  addedAt: ['batches.added_at'],
  attemptedAt: ['attempts.began_at'],
  changedAt: ['submissions.changed_at'],
  requestId: ['submissions.request_id'],
  requestStatus: ['submissions.request_status'],
  requestStatusAt: ['submissions.request_status_at'],
  checks: ['submissions.checks'],
  acknowledgedAt: ['submissions.acknowledged_at'],
  offeredId: ['submissions.offered_id'],
  reason: ['submissions.reason'],
  field: ['submissions.field'],
}

test('the erasure policy has a rule for every field of a submission', () => {
  const known = new Set(
    Object.entries(erasurePolicy).flatMap(([table, columns]) =>
      Object.values(columns)
        .flat()
        .map((name) => `${table}.${name}`),
    ),
  )
  expect(
    Object.values(columnsOf)
      .flat()
      .filter((column) => !known.has(column)),
  ).toEqual([])
})

test('columns that identify the person or quote the request are emptied', () => {
  expect(columnsWithRule('submissions', 'emptied')).toEqual([
    'first_name',
    'last_name',
    'email',
    'phone',
    'body',
    'offered_id',
    'reason',
    'field',
    'name_print',
  ])
  expect(columnsWithRule('attempts', 'emptied')).toEqual(['reason'])
  expect(columnsWithRule('decisions', 'emptied')).toEqual(['why'])
})

test('the keyed fingerprints and the results of other stores are emptied only with --completely, so that an old file does not order a person twice', () => {
  expect(columnsWithRule('submissions', 'emptied with --completely')).toEqual([
    'fingerprint',
    'person_print',
    'email_print',
    'phone_print',
    'external_results',
  ])
})

test('erasing a person excludes only rows that may be in flight', () => {
  expect(statesNotErased({ email: 'ann@example.com' })).toEqual(['sending', 'unknown', 'dropped'])
  expect(statesNotErased({ requestId: 'r' })).toEqual(['sending', 'unknown', 'dropped'])
})

test('erasing by age excludes rows that may still be sent or settled', () => {
  expect(statesNotErased({ endedBefore: 0 })).toEqual(['pending', 'sending', 'unknown', 'dropped', 'held'])
})
