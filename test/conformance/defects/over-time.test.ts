import { expect, test, vi } from 'vitest'

import { shareOf } from '../../harness/share.ts'
import { broken } from '../lab.ts'
import { examined } from './examined.ts'
import { reportDefects } from './reports.ts'
import { requestDefects } from './requests.ts'
import { throttleDefects } from './throttle.ts'
import { webhookDefects } from './webhook.ts'

// The whole suite is asked, on a machine that may be busy.
vi.setConfig({ testTimeout: 90_000 })

const defects = [...requestDefects, ...reportDefects, ...throttleDefects, ...webhookDefects]

test.each(shareOf(defects, 10))('$name: $caughtBy', async (defect) => {
  const report = await examined(defect)
  expect(broken(report).map(({ id }) => id)).toContain(defect.caughtBy)
})
