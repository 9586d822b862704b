import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import type { CheckedContent } from '../../../src/store/reports/file.ts'
import type { ReportRecord } from '../../../src/domain/report/record.ts'
import { ReportFolder } from '../../../src/store/reports/folder.ts'
import { ManualClock } from '../../harness/manual-clock.ts'

let root: string
let path: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-reports-'))
  path = join(root, 'reports')
})
afterEach(() => rmSync(root, { recursive: true }))

const csv = (rows: readonly (readonly unknown[])[]): string => rows.map((row) => row.join()).join('\n')
const openFolder = (onlyFile?: string) => ReportFolder.open(path, { clock, random, pid: 1, csv, onlyFile })

const subject = (checkId: string) => ({
  service: 'https://api.example.com',
  request_id: null,
  check_id: checkId,
  referee_id: null,
  first_name: null,
  last_name: null,
  check_name: null,
  request_reports: null,
  request_without: null,
  email: null,
  package_id: null,
})

/** Returns content as a download does. It throws `failure`, if given, after its first two bytes. */
function content(text: string, failure?: Error): CheckedContent {
  const received = { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }
  return {
    received,
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text.slice(0, 2))
      if (failure !== undefined) throw failure
      yield Buffer.from(text.slice(2))
    },
  }
}

const storeFile = (
  folder: ReportFolder,
  file: string,
  text = '%PDF-a%%EOF',
  replace = false,
  failure?: Error,
) => folder.store({ file, replace, subject: subject(file), open: async () => content(text, failure) })

test('a new folder that stays empty is removed; one that existed before is not', async () => {
  await (await openFolder()).close()
  expect(readdirSync(root)).toEqual([])
  mkdirSync(path)
  await (await openFolder()).close()
  expect(readdirSync(path)).toEqual([])
})

test('only the owner has permissions on files and folders', async () => {
  const umaskBefore = process.umask(0)
  try {
    const folder = await openFolder()
    await storeFile(folder, 'a/b.pdf')
    for (const name of ['lock', 'journal'])
      expect(statSync(join(path, '.refcheck', name)).mode & 0o777).toBe(0o600)
    await folder.close()
  } finally {
    process.umask(umaskBefore)
  }
  for (const [name, mode] of [
    ['', 0o700],
    ['a', 0o700],
    ['a/b.pdf', 0o600],
    ['manifest.json', 0o600],
    ['manifest.csv', 0o600],
  ] as const) {
    expect([name, (statSync(join(path, name)).mode & 0o777).toString(8)]).toEqual([name, mode.toString(8)])
  }
})

test('content that breaks off leaves no file, and its error is thrown unchanged', async () => {
  const folder = await openFolder()
  const cutError = new Error('cut')
  await expect(storeFile(folder, 'a/b.pdf', '%PDF-a%%EOF', false, cutError)).rejects.toBe(cutError)
  expect(readdirSync(path)).toEqual(['.refcheck'])
  expect(readdirSync(join(path, '.refcheck')).filter((name) => name.endsWith('.part'))).toEqual([])
  await folder.close()
})

test('content that was not received completely leaves no file', async () => {
  const folder = await openFolder()
  const work = folder.store({
    file: 'a.pdf',
    replace: false,
    subject: subject('a.pdf'),
    open: async () => ({ ...content('%PDF-a%%EOF'), received: undefined }),
  })
  await expect(work).rejects.toMatchObject({ message: 'a report was not read completely' })
  expect(readdirSync(path)).toEqual(['.refcheck'])
  expect(readdirSync(join(path, '.refcheck')).filter((name) => name.endsWith('.part'))).toEqual([])
  await folder.close()
})

