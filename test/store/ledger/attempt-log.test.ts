import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { formatRecord, type LogEntry, type LogNote } from '../../../src/domain/store/attempt-log.ts'
import {
  AttemptLog,
  AttemptLogFiles,
  digest,
  isVolatile,
  type LogFile,
} from '../../../src/store/ledger/attempt-log.ts'

let root: string
const openLogs: AttemptLog[] = []
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'refcheck-logs-')))
})
afterEach(() => {
  for (const log of openLogs.splice(0)) log.close()
  rmSync(root, { recursive: true })
})

const pathOf = (name: string): string => join(root, name)
const key = 'a'.repeat(64)
const store = '/data/ledger.sqlite'
const storeId = 's1'
const machine = { host: 'hr-1', id: 'm1' }
const logFilesIn = (...names: string[]) => new AttemptLogFiles(names.map(pathOf), machine)

function createLog(files: AttemptLogFiles, id = 'one'): LogFile {
  const file = files.create({ id, storeId, store, key, generation: 'g1', register: [] })
  if (file === undefined) throw new Error('no log could be made')
  return file
}

function openLog(file: LogFile): AttemptLog {
  const log = new AttemptLog(file)
  openLogs.push(log)
  return log
}

const entry = (number: number, changes: Partial<LogEntry> = {}): LogEntry => ({
  kind: 'entry',
  generation: 'g1',
  account: 'acme',
  number,
  attemptId: `a${number}`,
  batchId: 'b',
  row: number,
  baseUrl: 'http://127.0.0.1',
  userEmail: 'o@example.com',
  packageId: 102,
  relatedIds: [],
  at: number,
  person: 'p'.repeat(64),
  email: 'e'.repeat(64),
  phone: '',
  ...changes,
})
const head = (number: number) => ({ account: 'acme', number, attemptId: `a${number}` })
const note = (number: number): LogNote => ({ kind: 'note', generation: 'g1', ...head(number) })

