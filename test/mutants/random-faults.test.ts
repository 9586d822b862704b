import { expect, test } from 'vitest'

import { simulate } from '../simulation/simulate.ts'

test.each([2, 5, 9, 16, 44, 217])(
  'seed %i: no person is ordered twice and no order is lost',
  async (seed) => {
    const { broken } = await simulate(seed)
    expect(broken).toEqual([])
  },
)
