import { expect, test } from 'vitest'

import { isBehind, notReported, type Reporter, type ServerPosition } from '../../../src/domain/store/epoch.ts'

const here: ServerPosition = { system: '7', timeline: '00000001', lsn: '1/FFFFFFF0' }

test.each([
  ['nothing was seen of it', undefined, false],
  ['as it was', here, false],
  ['further', { ...here, lsn: '0/FFFFFFFF' }, false],
  ['behind', { ...here, lsn: '2/0' }, true],
  ['further on another timeline, which says nothing', { ...here, timeline: '00000002', lsn: '9/0' }, false],
])('%s: behind is %s', (_what, seen, expected) => {
  expect(isBehind(here, seen)).toBe(expected)
})

const hour = 3_600_000
const reporter = (changes: Partial<Reporter>): Reporter => ({
  list: 'one',
  machine: 'alpha',
  seenAt: 100 * hour,
  reported: undefined,
  ...changes,
})

test('every machine that ordered within a day of the last one is waited for, each once', () => {
  expect(
    notReported('7 2', [
      reporter({}),
      reporter({ seenAt: 99 * hour }),
      reporter({ list: 'two', machine: 'beta', seenAt: 77 * hour }),
      reporter({ list: 'three', machine: 'gamma', seenAt: 75 * hour }),
      reporter({ list: 'four', machine: 'delta', reported: '7 2' }),
    ]),
  ).toEqual(['alpha', 'beta'])
})

test('one of a list speaks for all who keep it; one who keeps none cannot', () => {
  const reported = '7 2'
  expect(notReported(reported, [reporter({}), reporter({ reported })])).toEqual([])
  expect(
    notReported(reported, [reporter({ list: undefined }), reporter({ reported, list: undefined })]),
  ).toEqual(['alpha'])
})
