import { expect, test } from 'vitest'

import { listBrokenCases } from '../lab.ts'
import { answerDefects } from './answers.ts'
import { createDefects } from './creates.ts'
import { examineDefect } from './examine-defect.ts'
import { readDefects } from './reads.ts'

const defects = [...answerDefects, ...readDefects, ...createDefects]

test.each(defects)('$name: $caughtBy', async (defect) => {
  const report = await examineDefect(defect)
  expect(listBrokenCases(report).map(({ id }) => id)).toContain(defect.caughtBy)
})
