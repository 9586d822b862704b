import { expect, test } from 'vitest'

import { faults } from '../resilience/rows.ts'
import { recordingFiles } from '../resilience/recording.ts'

const recording = recordingFiles()

test.each(Object.keys(faults))('the fault "%s" has a test that records its figure', (id) => {
  expect(recording.filter(({ rows }) => rows.includes(id))).not.toEqual([])
})
