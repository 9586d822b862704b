import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { reportKey } from '../../../src/domain/report/record.ts'
import { ReportFolder } from '../../../src/store/reports/folder.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file are the row `planted` of the fault table (test/resilience/rows.ts).
recordForFaultTable('planted', { mustNotHappen: 'written outside' })

let root: string
let hiddenFolder: string
let victimFile: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-planted-'))
  hiddenFolder = join(root, 'reports', '.refcheck')
  victimFile = join(root, 'bashrc')
  mkdirSync(join(root, 'reports'))
  writeFileSync(victimFile, 'theirs')
})
afterEach(() => rmSync(root, { recursive: true }))

const openFolder = () =>
  ReportFolder.open(join(root, 'reports'), { clock, random, pid: 1, csv: () => '', onlyFile: undefined })

function createHiddenFolder(): void {
  mkdirSync(hiddenFolder, { mode: 0o700 })
}
const isRoot = process.getuid?.() === 0

test.each<[string, () => void, string]>([
  [
    'a folder that others may write to',
    () => {
      mkdirSync(hiddenFolder)
      chmodSync(hiddenFolder, 0o777)
    },
    'other users of this machine may write to it or read it',
  ],
  [
    'a link to a folder',
    () => {
      mkdirSync(join(root, 'elsewhere'), { mode: 0o700 })
      symlinkSync(join(root, 'elsewhere'), hiddenFolder)
    },
    'it is not a folder',
  ],
  // Only root can change the owner of a folder.
  ...(isRoot
    ? ([
        [
          'a folder of another account',
          () => {
            createHiddenFolder()
            chownSync(hiddenFolder, 65534, 65534)
          },
          'it belongs to another user of this machine',
        ],
      ] as [string, () => void, string][])
    : []),
])('%s at the path of the hidden folder is refused, and nothing is written', async (_, plant, why) => {
  plant()
  await expect(openFolder()).rejects.toMatchObject({
    code: 'io',
    message: `cannot work in "${hiddenFolder}": ${why}`,
    hint: 'Move it away, then run the same command again.',
  })
  expect(readFileSync(victimFile, 'utf8')).toBe('theirs')
})

const anySubject = {
  service: 'https://api.example.com',
  request_id: null,
  check_id: 'c1',
  referee_id: null,
  first_name: null,
  last_name: null,
  check_name: null,
  request_reports: null,
  request_without: null,
  email: null,
  package_id: null,
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Writes a manifest with one report, which may name any file below the folder. */
function plantManifest(file: string, text: string): void {
  const record = {
    ...anySubject,
    file,
    bytes: text.length,
    sha256: digest(text),
    stored_at: new Date(Date.now() + 60_000).toISOString(),
  }
  writeFileSync(join(root, 'reports', 'manifest.json'), JSON.stringify([record]), { mode: 0o600 })
}

const pdf = '%PDF-a%%EOF'

function content(text = pdf) {
  return {
    received: { bytes: text.length, sha256: digest(text) },
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text)
    },
  }
}

test.each<[string, (journal: string) => void]>([
  ['a link', (journal) => symlinkSync(victimFile, journal)],
  ['a second name of a file', (journal) => linkSync(victimFile, journal)],
  ['a FIFO', (journal) => void execFileSync('mkfifo', [journal])],
])('%s at the path of the journal is not written to, and does not block the run', async (_, plant) => {
  createHiddenFolder()
  plant(join(hiddenFolder, 'journal'))
  const stored = openFolder().then((folder) =>
    folder.store({ file: 'a.pdf', replace: false, subject: anySubject, open: async () => content() }),
  )
  await expect(stored).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('journal') as string,
  })
  expect(readFileSync(victimFile, 'utf8')).toBe('theirs')
})

test('a journal that another account made while the folder was in use gets no line', async () => {
  const folder = await openFolder()
  const journal = join(hiddenFolder, 'journal')
  writeFileSync(journal, '')
  chmodSync(journal, 0o666)
  await expect(
    folder.store({ file: 'a.pdf', replace: false, subject: anySubject, open: async () => content() }),
  ).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('may write to it (0666)') as string,
  })
  expect(readFileSync(journal, 'utf8')).toBe('')
  rmSync(journal)
  await folder.close()
})

test('if a subfolder was replaced by a link, no file in its target is deleted or accepted as a report', async () => {
  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'a.pdf'), pdf)
  chmodSync(join(root, 'reports'), 0o777)
  symlinkSync(elsewhere, join(root, 'reports', 'sub'))
  plantManifest('sub/a.pdf', pdf)
  const folder = await openFolder()
  const [record] = folder.records()
  if (record === undefined) throw new Error('the manifest has no record')
  expect(await folder.fileStatus(record, false)).toBe('changed')
  await expect(folder.discard(record.file)).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('its folder "sub" is a symbolic link') as string,
  })
  await folder.erase([reportKey(record)])
  await folder.close()
  expect(readFileSync(join(elsewhere, 'a.pdf'), 'utf8')).toBe(pdf)
})

test('in a folder that others may write to, nothing is stored in a subfolder or deleted in one', async () => {
  const reports = join(root, 'reports')
  mkdirSync(join(reports, 'sub'), { mode: 0o700 })
  writeFileSync(join(reports, 'sub', 'a.pdf'), pdf)
  plantManifest('sub/a.pdf', pdf)
  chmodSync(reports, 0o777)
  const folder = await openFolder()
  const [record] = folder.records()
  if (record === undefined) throw new Error('the manifest has no record')
  const refusal = {
    code: 'io',
    message: expect.stringContaining(
      'every user of this machine may put a link in place of its folder "sub"',
    ) as string,
    hint: `Make the folder private with: chmod go-w ${reports}`,
  }
  const stored = folder.store({
    file: 'sub/b.pdf',
    replace: true,
    subject: anySubject,
    open: () => Promise.reject(new Error('it was downloaded')),
  })
  await expect(stored).rejects.toMatchObject(refusal)
  await expect(folder.discard(record.file)).rejects.toMatchObject(refusal)
  await folder.erase([reportKey(record)])
  await folder.close()
  expect(readdirSync(join(reports, 'sub'))).toEqual(['a.pdf'])
})

test('in a folder that others may write to, two exchanged reports of the same size are detected', async () => {
  const reports = join(root, 'reports')
  plantManifest('a.pdf', pdf)
  writeFileSync(join(reports, 'a.pdf'), pdf.replace('a', 'b'))
  chmodSync(reports, 0o777)
  const folder = await openFolder()
  const [record] = folder.records()
  if (record === undefined) throw new Error('the manifest has no record')
  expect(await folder.fileStatus(record, false)).toBe('changed')
  await folder.close()
})

// Only root can give a file to another account.
test.each(isRoot ? [65_534] : [])(
  'a manifest of account %i is refused, and nothing is changed',
  async (uid) => {
    plantManifest('a.pdf', pdf)
    chownSync(join(root, 'reports', 'manifest.json'), uid, uid)
    writeFileSync(join(root, 'reports', 'a.pdf'), pdf)
    await expect(openFolder()).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('manifest.json": it belongs to another user') as string,
    })
    expect(readFileSync(join(root, 'reports', 'a.pdf'), 'utf8')).toBe(pdf)
  },
)