test('a file with the same bytes is accepted as the report, and one with other bytes is only replaced with `replace`', async () => {
  mkdirSync(path)
  writeFileSync(join(path, 'a.pdf'), '%PDF-a%%EOF')
  const folder = await openFolder()
  expect(await storeFile(folder, 'a.pdf')).toMatchObject({ outcome: 'identical', record: { file: 'a.pdf' } })
  expect(await storeFile(folder, 'a.pdf', '%PDF-b%%EOF')).toEqual({
    outcome: 'refused',
    why: 'another file is there',
  })
  expect(await storeFile(folder, 'a.pdf', '%PDF-b%%EOF', true)).toMatchObject({ outcome: 'stored' })
  expect(readFileSync(join(path, 'a.pdf'), 'utf8')).toBe('%PDF-b%%EOF')
  await folder.close()
})

test('reports that a killed run stored are recorded, and its temporary files are removed', async () => {
  const first = await openFolder()
  await storeFile(first, 'a.pdf')
  await storeFile(first, 'b.pdf')
  await storeFile(first, 'gone.pdf')
  const hiddenFolder = join(path, '.refcheck')
  const journal = readFileSync(join(hiddenFolder, 'journal'))
  await first.close()
  // The state after a SIGKILL: no manifest yet, an incomplete last line and half a file.
  rmSync(join(path, 'manifest.json'))
  rmSync(join(path, 'gone.pdf'))
  mkdirSync(hiddenFolder, { mode: 0o700 })
  writeFileSync(join(hiddenFolder, 'journal'), Buffer.concat([journal, journal.subarray(0, 40)]))
  writeFileSync(join(hiddenFolder, `${'0'.repeat(16)}.part`), '%PDF-half')
  writeFileSync(join(path, `.manifest.json.${'0'.repeat(16)}.tmp`), '[')
  const second = await openFolder()
  expect(second.records().map((each) => each.file)).toEqual(['a.pdf', 'b.pdf'])
  await second.close()
  expect(readdirSync(path).sort()).toEqual(['a.pdf', 'b.pdf', 'manifest.csv', 'manifest.json'])
})

test('one run at a time uses the folder, and the next one can start when it ends', async () => {
  for (let round = 0; round < 30; round += 1) {
    const results = await Promise.allSettled([openFolder(), openFolder(), openFolder()])
    const opened = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(opened).toHaveLength(1)
    await opened[0]?.close()
  }
  // The folder itself may stay, because a run does not remove a folder that another run has created.
  expect(readdirSync(root).flatMap((name) => readdirSync(join(root, name)))).toEqual([])
})

test('a run with one file does not block runs with other files of its folder', async () => {
  const [folder, file] = [await openFolder(), await openFolder('police.pdf')]
  await storeFile(file, 'police.pdf')
  await Promise.all([folder.close(), file.close()])
  expect(readdirSync(path)).toEqual(['police.pdf'])
})

test('a hidden folder that is a link is not followed', async () => {
  mkdirSync(path)
  mkdirSync(join(root, 'outside'))
  symlinkSync(join(root, 'outside'), join(path, '.refcheck'))
  await expect(openFolder()).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('is not a folder'),
  })
  expect(readdirSync(join(root, 'outside'))).toEqual([])
})

test('a manifest that is a link is neither read nor replaced', async () => {
  mkdirSync(path)
  writeFileSync(join(root, 'victim'), '[]')
  symlinkSync(join(root, 'victim'), join(path, 'manifest.json'))
  await expect(openFolder()).rejects.toMatchObject({ code: 'io' })
  expect(readdirSync(path)).toEqual(['manifest.json'])
})

/** Stores a report with a clock that the test controls. */
async function storeReport(): Promise<{
  folder: ReportFolder
  record: ReportRecord
  file: string
  at: Date
}> {
  const folder = await ReportFolder.open(path, { clock: new ManualClock(), random, pid: 1, csv })
  const outcome = await storeFile(folder, 'a.pdf')
  if (outcome.outcome === 'refused') throw new Error(outcome.why)
  return { folder, record: outcome.record, file: join(path, 'a.pdf'), at: new Date(new ManualClock().now()) }
}

