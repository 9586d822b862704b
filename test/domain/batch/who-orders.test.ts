import { expect, test } from 'vitest'

import { requiresConfirmation } from '../../../src/domain/batch/run-policy.ts'

const batch = { id: 'b-1', userEmail: 'Casey@example.com' }

test('a key that can read one of the batch’s requests goes on with it', () => {
  expect(requiresConfirmation(batch, { by: 'request', isReadable: true })).toBe(false)
})

test('a key that can read none of them is another organisation’s: refused', () => {
  expect(() => requiresConfirmation(batch, { by: 'request', isReadable: false })).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: expect.stringContaining('cannot read what batch b-1 has ordered') as string,
    }),
  )
})

test('with nothing accepted the user who began it has to be among the key’s users', () => {
  expect(requiresConfirmation(batch, { by: 'users', emails: ['a@example.com', 'casey@EXAMPLE.com'] })).toBe(
    false,
  )
})

test('with neither a person confirms', () => {
  expect(requiresConfirmation(batch, { by: 'users', emails: ['a@example.com'] })).toBe(true)
  expect(requiresConfirmation(batch, { by: 'users', emails: [] })).toBe(true)
})
