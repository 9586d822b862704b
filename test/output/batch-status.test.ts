import { expect, test } from 'vitest'

import { followedBatchView } from '../../src/output/views/progress.ts'

const plainTerminal = { isTTY: false, color: false, columns: undefined }

function renderChecks(byType: Record<string, Record<string, number>>, requests = 2): string[] {
  const progress = {
    statuses: { PARTIAL: 2 },
    checks: { requests, by_type: byType },
    attention: [],
    otherOrders: 0,
  }
  const view = followedBatchView({ json: {}, text: () => 'batch' }, progress)
  return view.text(plainTerminal).split('\n').slice(3)
}

test('checks are counted by status, the best status first, and by type if there are several types', () => {
  expect(renderChecks({})).toEqual([])
  expect(renderChecks({ background: { ERROR: 2, RECEIVED: 1, COMPLETED: 310, CANCELLED: 3 } })).toEqual([
    'checks    310 completed, 1 not started, 2 need attention, 3 cancelled',
  ])
  expect(renderChecks({ background: { ERROR: 1 }, reference: { IN_PROGRESS: 1, SHINY: 4 } }, 1)).toEqual([
    'checks    1 in progress, 1 needs attention, 4 SHINY (1 of 2 requests read)',
    '  background: 1 needs attention',
    '  reference: 1 in progress, 4 SHINY',
  ])
})
