import { expect, test } from 'vitest'

import { mutants } from '../campaign/fleet/planted.ts'
import { changedBy, plants } from '../mutants/planted.ts'

test.each([...plants, ...mutants].map((plant) => [plant.what, plant] as const))(
  'what is planted still has its place: %s',
  (_, plant) => {
    expect(changedBy(plant).length).toBeGreaterThan(0)
  },
)
