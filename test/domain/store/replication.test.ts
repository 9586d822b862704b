import { expect, test } from 'vitest'

import { replicationText } from '../../../src/domain/store/types.ts'

test('only the text for asynchronous replication states that orders can be lost', () => {
  expect(replicationText.asynchronous).toContain('forgotten')
  expect(replicationText.synchronous).not.toContain('forgotten')
})
