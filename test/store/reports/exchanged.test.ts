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

// The tests of this file are the row `planted` of the fault table (test/resilience/rows.ts).
recordForFaultTable('planted', { mustNotHappen: 'written outside' })

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'

let root: string
let sharedFolder: string
let reports: string
/** Another folder of this account, with a file that has the name of a report. */
let outsideFolder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-exchanged-'))
  sharedFolder = join(root, 'shared')
  reports = join(sharedFolder, 'reports')
  outsideFolder = join(root, 'outside')
  for (const folder of [sharedFolder, reports, outsideFolder]) mkdirSync(folder, { mode: 0o755 })
  writeFileSync(join(outsideFolder, 'a.pdf'), 'precious')
})
afterEach(() => rmSync(root, { recursive: true }))

const openFolder = (descriptors?: string) =>
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

function storeReport(folder: ReportFolder, file: string, replace = false, duringDownload?: () => void) {
  return folder.store({
    file,
    replace,
    subject,
    async open() {
      duringDownload?.()
      return content()
    },
  })
}

/** Stores a report that has to be refused before it is downloaded. */
const storeWithoutDownload = (folder: ReportFolder, file: string) =>
  storeReport(folder, file, true, () => {
    throw new Error('it was downloaded')
  })

/** Replaces the folder of the reports with a link, as another account can that may write to the folder above. */
function exchangeForLink(): void {
  renameSync(reports, join(sharedFolder, 'moved'))
  symlinkSync(outsideFolder, reports)
}

const expectOutsideUnchanged = (): void => {
  expect(readdirSync(outsideFolder)).toEqual(['a.pdf'])
  expect(readFileSync(join(outsideFolder, 'a.pdf'), 'utf8')).toBe('precious')
}

// Only Linux can use a folder by its descriptor.
describe.each(isLinux ? ['link'] : [])('a folder that is exchanged for a %s while it is used', () => {
  beforeEach(() => chmodSync(sharedFolder, 0o777))

  test.each(['a.pdf', 'sub/a.pdf'])(
    '%s is stored in the folder that was opened, with the manifest',
    async (file) => {
      const folder = await openFolder()
      expect(folder.exchangeableFolderAbove).toEqual({ path: sharedFolder, writers: 'all' })
      expect(await storeReport(folder, file, true, exchangeForLink)).toMatchObject({ outcome: 'stored' })
      await folder.close()
      expectOutsideUnchanged()
      expect(readFileSync(join(sharedFolder, 'moved', file), 'utf8')).toBe(pdf)
      expect(readFileSync(join(sharedFolder, 'moved', 'manifest.json'), 'utf8')).toContain(file)
    },
  )

  test('no file is deleted in the target of the link', async () => {
    const first = await openFolder()
    await storeReport(first, 'a.pdf')
    await first.close()
    const folder = await openFolder()
    exchangeForLink()
    expect(await folder.erase([reportKey(subject)])).toEqual([])
    await folder.close()
    expectOutsideUnchanged()
    expect(readdirSync(join(sharedFolder, 'moved')).sort()).toEqual(['manifest.csv', 'manifest.json'])
  })

  test('a hidden folder that is exchanged for another one gets no report', async () => {
    const folder = await openFolder()
    const hidden = join(reports, '.refcheck')
    const exchange = (): void => {
      renameSync(hidden, join(sharedFolder, 'moved'))
      mkdirSync(hidden)
      chmodSync(hidden, 0o777)
    }
    const isOpenTo = folder.openToWriters
    expect(await storeReport(folder, 'b.pdf', false, exchange)).toMatchObject({ outcome: 'stored' })
    expect(folder.openToWriters).toBe(isOpenTo)
    expect(readdirSync(hidden)).toEqual([])
    expect(readFileSync(join(sharedFolder, 'moved', 'journal'), 'utf8')).toContain('b.pdf')
    await folder.close()
    expect(readFileSync(join(reports, 'b.pdf'), 'utf8')).toBe(pdf)
  })

  test('an error names a file by its path, not by a descriptor', async () => {
    const folder = await openFolder()
    mkdirSync(join(reports, 'manifest.csv'))
    await storeReport(folder, 'a.pdf')
    await expect(folder.close()).rejects.toMatchObject({
      message: `cannot write "${join(reports, 'manifest.csv')}": it is a folder`,
    })
  })

  test('a link in a folder that others may write to is refused before any file is created', async () => {
    exchangeForLink()
    await expect(openFolder()).rejects.toMatchObject({
      code: 'io',
      message: `cannot use the folder "${reports}": another user of this machine may have made the symbolic link "${reports}"`,
      hint: 'Give the folder that you mean, without that link.',
    })
    expectOutsideUnchanged()
  })
})

test('a link of this account that others cannot exchange is followed', async () => {
  exchangeForLink()
  const folder = await openFolder()
  expect([folder.openToWriters, folder.exchangeableFolderAbove]).toEqual([undefined, undefined])
  expect(await storeReport(folder, 'b.pdf')).toMatchObject({ outcome: 'stored' })
  await folder.close()
  expect(readdirSync(outsideFolder).sort()).toEqual(['a.pdf', 'b.pdf', 'manifest.csv', 'manifest.json'])
})

