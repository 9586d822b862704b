import { expect, test } from 'vitest'

import { changeAfterCrash, submissionStates } from '../../../src/domain/submission/states.ts'

test.each(['single', 'file'] as const)(
  'after a crash a row of a %s in sending becomes unknown and not pending',
  (kind) => {
    expect(changeAfterCrash({ state: 'sending', kind }, 7)).toMatchObject({ to: 'unknown', at: 7 })
  },
)

test('after a crash a pending single order is cancelled, and a pending row of a file stays', () => {
  expect(changeAfterCrash({ state: 'pending', kind: 'single' }, 7)).toMatchObject({ to: 'cancelled', at: 7 })
  expect(changeAfterCrash({ state: 'pending', kind: 'file' }, 7)).toBeUndefined()
})

test('a row in any other state does not change after a crash', () => {
  const finished = submissionStates.filter((state) => state !== 'sending' && state !== 'pending')
  expect(finished.map((state) => changeAfterCrash({ state, kind: 'single' }, 7))).toEqual(
    finished.map(() => undefined),
  )
})
