import { expect, test } from 'vitest'

import { threeAnswers } from '../../../src/domain/batch/answers.ts'

test('each answer that the provider may give has its command, whole', () => {
  const recipient = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+61412345678' }
  const row = { batchId: 'b-1', row: 2, recipient }
  const text = threeAnswers(row, recipient.email)
  for (const answer of ['--request-id UUID', '--confirm-email ann@example.com', '--drop']) {
    expect(text).toContain(`refcheck batch reconcile b-1 --row 2 ${answer}`)
  }
  expect(text).toContain('order it now (a new order)')
  expect(threeAnswers(row)).toContain('--confirm-email EMAIL')
})

test('a row without its recipient is closed and not ordered again', () => {
  const text = threeAnswers({ batchId: 'b-1', row: 2, recipient: undefined })
  expect(text).toContain(
    'close the row (nothing is sent; the person can then be ordered): refcheck batch reconcile b-1 --row 2 --confirm-email EMAIL',
  )
  expect(text).not.toContain('order it now')
})