test('with the sticky bit, a folder that all may write to contains reports that only their owner can move', async () => {
  chmodSync(sharedFolder, 0o1777)
  const folder = await openFolder()
  expect(folder.exchangeableFolderAbove).toBeUndefined()
  await folder.close()
})

test('without paths for descriptors, nothing is written below a folder that others may write to', async () => {
  chmodSync(sharedFolder, 0o777)
  const folder = await openFolder('/nowhere')
  await expect(storeWithoutDownload(folder, 'a.pdf')).rejects.toMatchObject({
    message: `cannot write "${join(reports, 'a.pdf')}": every user of this machine may exchange what is in "${sharedFolder}"`,
    hint: `Make the folder private with: chmod go-w ${sharedFolder}`,
  })
  await folder.close()
  chmodSync(sharedFolder, 0o755)
  const reopened = await openFolder('/nowhere')
  expect(await storeReport(reopened, 'sub/a.pdf')).toMatchObject({ outcome: 'stored' })
  await reopened.close()
  expect(readFileSync(join(reports, 'sub', 'a.pdf'), 'utf8')).toBe(pdf)
})

test('nothing is stored or deleted in a subfolder that others may write to, or below one', async () => {
  const sub = join(reports, 'sub')
  const firstFolder = await openFolder()
  await storeReport(firstFolder, 'sub/a.pdf')
  await firstFolder.close()
  chmodSync(sub, 0o777)
  const folder = await openFolder()
  for (const file of ['sub/b.pdf', 'sub/deep/b.pdf']) {
    await expect(storeWithoutDownload(folder, file)).rejects.toMatchObject({
      message: `cannot write "${join(reports, file)}": every user of this machine may put files into its folder "sub"`,
      hint: `Make the folder private with: chmod go-w ${sub}`,
    })
  }
  expect(await folder.erase([reportKey(subject)])).toEqual([join(sub, 'a.pdf')])
  expect(await storeReport(folder, 'other/b.pdf')).toMatchObject({ outcome: 'stored' })
  await folder.close()
  expect(readdirSync(sub)).toEqual(['a.pdf'])
})

// Only root can change the owner of a folder.
describe.each(isRoot ? [65_534] : [])('account and group %i', (otherAccountId) => {
  test('a group that may write to the folder counts as others', async () => {
    chownSync(reports, 0, otherAccountId)
    chmodSync(reports, 0o770)
    const folder = await openFolder()
    expect(folder.openToWriters).toBe('its group')
    await expect(storeWithoutDownload(folder, 'sub/a.pdf')).rejects.toMatchObject({
      message: `cannot write "${join(reports, 'sub/a.pdf')}": every user of its group may put a link in place of its folder "sub"`,
      hint: `Make the folder private with: chmod g-w ${reports}`,
    })
    expect(await storeReport(folder, 'a.pdf')).toMatchObject({ outcome: 'stored' })
    await folder.close()
  })

  test.each<[string, () => void, string]>([
    [
      'a group may write to it',
      () => {
        chownSync(sharedFolder, 0, otherAccountId)
        chmodSync(sharedFolder, 0o775)
      },
      'its group',
    ],
    ['another account owns it', () => chownSync(sharedFolder, otherAccountId, otherAccountId), 'its owner'],
    [
      'another account owns it, and it is sticky',
      () => {
        chownSync(sharedFolder, otherAccountId, otherAccountId)
        chmodSync(sharedFolder, 0o1777)
      },
      'its owner',
    ],
  ])('the folder above is reported if %s', async (_, changeOwner, writers) => {
    changeOwner()
    const folder = await openFolder()
    expect(folder.exchangeableFolderAbove).toEqual({ path: sharedFolder, writers })
    await folder.close()
  })

  test('a link of another account is refused, also in a sticky folder', async () => {
    chmodSync(sharedFolder, 0o1777)
    exchangeForLink()
    lchownSync(reports, otherAccountId, otherAccountId)
    await expect(openFolder()).rejects.toMatchObject({
      message: expect.stringContaining(`may have made the symbolic link "${reports}"`) as string,
    })
    expectOutsideUnchanged()
  })

  test('a folder of another account is refused if that account could have replaced our folder with it', async () => {
    chmodSync(sharedFolder, 0o777)
    chownSync(reports, otherAccountId, otherAccountId)
    await expect(openFolder()).rejects.toMatchObject({
      message: `cannot use the folder "${reports}": it belongs to another user of this machine, who may have put it there`,
    })
    expect(readdirSync(reports)).toEqual([])
  })

  test('a folder that our own group may write to is not reported', async () => {
    chmodSync(sharedFolder, 0o775)
    chmodSync(reports, 0o775)
    const folder = await openFolder()
    expect([folder.openToWriters, folder.exchangeableFolderAbove]).toEqual([undefined, undefined])
    await folder.close()
  })
})
