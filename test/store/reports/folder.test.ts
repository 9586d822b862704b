import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import type { CheckedContent } from '../../../src/store/reports/file.ts'
import { ReportFolder } from '../../../src/store/reports/folder.ts'

let root: string
let path: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-reports-'))
  path = join(root, 'reports')
})
afterEach(() => rmSync(root, { recursive: true }))

const csv = (rows: readonly (readonly unknown[])[]): string => rows.map((row) => row.join()).join('\n')
const open = (alone?: string) => ReportFolder.open(path, { clock, random, pid: 1, csv, alone })

const subject = (checkId: string) => ({
  request_id: null,
  check_id: checkId,
  referee_id: null,
  first_name: null,
  last_name: null,
  check_name: null,
  request_reports: null,
  request_without: null,
})

/** Bytes as a download brings them; `fails` breaks off in their middle. */
function content(text: string, fails?: Error): CheckedContent {
  const received = { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') }
  return {
    received,
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text.slice(0, 2))
      if (fails !== undefined) throw fails
      yield Buffer.from(text.slice(2))
    },
  }
}

const keep = (folder: ReportFolder, file: string, text = '%PDF-a%%EOF', replace = false, fails?: Error) =>
  folder.keep({ file, replace, subject: subject(file), open: async () => content(text, fails) })

test('a folder that nothing came into is not left behind; one that was there is', async () => {
  await (await open()).close()
  expect(readdirSync(root)).toEqual([])
  mkdirSync(path)
  await (await open()).close()
  expect(readdirSync(path)).toEqual([])
})

test('files and folders are for their owner alone', async () => {
  const before = process.umask(0)
  try {
    const folder = await open()
    await keep(folder, 'a/b.pdf')
    await folder.close()
  } finally {
    process.umask(before)
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

test('content that breaks off leaves nothing, and its own error passes through', async () => {
  const folder = await open()
  const cut = new Error('cut')
  await expect(keep(folder, 'a/b.pdf', '%PDF-a%%EOF', false, cut)).rejects.toBe(cut)
  expect(readdirSync(path)).toEqual(['.refcheck'])
  expect(readdirSync(join(path, '.refcheck')).filter((name) => name.endsWith('.part'))).toEqual([])
  await folder.close()
})

test('the same bytes under the name are taken for the report; others are in the way', async () => {
  mkdirSync(path)
  writeFileSync(join(path, 'a.pdf'), '%PDF-a%%EOF')
  const folder = await open()
  expect(await keep(folder, 'a.pdf')).toMatchObject({ outcome: 'there', record: { file: 'a.pdf' } })
  expect(await keep(folder, 'a.pdf', '%PDF-b%%EOF')).toEqual({
    outcome: 'refused',
    why: 'another file is there',
  })
  expect(await keep(folder, 'a.pdf', '%PDF-b%%EOF', true)).toMatchObject({ outcome: 'stored' })
  expect(readFileSync(join(path, 'a.pdf'), 'utf8')).toBe('%PDF-b%%EOF')
  await folder.close()
})

test('what a killed run put in place is on record after all, and its temporary files are gone', async () => {
  const first = await open()
  await keep(first, 'a.pdf')
  await keep(first, 'b.pdf')
  await keep(first, 'gone.pdf')
  const hidden = join(path, '.refcheck')
  const journal = readFileSync(join(hidden, 'journal'))
  await first.close()
  // As a SIGKILL leaves it: no manifest yet, a torn last line, half a file.
  rmSync(join(path, 'manifest.json'))
  rmSync(join(path, 'gone.pdf'))
  mkdirSync(hidden, { mode: 0o700 })
  writeFileSync(join(hidden, 'journal'), Buffer.concat([journal, journal.subarray(0, 40)]))
  writeFileSync(join(hidden, `${'0'.repeat(16)}.part`), '%PDF-half')
  writeFileSync(join(path, `.manifest.json.${'0'.repeat(16)}.tmp`), '[')
  const second = await open()
  expect(second.records().map((each) => each.file)).toEqual(['a.pdf', 'b.pdf'])
  await second.close()
  expect(readdirSync(path).sort()).toEqual(['a.pdf', 'b.pdf', 'manifest.csv', 'manifest.json'])
})

test('one at a time, and the next one at once when it is over', async () => {
  for (let round = 0; round < 30; round += 1) {
    const tries = await Promise.allSettled([open(), open(), open()])
    const opened = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(opened).toHaveLength(1)
    await opened[0]?.close()
  }
  // The folder itself may stay: one that another try made is not the winner's to remove.
  expect(readdirSync(root).flatMap((name) => readdirSync(join(root, name)))).toEqual([])
})

test('one file alone does not keep others of its folder waiting', async () => {
  const [folder, file] = [await open(), await open('police.pdf')]
  await keep(file, 'police.pdf')
  await Promise.all([folder.close(), file.close()])
  expect(readdirSync(path)).toEqual(['police.pdf'])
})

test('a link in the place of the hidden folder is not followed', async () => {
  mkdirSync(path)
  mkdirSync(join(root, 'outside'))
  symlinkSync(join(root, 'outside'), join(path, '.refcheck'))
  await expect(open()).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('is not a folder'),
  })
  expect(readdirSync(join(root, 'outside'))).toEqual([])
})

test('a link in the place of the manifest is neither read nor replaced', async () => {
  mkdirSync(path)
  writeFileSync(join(root, 'victim'), '[]')
  symlinkSync(join(root, 'victim'), join(path, 'manifest.json'))
  await expect(open()).rejects.toMatchObject({ code: 'io' })
  expect(readdirSync(path)).toEqual(['manifest.json'])
})
