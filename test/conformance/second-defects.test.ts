import { expect, test, vi } from 'vitest'

import { sampleOf } from '../harness/share.ts'
import { isQuotaCase, listBrokenCases, selectCases } from './lab.ts'
import { createSecondLab, smallWindows } from './second-lab.ts'
import { secondDefects } from './second/every.ts'

// The second service (second/service.ts) is written from the API document alone, without the code of the sandbox. Each
// defect is a deliberate deviation of it, which the case `caughtBy` of the conformance suite has to find.

// The tests run the whole suite, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

test('there are more than a hundred defects, each with its own name', () => {
  const names = secondDefects.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(100)
})

test.each(sampleOf(secondDefects, 30))('$name: $caughtBy', async (defect) => {
  const { caughtBy, behaviour } = defect
  const windows = isQuotaCase({ id: caughtBy }) ? smallWindows : undefined
  const { run } = await createSecondLab({ behaviour, windows })
  const report = await run({ isSelected: selectCases(defect) })
  expect(listBrokenCases(report).map(({ id }) => id)).toContain(caughtBy)
})
