import { expect, test } from 'vitest'

import { replicationText } from '../../../src/domain/store/replication.ts'

test('each says whether orders can be forgotten', () => {
  expect(replicationText.asynchronous).toContain('forgotten')
  expect(replicationText.synchronous).not.toContain('forgotten')
})
