import { expect, test } from 'vitest'

import { suite } from '../../../src/conformance/suite.ts'
import { switches } from '../second/every.ts'
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
 * The one that needs TLS has its own test (transport.test.ts), and so have those that need a clock of their own or give
 * advice alone (second-real-time.test.ts, second-clean.test.ts).
 */
const elsewhere = new Set([
  'versioning.transport',
  'requests.created-at',
  'schema.recipient-required',
  'create.unknown-fields',
  'webhook.again-after-refusal',
  'webhook.again-after-silence',
])

test('for every case there is a defect that it catches', () => {
  const catching = new Set([...defects.map(({ caughtBy }) => caughtBy), ...switches.map(({ by }) => by)])
  expect(suite.map(({ id }) => id).filter((id) => !catching.has(id) && !elsewhere.has(id))).toEqual([])
})

test('every defect has a name of its own', () => {
  expect(new Set(defects.map(({ name }) => name)).size).toBe(defects.length)
})
