import { expect, test } from 'vitest'

import { threeAnswers } from '../../../src/domain/batch/answers.ts'

test('each answer that the provider may give has its command, whole', () => {
  const text = threeAnswers('b-1', 2, 'ann@example.com')
  for (const answer of ['--request-id UUID', '--confirm-email ann@example.com', '--drop']) {
    expect(text).toContain(`refcheck batch reconcile b-1 --row 2 ${answer}`)
  }
  expect(threeAnswers('b-1', 2)).toContain('--confirm-email EMAIL')
})
