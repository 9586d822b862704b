import { expect, test } from 'vitest'

import { suite } from '../../../src/conformance/suite.ts'
import { secondDefects } from '../second/every.ts'
import { answerDefects } from './answers.ts'
import { createDefects } from './creates.ts'
import { readDefects } from './reads.ts'
import { reportDefects } from './reports.ts'
import { requestDefects } from './requests.ts'
import { throttleDefects } from './throttle.ts'
import { webhookDefects } from './webhook.ts'

const defects = [
  ...answerDefects,
  ...readDefects,
  ...createDefects,
  ...requestDefects,
  ...reportDefects,
  ...throttleDefects,
  ...webhookDefects,
]

/**
 * Cases that other files test: transport.test.ts the case that needs TLS, second-real-time.test.ts those that need a
 * moving clock, second-clean.test.ts those that only give advice.
 */
const casesOfOtherFiles = new Set([
  'versioning.transport',
  'requests.created-at',
  'schema.recipient-required',
  'create.unknown-fields',
  'webhook.again-after-refusal',
  'webhook.again-after-silence',
])

test('for every case there is a defect that it catches', () => {
  const catchingIds = new Set([
    ...defects.map(({ caughtBy }) => caughtBy),
    ...secondDefects.map(({ caughtBy }) => caughtBy),
  ])
  expect(
    suite.map(({ id }) => id).filter((id) => !catchingIds.has(id) && !casesOfOtherFiles.has(id)),
  ).toEqual([])
})

test('no two defects have the same name', () => {
  expect(new Set(defects.map(({ name }) => name)).size).toBe(defects.length)
})