describe('files', () => {
  test('a log is created, private, in the first folder that can be written to', () => {
    writeFileSync(pathOf('file'), '')
    const found = createLog(logFilesIn('file', 'second', 'third'))
    expect(found).toMatchObject({
      path: pathOf('second/one.log'),
      isOriginal: true,
      header: { id: 'one', store, key },
    })
    expect(statSync(found.path).mode & 0o777).toBe(0o600)
    expect(existsSync(pathOf('third'))).toBe(false)
    expect(
      logFilesIn('file').create({ id: 'x', storeId, store, key, generation: 'g', register: [] }),
    ).toBeUndefined()
  })

  test('a log is found by the id or by the path of its store, in the folders that exist', () => {
    const files = logFilesIn('logs', 'missing')
    createLog(files)
    const listIds = (...filter: Parameters<AttemptLogFiles['find']>): string[] =>
      files.find(...filter).map(({ header }) => header.id)
    expect(listIds({ store })).toEqual(['one'])
    expect(listIds({ store: '/elsewhere', storeId })).toEqual(['one'])
    expect(listIds({ store: '/elsewhere' })).toEqual([])
    expect(logFilesIn('missing').find({ store, storeId }, [pathOf('logs/one.log')])).toHaveLength(1)
  })

  // Only root can change the owner of a folder.
  test.each(process.getuid?.() === 0 ? [65534] : [])(
    'a folder of account %i is neither read nor written',
    (account) => {
      createLog(logFilesIn('theirs'))
      chownSync(pathOf('theirs'), account, account)
      expect(logFilesIn('theirs').find({ store, storeId })).toEqual([])
      expect(createLog(logFilesIn('theirs', 'own'), 'two').path).toBe(pathOf('own/two.log'))
    },
  )

  test('a folder, a link or a file without a header is not read as a log, but a link to a folder of logs is followed', () => {
    const files = logFilesIn('logs')
    const { path } = createLog(files)
    mkdirSync(pathOf('logs/folder.log'))
    symlinkSync(path, pathOf('logs/link.log'))
    writeFileSync(pathOf('logs/empty.log'), '')
    writeFileSync(pathOf('logs/notes.txt'), '')
    expect(files.find({ store, storeId })).toHaveLength(1)
    symlinkSync(pathOf('logs'), pathOf('linked'))
    expect(logFilesIn('linked').find({ store, storeId })).toMatchObject([{ isOriginal: true }])
    symlinkSync(pathOf('circle'), pathOf('circle'))
    expect(() => logFilesIn('circle').find({ store, storeId })).toThrow(
      expect.objectContaining({ code: 'io' }),
    )
  })

  test.each([
    ['in another folder', () => copyFileSync(pathOf('logs/one.log'), pathOf('copies/one.log')), 'copies'],
    ['under another name', () => renameSync(pathOf('logs/one.log'), pathOf('logs/two.log')), 'logs'],
    ['as another file', () => replaceWithCopy(pathOf('logs/one.log')), 'logs'],
  ])('a log %s is a copy', (_, copy, folder) => {
    const files = logFilesIn('logs')
    createLog(files)
    mkdirSync(pathOf('copies'))
    copy()
    expect(logFilesIn(folder).find({ store, storeId })).toMatchObject([
      { isOriginal: false, header: { id: 'one' } },
    ])
  })

  test.each([
    { host: 'hr-2', id: 'm1' },
    { host: 'hr-1', id: 'm2' },
  ])('a log of another machine (%j) is a copy', (otherMachine) => {
    createLog(logFilesIn('logs'))
    const found = new AttemptLogFiles([pathOf('logs')], otherMachine).find({ store, storeId })
    expect(found).toMatchObject([{ isOriginal: false }])
  })

  test('the fingerprints of given attempts are erased on the disk, and other records do not change', () => {
    const files = logFilesIn('logs')
    const file = createLog(files)
    openLog(file).append(entry(1), entry(2), entry(3))
    files.erase(file, new Set(['a2']))
    files.erase(file, new Set(['a2', 'a9']))
    const { records, damagedLineCount } = files.read(file)
    expect(damagedLineCount).toBe(0)
    const blank = '0'.repeat(64)
    expect(records.slice(1)).toEqual([entry(1), entry(2, { person: blank, email: blank }), entry(3)])
    rmSync(file.path)
    expect(() => files.erase(file, new Set())).toThrow(expect.objectContaining({ code: 'io' }))
    expect(() => files.read(file)).toThrow(expect.objectContaining({ code: 'io' }))
  })

  test('a log from before 1.0.0 of a store at this path is refused with a one-line message, and is not changed', () => {
    const files = logFilesIn('logs')
    mkdirSync(pathOf('logs'))
    writeFileSync(pathOf('logs/old.list'), '\nfeed ["a"]\t')
    writeFileSync(pathOf('logs/old.json'), JSON.stringify({ store, key }))
    writeFileSync(pathOf('logs/damaged.list'), '')
    expect(() => files.requireNoFormerLog('/elsewhere')).not.toThrow()
    expect(() => files.requireNoFormerLog(store)).toThrow(
      `cannot use the store "${store}": its attempt log "${pathOf('logs/old.list')}" is from before refcheck 1.0.0`,
    )
    expect(readFileSync(pathOf('logs/old.list'), 'utf8')).toBe('\nfeed ["a"]\t')
  })

  test('a folder in memory is volatile, and a folder on a disk or a missing folder is not', () => {
    expect(isVolatile('/dev/shm')).toBe(process.platform === 'linux')
    expect(isVolatile('/proc')).toBe(false)
    expect(isVolatile(pathOf('missing'))).toBe(false)
  })
})

/** Replaces the file with a copy, as restoring a backup of the folder does. */
function replaceWithCopy(path: string): void {
  copyFileSync(path, `${path}.new`)
  renameSync(`${path}.new`, path)
}

