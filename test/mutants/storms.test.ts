import { expect, test } from 'vitest'

import { simulate } from '../simulation/simulate.ts'

test.each([2, 5, 9, 16, 44, 217])(
  'a storm of seed %i orders nobody twice and loses nothing',
  async (seed) => {
    const { broken } = await simulate(seed)
    expect(broken).toEqual([])
  },
)
