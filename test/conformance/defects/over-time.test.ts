import { expect, test, vi } from 'vitest'

import { sampleOf } from '../../harness/share.ts'
import { listBrokenCases } from '../lab.ts'
import { examineDefect } from './examine-defect.ts'
import { reportDefects } from './reports.ts'
import { requestDefects } from './requests.ts'
import { throttleDefects } from './throttle.ts'
import { webhookDefects } from './webhook.ts'

// A case makes many calls, and the machine may be busy.
vi.setConfig({ testTimeout: 90_000 })

const defects = [...requestDefects, ...reportDefects, ...throttleDefects, ...webhookDefects]

test.each(sampleOf(defects, 10))('$name: $caughtBy', async (defect) => {
  const report = await examineDefect(defect)
  expect(listBrokenCases(report).map(({ id }) => id)).toContain(defect.caughtBy)
})