test('a file of the right size that was not written to since counts as whole, unless its content is checked', async () => {
  const { folder, record, file, at } = await storeReport()
  const setModifiedAfter = (ms: number): void => utimesSync(file, at, new Date(at.getTime() + ms))
  writeFileSync(file, '%PDF-b%%EOF')
  setModifiedAfter(2_000)
  expect(await folder.fileStatus(record, false)).toBe('whole')
  expect(await folder.fileStatus(record, true)).toBe('changed')
  // On some disks time stamps have a resolution of only two seconds.
  setModifiedAfter(2_001)
  expect(await folder.fileStatus(record, false)).toBe('changed')
  writeFileSync(file, '%PDF-a%%EOF')
  setModifiedAfter(9_000)
  expect(await folder.fileStatus(record, false)).toBe('whole')
  expect(await folder.fileStatus(record, true)).toBe('whole')
  await folder.close()
})

test('the status of a damaged, a changed and a missing file, and of a folder at its path', async () => {
  const { folder, record, file, at } = await storeReport()
  writeFileSync(file, '%PDF-half')
  utimesSync(file, at, at)
  expect(await folder.fileStatus(record, false)).toBe('damaged')
  writeFileSync(file, '%PDF-another, and longer%%EOF')
  utimesSync(file, at, at)
  expect(await folder.fileStatus(record, false)).toBe('changed')
  rmSync(file)
  expect(await folder.fileStatus(record, false)).toBe('absent')
  mkdirSync(file)
  expect(await folder.fileStatus(record, false)).toBe('changed')
  await folder.close()
})

const readManifest = (): ReportRecord[] =>
  JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as ReportRecord[]

