import { expect, test } from 'vitest'

import { mutants } from '../campaign/fleet/planted.ts'
import { applyEdits, plantedBugs } from '../mutants/planted.ts'

test.each([...plantedBugs, ...mutants].map((plant) => [plant.what, plant] as const))(
  'what is planted still has its place: %s',
  (_, plant) => {
    expect(applyEdits(plant).length).toBeGreaterThan(0)
  },
)
