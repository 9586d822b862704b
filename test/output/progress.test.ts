import { expect, test } from 'vitest'

import type { Batch } from '../../src/domain/batch/batch.ts'
import { progressOf } from '../../src/domain/batch/run-policy.ts'
import type { Attention } from '../../src/domain/overview/attention.ts'
import { Reporter } from '../../src/output/reporter.ts'
import { BatchWatch, ReportProgress, WaitMeter } from '../../src/output/views/progress.ts'
import { countsOf } from '../domain/batch/rows.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { captureStreams } from '../harness/streams.ts'

/** What is shown on stderr: the lines that are there now, or every line that came. */
function shown(isLive: boolean) {
  const lines: string[] = []
  const replace = (now: readonly string[]): void => void lines.splice(0, lines.length, ...now)
  return {
    terminal: { columns: isLive ? 80 : undefined, color: false },
    isLive,
    live: replace,
    status: (text: string) => replace([text]),
    note: (text: string) => void lines.push(text),
    text: () => lines.join('\n'),
  }
}

const unknown: Attention = {
  kind: 'unknown',
  batch_id: 'b1',
  batch: 'people.csv',
  row: 3,
  request_id: null,
  first_name: 'Zoë',
  last_name: 'Low',
  email: 'zoe@example.com',
  reason: 'the connection was lost',
  since: '2026-11-20T12:00:00.000Z',
  command: 'refcheck batch reconcile b1',
}

const watched = (
  counts: Parameters<typeof countsOf>[0],
  { attention = [] as Attention[], secondsToNext = 0 } = {},
) => ({
  batch: { counts: countsOf(counts) } as Batch,
  progress: progressOf(countsOf(counts), 51),
  statuses: { RECEIVED: 40, COMPLETED: 8 },
  attention,
  secondsToNext,
})

test('a batch that is watched on a terminal: rows, statuses, the wait of the quota, and who needs a person', () => {
  const screen = shown(true)
  const { show } = new BatchWatch(screen, new ManualClock())
  show(
    watched(
      { accepted: 48, unknown: 1, invalid: 2, pending: 29 },
      { attention: [unknown], secondsToNext: 34 },
    ),
  )
  expect(screen.text()).toMatchInlineSnapshot(`
    "[############--------]  49 of 78, 1 unknown; 51 s left
    rows      48 accepted, 29 pending, 1 unknown, 2 invalid
    requests  8 COMPLETED, 40 RECEIVED
    quota     used up; next order in 34 s

    Needs a person
      1 perhaps ordered  people.csv: Zoë Low: the connection was lost
        refcheck batch reconcile b1"
  `)
  show(watched({ accepted: 48, unknown: 1, invalid: 2, pending: 29 }, { secondsToNext: 1 }))
  expect(screen.text()).not.toContain('quota')
})

test('off a terminal a line comes where something changed, at most every 15 seconds, and at once what needs a person', async () => {
  const screen = shown(false)
  const clock = new ManualClock()
  const { show } = new BatchWatch(screen, clock)
  const watch = async (of: Parameters<typeof watched>[0], attention: Attention[] = []): Promise<void> => {
    show(watched(of, { attention }))
    await clock.advance(10_000)
  }
  await watch({ accepted: 10, pending: 4 })
  await watch({ accepted: 11, pending: 3 })
  await watch({ accepted: 11, unknown: 1, pending: 2 }, [unknown])
  await watch({ accepted: 11, unknown: 1, pending: 2 }, [unknown])
  await watch({ accepted: 11, unknown: 1, pending: 2 }, [unknown])
  expect(screen.text()).toMatchInlineSnapshot(`
    "[##############------]  10 of 14; 51 s left  (10 accepted, 4 pending; 8 COMPLETED, 40 RECEIVED)
    1 perhaps ordered. See: refcheck batch reconcile b1
    [#################---]  12 of 14, 1 unknown; 51 s left  (11 accepted, 2 pending, 1 unknown; 8 COMPLETED, 40 RECEIVED)"
  `)
})

test('everything long has one line: how much, in words, and the time that is left', async () => {
  const clock = new ManualClock()
  const wait = shown(true)
  const recipient = { first_name: 'Mei', last_name: 'Ito', email: 'mei@example.com', phone: '' }
  const meter = new WaitMeter(wait, 3)
  meter.onStatus({ request_id: '3f2b8c1e-5d4a', status: 'COMPLETED', recipient })
  meter.onSleep(56)
  expect(wait.text()).toMatchInlineSnapshot(`
    "[######--------------]  1 of 3 finished; next read in 56 s
    1 COMPLETED, 2 not read yet
    3f2b8c1e  Mei Ito  COMPLETED"
  `)

  const reports = shown(true)
  // The quota lets the last of ten requests be read in a minute.
  const progress = new ReportProgress(reports, clock, () => Promise.resolve(60))
  progress.record({ name: 'wanted', requests: 10 })
  await Promise.resolve()
  await clock.advance(1000)
  progress.record({ name: 'planned', files: 2 })
  for (const skipped of [true, false]) progress.record({ name: 'filed', skipped })
  progress.record({ name: 'looked' })
  await clock.advance(1000)
  progress.record({ name: 'received', bytes: 2_000_000 })
  expect(reports.text()).toMatchInlineSnapshot(
    `"[##------------------]  2 of about 20 files, 2.0 MB; 58 s left"`,
  )
})

test('reports: nothing is said of the time before there is a pace, and what was there already is none', async () => {
  const clock = new ManualClock()
  const screen = shown(true)
  const progress = new ReportProgress(screen, clock)
  progress.record({ name: 'planned', files: 3 })
  await clock.advance(1000)
  progress.record({ name: 'filed', skipped: true })
  expect(screen.text()).toMatchInlineSnapshot(`"[######--------------]  1 of 3 files, 0 B"`)
  await clock.advance(1000)
  progress.record({ name: 'filed', skipped: false })
  expect(screen.text()).toMatchInlineSnapshot(`"[#############-------]  2 of 3 files, 0 B; 2 s left"`)
})

test('lines that change fit the screen: none wraps, however wide its characters are, and none scrolls off', () => {
  const streams = captureStreams({ tty: true, columns: 20 })
  const stderr = { ...streams.stderr, rows: 4 }
  const reporter = new Reporter(stderr, { columns: 20, color: false }, false)
  reporter.live(['伊藤さん伊藤さん伊藤さん伊藤さん', 'two', 'three', 'four', 'five'])
  expect(streams.err().toString().replaceAll('\u001B', 'ESC')).toMatchInlineSnapshot(`
    "
    ESC[2K伊藤さん伊藤さん伊
    two
    three"
  `)
})
