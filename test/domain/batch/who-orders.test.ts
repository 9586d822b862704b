import { expect, test } from 'vitest'

import { requiresConfirmation } from '../../../src/domain/batch/run-policy.ts'

const batch = { id: 'b-1', userEmail: 'Casey@example.com' }

test('a key that can read a request of the batch needs no confirmation', () => {
  expect(requiresConfirmation(batch, { by: 'request', isReadable: true })).toBe(false)
})

test('a key that cannot read a request of the batch is refused', () => {
  expect(() => requiresConfirmation(batch, { by: 'request', isReadable: false })).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringContaining('cannot read what batch b-1 has ordered') as string,
    }),
  )
})

test('without accepted rows no confirmation is needed if the owner of the batch is among the users of the key', () => {
  expect(requiresConfirmation(batch, { by: 'users', emails: ['a@example.com', 'casey@EXAMPLE.com'] })).toBe(
    false,
  )
})

test('without accepted rows and without the owner among the users, confirmation is required', () => {
  expect(requiresConfirmation(batch, { by: 'users', emails: ['a@example.com'] })).toBe(true)
  expect(requiresConfirmation(batch, { by: 'users', emails: [] })).toBe(true)
})
