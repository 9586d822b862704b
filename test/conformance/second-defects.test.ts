import { expect, test, vi } from 'vitest'

import { sampleOf } from '../harness/share.ts'
import { broken } from './lab.ts'
import { second, tightWindows } from './second-lab.ts'
import { switches } from './second/every.ts'

// The whole suite is asked, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

test('there are more than a hundred, each with its name', () => {
  const names = switches.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(100)
})

test.each(sampleOf(switches, 30))('$name: $by', async ({ by, also, knobs, tight }) => {
  const { run } = await second({ knobs, ...(tight === true && { windows: tightWindows }) })
  const report = await run({ only: ({ id }) => id === by || id === also })
  expect(broken(report).map(({ id }) => id)).toContain(by)
})
