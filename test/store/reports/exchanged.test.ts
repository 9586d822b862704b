import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import { reportKey } from '../../../src/domain/report/record.ts'
import { ReportFolder } from '../../../src/store/reports/folder.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('planted', 'written outside')

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'

let root: string
let shared: string
let reports: string
/** A folder of ours elsewhere, with files that have the names of reports. */
let outside: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-exchanged-'))
  shared = join(root, 'shared')
  reports = join(shared, 'reports')
  outside = join(root, 'outside')
  for (const folder of [shared, reports, outside]) mkdirSync(folder, { mode: 0o755 })
  writeFileSync(join(outside, 'a.pdf'), 'precious')
})
afterEach(() => rmSync(root, { recursive: true }))

const open = (descriptors?: string) =>
  ReportFolder.open(reports, { clock, random, pid: 1, csv: () => 'table', onlyFile: undefined, descriptors })

const pdf = '%PDF-a%%EOF'

function content() {
  return {
    received: { bytes: pdf.length, sha256: createHash('sha256').update(pdf).digest('hex') },
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(pdf)
    },
  }
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
  email: null,
  package_id: null,
}

function keep(folder: ReportFolder, file: string, replace = false, meanwhile?: () => void) {
  return folder.store({
    file,
    replace,
    subject,
    async open() {
      meanwhile?.()
      return content()
    },
  })
}

const refusedDownload = (folder: ReportFolder, file: string) =>
  keep(folder, file, true, () => {
    throw new Error('it was downloaded')
  })

/** What another account may do that can write to the folder above. */
function exchangeForLink(): void {
  renameSync(reports, join(shared, 'moved'))
  symlinkSync(outside, reports)
}

const precious = (): void => {
  expect(readdirSync(outside)).toEqual(['a.pdf'])
  expect(readFileSync(join(outside, 'a.pdf'), 'utf8')).toBe('precious')
}

// Elsewhere a folder cannot be used by its descriptor.
describe.each(isLinux ? ['link'] : [])('a folder that is exchanged for a %s while it is used', () => {
  beforeEach(() => chmodSync(shared, 0o777))

  test.each(['a.pdf', 'sub/a.pdf'])(
    '%s goes into the folder that was opened, with the manifest',
    async (file) => {
      const folder = await open()
      expect(folder.openFolderAbove).toEqual({ path: shared, writers: 'all' })
      expect(await keep(folder, file, true, exchangeForLink)).toMatchObject({ outcome: 'stored' })
      await folder.close()
      precious()
      expect(readFileSync(join(shared, 'moved', file), 'utf8')).toBe(pdf)
      expect(readFileSync(join(shared, 'moved', 'manifest.json'), 'utf8')).toContain(file)
    },
  )

  test('no file is deleted where the link leads', async () => {
    const first = await open()
    await keep(first, 'a.pdf')
    await first.close()
    const folder = await open()
    exchangeForLink()
    expect(await folder.erase([reportKey(subject)])).toEqual([])
    await folder.close()
    precious()
    expect(readdirSync(join(shared, 'moved')).sort()).toEqual(['manifest.csv', 'manifest.json'])
  })

  test('a hidden folder that is exchanged for another one gets no report', async () => {
    const folder = await open()
    const hidden = join(reports, '.refcheck')
    const exchange = (): void => {
      renameSync(hidden, join(shared, 'moved'))
      mkdirSync(hidden)
      chmodSync(hidden, 0o777)
    }
    const isOpenTo = folder.openToWriters
    expect(await keep(folder, 'b.pdf', false, exchange)).toMatchObject({ outcome: 'stored' })
    expect(folder.openToWriters).toBe(isOpenTo)
    expect(readdirSync(hidden)).toEqual([])
    expect(readFileSync(join(shared, 'moved', 'journal'), 'utf8')).toContain('b.pdf')
    await folder.close()
    expect(readFileSync(join(reports, 'b.pdf'), 'utf8')).toBe(pdf)
  })

  test('a failure names the folder by its path', async () => {
    const folder = await open()
    mkdirSync(join(reports, 'manifest.csv'))
    await keep(folder, 'a.pdf')
    await expect(folder.close()).rejects.toMatchObject({
      message: `cannot write "${join(reports, 'manifest.csv')}": it is a folder`,
    })
  })

  test('a link in a folder that others may write to is refused before anything is made', async () => {
    exchangeForLink()
    await expect(open()).rejects.toMatchObject({
      code: 'io',
      message: `cannot use the folder "${reports}": another user of this machine may have made the symbolic link "${reports}"`,
      hint: 'Give the folder that you mean, without that link.',
    })
    precious()
  })
})

