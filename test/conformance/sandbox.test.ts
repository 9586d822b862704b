import { expect, test } from 'vitest'

import { broken, lab, notJudged, tight } from './lab.ts'

test('the sandbox keeps every rule that can be seen over HTTP', async () => {
  const { run } = await lab()
  const report = await run()
  expect(broken(report)).toEqual([])
  expect(notJudged(report).filter(({ id }) => !id.startsWith('throttle.'))).toEqual([
    { id: 'versioning.transport', reason: 'this machine itself is reached without TLS' },
    { id: 'answers.retry-after', reason: 'no call was throttled' },
  ])
})

test('the sandbox keeps the rules of the quota', async () => {
  const { run } = await lab({ quota: tight })
  const report = await run({ only: ({ id }) => id.startsWith('throttle.') || id === 'answers.retry-after' })
  expect(broken(report)).toEqual([])
  expect(notJudged(report)).toEqual([])
})