test('the manifest is in the order of the last update, and is written only if something changed', async () => {
  const first = await openFolder()
  for (const file of ['c.pdf', 'a.pdf', 'b.pdf']) await storeFile(first, file)
  first.updateRecords([subject('a.pdf'), subject('b.pdf'), subject('unknown.pdf')])
  expect(first.records().map(({ file }) => file)).toEqual(['c.pdf', 'a.pdf', 'b.pdf'])
  first.updateRecords([subject('b.pdf'), subject('a.pdf')])
  await first.close()
  expect(readManifest().map(({ file }) => file)).toEqual(['c.pdf', 'b.pdf', 'a.pdf'])
  expect(readFileSync(join(path, 'manifest.json'), 'utf8')).toMatch(
    /^\[\n  \{\n    "service": "https:\/\/api.example.com",\n/,
  )

  const inodeBefore = statSync(join(path, 'manifest.json')).ino
  const second = await openFolder()
  expect(second.record(subject('a.pdf'))).toMatchObject({ file: 'a.pdf' })
  expect(second.record(subject('unknown.pdf'))).toBeUndefined()
  second.updateRecords([subject('a.pdf'), subject('c.pdf')])
  await second.close()
  // The records of these reports have not changed, so the manifest is not written again.
  expect(statSync(join(path, 'manifest.json')).ino).toBe(inodeBefore)

  const third = await openFolder()
  third.updateRecords([{ ...subject('a.pdf'), request_reports: 3 }, subject('c.pdf')])
  await third.close()
  expect(readManifest().map(({ file, request_reports }) => [file, request_reports])).toEqual([
    ['b.pdf', null],
    ['a.pdf', 3],
    ['c.pdf', null],
  ])
})

test('discard removes a report, does nothing when it is repeated, and refuses a folder', async () => {
  const folder = await openFolder()
  await storeFile(folder, 'a.pdf')
  await folder.discard('a.pdf')
  await folder.discard('a.pdf')
  mkdirSync(join(path, 'b.pdf'))
  await expect(folder.discard('b.pdf')).rejects.toMatchObject({ code: 'io' })
  expect(readdirSync(path).sort()).toEqual(['.refcheck', 'b.pdf'])
  await folder.close()
})

test('a link at the path of a report is not replaced', async () => {
  const folder = await openFolder()
  symlinkSync(join(root, 'victim'), join(path, 'a.pdf'))
  expect(await storeFile(folder, 'a.pdf')).toEqual({ outcome: 'refused', why: 'it is a symbolic link' })
  await folder.close()
})

test('if the manifest cannot be written, the journal stays for the next run', async () => {
  const first = await openFolder()
  await storeFile(first, 'a.pdf')
  mkdirSync(join(path, 'manifest.json'))
  await expect(first.close()).rejects.toMatchObject({ code: 'io' })
  // The journal stays until the folder at the path of the manifest is removed.
  for (let round = 0; round < 2; round += 1) await expect(openFolder()).rejects.toMatchObject({ code: 'io' })
  expect(readdirSync(join(path, '.refcheck'))).toContain('journal')
  rmSync(join(path, 'manifest.json'), { recursive: true })
  writeFileSync(join(path, `.manifest.csv.${'0'.repeat(16)}.tmp`), '')
  const second = await openFolder()
  await second.close()
  expect(readManifest().map(({ file }) => file)).toEqual(['a.pdf'])
  expect(readdirSync(path).sort()).toEqual(['a.pdf', 'manifest.csv', 'manifest.json'])
})

test('the journal states that a manifest is incomplete, and the next run completes it', async () => {
  const folder = await openFolder()
  await storeFile(folder, 'a.pdf')
  const journal = join(path, '.refcheck', 'journal')
  expect(readFileSync(journal, 'utf8').trim().split('\n')).toHaveLength(1)
  mkdirSync(join(path, 'manifest.csv'))
  await expect(folder.close()).rejects.toMatchObject({ code: 'io' })
  expect(readFileSync(journal, 'utf8').trim().split('\n').at(-1)).toBe('manifest')
  // Now only this line states that manifest.csv is incomplete.
  writeFileSync(journal, 'manifest\n')
  rmSync(join(path, 'manifest.csv'), { recursive: true })
  await (await openFolder()).close()
  expect(readFileSync(join(path, 'manifest.csv'), 'utf8')).toContain('a.pdf')
})

/** Leaves the folder as a SIGKILL after the first report does. */
async function simulateKill(): Promise<void> {
  const { folder } = await storeReport()
  const journal = readFileSync(join(path, '.refcheck', 'journal'))
  await folder.close()
  rmSync(join(path, 'manifest.json'))
  mkdirSync(join(path, '.refcheck'), { mode: 0o700 })
  writeFileSync(join(path, '.refcheck', 'journal'), journal, { mode: 0o600 })
}

test('the report of a killed run is recorded, also if an obstacle has to be removed first', async () => {
  await simulateKill()
  writeFileSync(join(path, 'manifest.json'), 'no list')
  await expect(openFolder()).rejects.toMatchObject({ code: 'io' })
  rmSync(join(path, 'manifest.json'))
  await (await openFolder()).close()
  expect(readManifest().map(({ file }) => file)).toEqual(['a.pdf'])
})

test('the content of a file that a killed run stored is checked', async () => {
  await simulateKill()
  writeFileSync(join(path, 'a.pdf'), '%PDF-b%%EOF')
  const modifiedAt = new Date(new ManualClock().now())
  utimesSync(join(path, 'a.pdf'), modifiedAt, modifiedAt)
  const second = await openFolder()
  expect(second.records()).toEqual([])
  await second.close()
})

test('a run with one file writes no manifest, and shortens the name of its hidden folder', async () => {
  mkdirSync(path)
  writeFileSync(join(path, 'manifest.json'), 'theirs')
  const name = `${'x'.repeat(70)}.pdf`
  const folder = await openFolder(name)
  expect(readdirSync(path).sort()).toEqual([`.${'x'.repeat(60)}.refcheck`, 'manifest.json'])
  await storeFile(folder, name)
  await folder.close()
  expect(readFileSync(join(path, 'manifest.json'), 'utf8')).toBe('theirs')
})

test('if the folder or one above it is a file, IoError is thrown', async () => {
  writeFileSync(path, '')
  await expect(openFolder()).rejects.toMatchObject({
    code: 'io',
    message: `cannot use the folder "${path}": a part of the path is a file, not a folder`,
  })
  path = join(path, 'below')
  await expect(openFolder()).rejects.toMatchObject({
    message: expect.stringContaining('cannot make the folder') as string,
  })
})
