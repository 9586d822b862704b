import { expect, test } from 'vitest'

import { firstRetryMs, longestRetryMs, longestWait } from '../../../src/domain/webhook/retry.ts'

test('a failed forward is tried again within a second (cli-contract), and no event is put off for longer than two waits', () => {
  expect(firstRetryMs).toBeLessThan(1000)
  expect(longestWait).toBe(2 * longestRetryMs)
})
