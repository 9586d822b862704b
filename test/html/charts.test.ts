import { expect, test } from 'vitest'

import { percent, quotaBar, statusChart, timeline } from '../../src/html/charts.ts'

test('a share above 0 is never shown as 0 %, and a share below the whole never as 100 %', () => {
  expect([percent(0, 10), percent(1, 1000), percent(999, 1000), percent(1000, 1000), percent(0, 0)]).toEqual([
    '0 %',
    '1 %',
    '99 %',
    '100 %',
    '0 %',
  ])
})

test('a chart has a label with its names and values, which are escaped', async () => {
  const chart = String(
    await statusChart([
      ['COMPLETED', 3],
      ['PARTIAL', 0],
      ['<NEW>', 1],
    ]),
  )
  expect(chart).toContain('aria-label="Statuses: 3 COMPLETED, 1 &lt;NEW&gt;"')
  expect(chart).not.toContain('PARTIAL')
  expect(String(await statusChart([]))).toContain('aria-label="Statuses: none"')
  const buckets = [{ label: '11-20', orderCount: 2, completionCount: 1 }]
  expect(String(await timeline(buckets, 'day'))).toContain(
    '2 orders and 1 completions by day, 11-20 to 11-20',
  )
})

test('the bar of an exhausted quota window shows this by its class and its numbers', async () => {
  const bar = String(
    await quotaBar({ name: '60 in 60 s', used: 60, calls: 60, suffix: ', free again in 9 s' }),
  )
  expect(bar).toContain('class="bad"')
  expect(bar).toContain('60 used, 0 left, free again in 9 s')
})