describe('an open log', () => {
  test('reads the records that other processes appended, each once', () => {
    const file = createLog(logFilesIn('logs'))
    const [one, other] = [openLog(file), openLog(file)]
    one.readNewRecords()
    other.readNewRecords()
    one.append(entry(1))
    other.append(entry(2), { kind: 'outcome', attemptId: 'a1', state: 'accepted', requestId: 'r' })
    expect(one.readNewRecords()).toMatchObject([entry(1), entry(2), { kind: 'outcome' }])
    expect(one.readNewRecords()).toEqual([])
    expect(one.heads).toEqual([head(2)])
    other.append(note(7), { ...note(9), generation: 'g0' })
    one.readNewRecords()
    expect(one.heads).toEqual([head(7)])
  })

  test('reads an incomplete line again once it is complete', () => {
    const file = createLog(logFilesIn('logs'))
    const log = openLog(file)
    log.readNewRecords()
    const line = formatRecord(entry(1), digest)
    appendFileSync(file.path, line.slice(0, 50))
    expect(log.readNewRecords()).toEqual([])
    appendFileSync(file.path, line.slice(50))
    expect(log.readNewRecords()).toEqual([entry(1)])
  })

  test('continues with the next line after a line that a full disk cut inside a multi-byte character', () => {
    const file = createLog(logFilesIn('logs'))
    const log = openLog(file)
    const line = Buffer.from(formatRecord(entry(1, { userEmail: 'zoë@example.com' }), digest))
    appendFileSync(file.path, line.subarray(0, line.indexOf('ë') + 1))
    appendFileSync(file.path, formatRecord(entry(2), digest))
    log.readNewRecords()
    appendFileSync(file.path, formatRecord(entry(3), digest))
    expect(log.readNewRecords()).toEqual([entry(3)])
    expect(log.isDamaged).toBe(false)
  })

  test('is marked as damaged once a complete line with a wrong checksum was read', () => {
    const file = createLog(logFilesIn('logs'))
    const log = openLog(file)
    appendFileSync(file.path, formatRecord(entry(1), digest).replace('acme', 'emca'))
    expect(log.isDamaged).toBe(false)
    log.readNewRecords()
    expect(log.isDamaged).toBe(true)
  })

  test('a process that starts reads from the last header on, which contains the heads before it', () => {
    const files = logFilesIn('logs')
    const log = openLog(createLog(files))
    for (let number = 1; number <= 300; number += 1) {
      log.readNewRecords()
      log.append(entry(number))
    }
    const [found] = files.find({ store, storeId })
    if (found === undefined) throw new Error('the log is gone')
    expect(statSync(found.path).size - found.header.bytes).toBeLessThan(100_000)
    expect(found.header.bytes).toBeGreaterThan(30_000)
    const reopened = openLog(found)
    reopened.readNewRecords()
    expect(reopened.heads).toEqual([head(300)])
  })

  test('a process that starts reads an entry that another process appended just before the last header', () => {
    const files = logFilesIn('logs')
    const file = createLog(files)
    const log = openLog(file)
    const lateEntry = formatRecord(entry(5), digest)
    const header = { ...file.header, bytes: statSync(file.path).size, heads: [head(4)] }
    appendFileSync(file.path, lateEntry + formatRecord(header, digest))
    const reopened = openLog(files.find({ store, storeId })[0] ?? file)
    reopened.readNewRecords()
    expect(reopened.heads).toEqual([head(5)])
    log.readNewRecords()
    expect(log.heads).toEqual([head(5)])
  })

  test('after the start of a new generation the heads are those of the new generation', () => {
    const files = logFilesIn('logs')
    const log = openLog(createLog(files))
    log.append(entry(5))
    log.writeHeader({ generation: 'g2', heads: [] })
    log.append(entry(3, { generation: 'g2' }))
    log.writeHeader({ store: '/moved/ledger.sqlite' })
    expect(log.header).toMatchObject({ generation: 'g2', store: '/moved/ledger.sqlite' })
    expect(log.heads).toEqual([head(3)])
    expect(files.find({ store: '/moved/ledger.sqlite' })).toMatchObject([
      { isOriginal: true, header: { heads: [head(3)] } },
    ])
  })

  test('nothing is appended to a log that was replaced or removed', () => {
    const file = createLog(logFilesIn('logs'))
    const log = openLog(file)
    replaceWithCopy(file.path)
    expect(() => log.append(entry(1))).toThrow('was replaced while it was in use')
    rmSync(file.path)
    expect(() => log.append(entry(1))).toThrow(expect.objectContaining({ code: 'io' }))
    expect(() => openLog(file)).toThrow(expect.objectContaining({ code: 'io' }))
  })

  test('appends that wait at the same time share a flush, and a failed flush is never repeated', async () => {
    const file = createLog(logFilesIn('logs'))
    const log = openLog(file)
    const first = log.flush()
    expect(log.flush()).toBe(first)
    await first
    await expect(log.flush()).resolves.toBeUndefined()
    let flushes = 0
    const broken = new AttemptLog(file, (_, done) => {
      flushes += 1
      done(Object.assign(new Error('EIO'), { code: 'EIO' }))
    })
    openLogs.push(broken)
    await expect(broken.flush()).rejects.toMatchObject({ code: 'io' })
    await expect(broken.flush()).rejects.toMatchObject({ code: 'io' })
    expect(flushes).toBe(1)
    expect(() => broken.append(entry(1))).toThrow(expect.objectContaining({ code: 'io' }))
  })
})
