import { expect, test } from 'vitest'

import type { Batch } from '../../src/domain/batch/batch.ts'
import { progressOf } from '../../src/domain/batch/run-policy.ts'
import type { Attention } from '../../src/domain/overview/attention.ts'
import { Reporter } from '../../src/output/reporter.ts'
import { BatchWatch, ReportProgress, WaitMeter } from '../../src/output/views/progress.ts'
import { countsOf } from '../domain/batch/rows.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { captureStreams } from '../harness/streams.ts'

/** Returns a display that records its lines: the current ones if it is live, otherwise all. */
function createScreen(isLive: boolean) {
  const lines: string[] = []
  const replace = (newLines: readonly string[]): void => void lines.splice(0, lines.length, ...newLines)
  return {
    terminal: { columns: isLive ? 80 : undefined, color: false },
    isLive,
    live: replace,
    status: (text: string) => replace([text]),
    note: (text: string) => void lines.push(text),
    text: () => lines.join('\n'),
  }
}

const unknownOutcome: Attention = {
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

const createWatchedBatch = (
  counts: Parameters<typeof countsOf>[0],
  { attention = [] as Attention[], secondsToNext = 0 } = {},
) => ({
  batch: { counts: countsOf(counts) } as Batch,
  progress: progressOf(countsOf(counts), 51),
  statuses: { RECEIVED: 40, COMPLETED: 8 },
  attention,
  secondsToNext,
})

test('on a terminal a watched batch shows its rows, its statuses, the wait for the quota, and each row that needs a person', () => {
  const screen = createScreen(true)
  const { show } = new BatchWatch(screen, new ManualClock())
  show(
    createWatchedBatch(
      { accepted: 48, unknown: 1, invalid: 2, pending: 29 },
      { attention: [unknownOutcome], secondsToNext: 34 },
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
  show(createWatchedBatch({ accepted: 48, unknown: 1, invalid: 2, pending: 29 }, { secondsToNext: 1 }))
  expect(screen.text()).not.toContain('quota')
})

test('without a terminal a changed batch is printed at most every 15 seconds, and a row that needs a person at once', async () => {
  const screen = createScreen(false)
  const clock = new ManualClock()
  const { show } = new BatchWatch(screen, clock)
  const showAndWait = async (
    counts: Parameters<typeof createWatchedBatch>[0],
    attention: Attention[] = [],
  ): Promise<void> => {
    show(createWatchedBatch(counts, { attention }))
    await clock.advance(10_000)
  }
  await showAndWait({ accepted: 10, pending: 4 })
  await showAndWait({ accepted: 11, pending: 3 })
  await showAndWait({ accepted: 11, unknown: 1, pending: 2 }, [unknownOutcome])
  await showAndWait({ accepted: 11, unknown: 1, pending: 2 }, [unknownOutcome])
  await showAndWait({ accepted: 11, unknown: 1, pending: 2 }, [unknownOutcome])
  expect(screen.text()).toMatchInlineSnapshot(`
    "[##############------]  10 of 14; 51 s left  (10 accepted, 4 pending; 8 COMPLETED, 40 RECEIVED)
    1 perhaps ordered. See: refcheck batch reconcile b1
    [#################---]  12 of 14, 1 unknown; 51 s left  (11 accepted, 2 pending, 1 unknown; 8 COMPLETED, 40 RECEIVED)"
  `)
})

test('a long operation shows one line with what is done, and the remaining time', async () => {
  const clock = new ManualClock()
  const waitScreen = createScreen(true)
  const recipient = { first_name: 'Mei', last_name: 'Ito', email: 'mei@example.com', phone: '' }
  const meter = new WaitMeter(waitScreen, 3)
  meter.onStatus({ request_id: '3f2b8c1e-5d4a', status: 'COMPLETED', recipient })
  meter.onSleep(56)
  expect(waitScreen.text()).toMatchInlineSnapshot(`
    "[######--------------]  1 of 3 finished; next read in 56 s
    1 COMPLETED, 2 not read yet
    3f2b8c1e  Mei Ito  COMPLETED"
  `)

  const reportScreen = createScreen(true)
  // The quota allows the last of ten requests to be read in a minute.
  const progress = new ReportProgress(reportScreen, clock, () => Promise.resolve(60))
  progress.record({ name: 'requestsFound', requests: 10 })
  await Promise.resolve()
  await clock.advance(1000)
  progress.record({ name: 'filesFound', files: 2 })
  for (const skipped of [true, false]) progress.record({ name: 'fileFinished', skipped })
  progress.record({ name: 'requestRead' })
  await clock.advance(1000)
  progress.record({ name: 'received', bytes: 2_000_000 })
  expect(reportScreen.text()).toMatchInlineSnapshot(
    `"[##------------------]  2 of about 20 files, 2.0 MB; 58 s left"`,
  )
})

test('the download of reports shows a remaining time after the first file that is not skipped', async () => {
  const clock = new ManualClock()
  const screen = createScreen(true)
  const progress = new ReportProgress(screen, clock)
  progress.record({ name: 'filesFound', files: 3 })
  await clock.advance(1000)
  progress.record({ name: 'fileFinished', skipped: true })
  expect(screen.text()).toMatchInlineSnapshot(`"[######--------------]  1 of 3 files, 0 B"`)
  await clock.advance(1000)
  progress.record({ name: 'fileFinished', skipped: false })
  expect(screen.text()).toMatchInlineSnapshot(`"[#############-------]  2 of 3 files, 0 B; 2 s left"`)
})

test('live lines are cut to the width and the height of the screen, also with wide characters', () => {
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
