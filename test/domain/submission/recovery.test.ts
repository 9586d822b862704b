import { expect, test } from 'vitest'

import { orphaned, submissionStates } from '../../../src/domain/submission/states.ts'

test.each(['single', 'file'] as const)(
  'found in sending, a row of a %s becomes unknown, never pending',
  (kind) => {
    expect(orphaned({ state: 'sending', kind }, 7)).toMatchObject({ to: 'unknown', at: 7 })
  },
)

test('a single that was never sent is cancelled, and a file’s row waits', () => {
  expect(orphaned({ state: 'pending', kind: 'single' }, 7)).toMatchObject({ to: 'cancelled', at: 7 })
  expect(orphaned({ state: 'pending', kind: 'file' }, 7)).toBeUndefined()
})

test('every other row stays as it is', () => {
  const settled = submissionStates.filter((state) => state !== 'sending' && state !== 'pending')
  expect(settled.map((state) => orphaned({ state, kind: 'single' }, 7))).toEqual(settled.map(() => undefined))
})
