import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { ReportFolder } from '../../../src/store/reports/folder.ts'
import { faultRow } from '../../harness/faults/fault-row.ts'

faultRow('planted', 'written outside')

let root: string
let work: string
let victim: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-planted-'))
  work = join(root, 'reports', '.refcheck')
  victim = join(root, 'bashrc')
  mkdirSync(join(root, 'reports'))
  writeFileSync(victim, 'theirs')
})
afterEach(() => rmSync(root, { recursive: true }))

const open = () =>
  ReportFolder.open(join(root, 'reports'), { clock, random, pid: 1, csv: () => '', alone: undefined })

function ours(): void {
  mkdirSync(work, { mode: 0o700 })
}
const isRoot = process.getuid?.() === 0

test.each<[string, () => void, string]>([
  [
    'a folder that others may write to',
    () => {
      mkdirSync(work)
      chmodSync(work, 0o777)
    },
    'other users of this machine may write to it or read it',
  ],
  [
    'a link to a folder',
    () => {
      mkdirSync(join(root, 'elsewhere'), { mode: 0o700 })
      symlinkSync(join(root, 'elsewhere'), work)
    },
    'it is not a folder',
  ],
  // To give a folder away needs root.
  ...(isRoot
    ? ([
        [
          'a folder of another account',
          () => {
            ours()
            chownSync(work, 65534, 65534)
          },
          'it belongs to another user of this machine',
        ],
      ] as [string, () => void, string][])
    : []),
])('%s under the name of ours is refused, and nothing is written', async (_, plant, why) => {
  plant()
  await expect(open()).rejects.toMatchObject({
    code: 'io',
    message: `cannot work in "${work}": ${why}`,
    hint: 'Move it away, then run the same command again.',
  })
  expect(readFileSync(victim, 'utf8')).toBe('theirs')
})

test.each<[string, (journal: string) => void]>([
  ['a link', (journal) => symlinkSync(victim, journal)],
  ['a second name of a file', (journal) => linkSync(victim, journal)],
  ['a FIFO', (journal) => void execFileSync('mkfifo', [journal])],
])('%s in the place of the journal is never written to, and never waited for', async (_, plant) => {
  ours()
  plant(join(work, 'journal'))
  const received = { bytes: 11, sha256: '0'.repeat(64) }
  const content = {
    received,
    async *[Symbol.asyncIterator]() {
      yield Buffer.from('%PDF-a%%EOF')
    },
  }
  const subject = {
    service: 'https://api.example.com',
    request_id: null,
    check_id: 'c1',
    referee_id: null,
    first_name: null,
    last_name: null,
    check_name: null,
    request_reports: null,
    request_without: null,
  }
  const kept = open().then((folder) =>
    folder.keep({ file: 'a.pdf', replace: false, subject, open: async () => content }),
  )
  await expect(kept).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('journal') as string,
  })
  expect(readFileSync(victim, 'utf8')).toBe('theirs')
})
