import { expect, test } from 'vitest'

import { missingRuns, olderThanItsOrders } from '../../../src/domain/store/age.ts'

test.each([
  { known: 3, begun: 3, missing: 0 },
  { known: 4, begun: 3, missing: 0 },
  { known: 1, begun: 3, missing: 2 },
])('a store that knows $known of $begun runs misses $missing', ({ known, begun, missing }) => {
  expect(missingRuns(known, begun)).toBe(missing)
})

test('a store that misses runs is refused, naming it', () => {
  expect(olderThanItsOrders('/d/s', 0)).toBeUndefined()
  expect(olderThanItsOrders('/d/s', 1)).toMatchObject({
    message: expect.stringContaining('"/d/s"') as string,
  })
  expect(olderThanItsOrders('/d/s', 1)?.message).toMatch(/1 run is missing$/)
  expect(olderThanItsOrders('/d/s', 2)?.message).toMatch(/2 runs are missing$/)
})
