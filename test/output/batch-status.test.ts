import { expect, test } from 'vitest'

import { followedBatchView } from '../../src/output/views/batches.ts'

const plain = { isTTY: false, color: false, columns: undefined }

function checksShown(byType: Record<string, Record<string, number>>, requests = 2): string[] {
  const progress = { statuses: { PARTIAL: 2 }, checks: { requests, by_type: byType }, attention: [] }
  const view = followedBatchView({ json: {}, text: () => 'batch' }, progress)
  return view.text(plain).split('\n').slice(3)
}

test('checks are counted in words, what is best first, and by type where there are several', () => {
  expect(checksShown({})).toEqual([])
  expect(checksShown({ background: { ERROR: 2, RECEIVED: 1, COMPLETED: 310, CANCELLED: 3 } })).toEqual([
    'checks    310 completed, 1 not started, 2 need attention, 3 cancelled',
  ])
  expect(checksShown({ background: { ERROR: 1 }, reference: { IN_PROGRESS: 1, SHINY: 4 } }, 1)).toEqual([
    'checks    1 in progress, 1 needs attention, 4 SHINY (1 of 2 requests read)',
    '  background: 1 needs attention',
    '  reference: 1 in progress, 4 SHINY',
  ])
})
