import { expect, test } from 'vitest'

import { mutants } from '../campaign/fleet/planted.ts'
import { applyEdits, plantedBugs } from '../mutants/planted.ts'

test.each([...plantedBugs, ...mutants].map((bug) => [bug.title, bug] as const))(
  'the sources still have the text that the planted bug replaces: %s',
  (_, bug) => {
    expect(applyEdits(bug).length).toBeGreaterThan(0)
  },
)
