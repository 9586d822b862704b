import { expect, test } from 'vitest'

import { changeAfterCrash, submissionStates } from '../../../src/domain/submission/states.ts'

test.each(['single', 'file'] as const)(
  'found in sending, a row of a %s becomes unknown, never pending',
  (kind) => {
    expect(changeAfterCrash({ state: 'sending', kind }, 7)).toMatchObject({ to: 'unknown', at: 7 })
  },
)

test('a single that was never sent is cancelled, and a file’s row waits', () => {
  expect(changeAfterCrash({ state: 'pending', kind: 'single' }, 7)).toMatchObject({ to: 'cancelled', at: 7 })
  expect(changeAfterCrash({ state: 'pending', kind: 'file' }, 7)).toBeUndefined()
})

test('every other row stays as it is', () => {
  const finished = submissionStates.filter((state) => state !== 'sending' && state !== 'pending')
  expect(finished.map((state) => changeAfterCrash({ state, kind: 'single' }, 7))).toEqual(
    finished.map(() => undefined),
  )
})