test('a link of ours that others cannot exchange is followed', async () => {
  exchangeForLink()
  const folder = await open()
  expect([folder.openToWriters, folder.openFolderAbove]).toEqual([undefined, undefined])
  expect(await keep(folder, 'b.pdf')).toMatchObject({ outcome: 'stored' })
  await folder.close()
  expect(readdirSync(outside).sort()).toEqual(['a.pdf', 'b.pdf', 'manifest.csv', 'manifest.json'])
})

test('with the sticky bit, a folder that all may write to contains reports that only their owner can move', async () => {
  chmodSync(shared, 0o1777)
  const folder = await open()
  expect(folder.openFolderAbove).toBeUndefined()
  await folder.close()
})

test('without names of descriptors nothing is written below a folder that others may write to', async () => {
  chmodSync(shared, 0o777)
  const folder = await open('/nowhere')
  await expect(refusedDownload(folder, 'a.pdf')).rejects.toMatchObject({
    message: `cannot write "${join(reports, 'a.pdf')}": every user of this machine may exchange what is in "${shared}"`,
    hint: `Make the folder private with: chmod go-w ${shared}`,
  })
  await folder.close()
  chmodSync(shared, 0o755)
  const again = await open('/nowhere')
  expect(await keep(again, 'sub/a.pdf')).toMatchObject({ outcome: 'stored' })
  await again.close()
  expect(readFileSync(join(reports, 'sub', 'a.pdf'), 'utf8')).toBe(pdf)
})

test('nothing is stored or deleted in a subfolder that others may write to, or below one', async () => {
  const sub = join(reports, 'sub')
  const before = await open()
  await keep(before, 'sub/a.pdf')
  await before.close()
  chmodSync(sub, 0o777)
  const folder = await open()
  for (const file of ['sub/b.pdf', 'sub/deep/b.pdf']) {
    await expect(refusedDownload(folder, file)).rejects.toMatchObject({
      message: `cannot write "${join(reports, file)}": every user of this machine may put files into its folder "sub"`,
      hint: `Make the folder private with: chmod go-w ${sub}`,
    })
  }
  expect(await folder.erase([reportKey(subject)])).toEqual([join(sub, 'a.pdf')])
  expect(await keep(folder, 'other/b.pdf')).toMatchObject({ outcome: 'stored' })
  await folder.close()
  expect(readdirSync(sub)).toEqual(['a.pdf'])
})

// Only root can give something to another account or group.
describe.each(isRoot ? [65_534] : [])('account and group %i', (other) => {
  test('a group that may write to the folder counts as others', async () => {
    chownSync(reports, 0, other)
    chmodSync(reports, 0o770)
    const folder = await open()
    expect(folder.openToWriters).toBe('its group')
    await expect(refusedDownload(folder, 'sub/a.pdf')).rejects.toMatchObject({
      message: `cannot write "${join(reports, 'sub/a.pdf')}": every user of its group may put a link in place of its folder "sub"`,
      hint: `Make the folder private with: chmod g-w ${reports}`,
    })
    expect(await keep(folder, 'a.pdf')).toMatchObject({ outcome: 'stored' })
    await folder.close()
  })

  test.each<[string, () => void, string]>([
    [
      'a group may write to the one above it',
      () => {
        chownSync(shared, 0, other)
        chmodSync(shared, 0o775)
      },
      'its group',
    ],
    ['another account owns the one above it', () => chownSync(shared, other, other), 'its owner'],
    [
      'another account owns a sticky one above it',
      () => {
        chownSync(shared, other, other)
        chmodSync(shared, 0o1777)
      },
      'its owner',
    ],
  ])('%s', async (_, arrange, to) => {
    arrange()
    const folder = await open()
    expect(folder.openFolderAbove).toEqual({ path: shared, writers: to })
    await folder.close()
  })

  test('a link of another account is refused, in a sticky folder too', async () => {
    chmodSync(shared, 0o1777)
    exchangeForLink()
    lchownSync(reports, other, other)
    await expect(open()).rejects.toMatchObject({
      message: expect.stringContaining(`may have made the symbolic link "${reports}"`) as string,
    })
    precious()
  })

  test('a folder of another account is refused where that account could have put it in place of ours', async () => {
    chmodSync(shared, 0o777)
    chownSync(reports, other, other)
    await expect(open()).rejects.toMatchObject({
      message: `cannot use the folder "${reports}": it belongs to another user of this machine, who may have put it there`,
    })
    expect(readdirSync(reports)).toEqual([])
  })

  test('our own group is no other account', async () => {
    chmodSync(shared, 0o775)
    chmodSync(reports, 0o775)
    const folder = await open()
    expect([folder.openToWriters, folder.openFolderAbove]).toEqual([undefined, undefined])
    await folder.close()
  })
})
