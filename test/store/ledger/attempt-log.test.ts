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
const opened: AttemptLog[] = []
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'refcheck-logs-')))
})
afterEach(() => {
  for (const log of opened.splice(0)) log.close()
  rmSync(root, { recursive: true })
})

const at = (name: string): string => join(root, name)
const key = 'a'.repeat(64)
const store = '/data/ledger.sqlite'
const storeId = 's1'
const machine = { host: 'hr-1', id: 'm1' }
const filesIn = (...names: string[]) => new AttemptLogFiles(names.map(at), machine)

function create(files: AttemptLogFiles, id = 'one'): LogFile {
  const file = files.create({ id, storeId, store, key, generation: 'g1', register: [] })
  if (file === undefined) throw new Error('no log could be made')
  return file
}

function open(file: LogFile): AttemptLog {
  const log = new AttemptLog(file)
  opened.push(log)
  return log
}

const entry = (number: number, facts: Partial<LogEntry> = {}): LogEntry => ({
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
  ...facts,
})
const head = (number: number) => ({ account: 'acme', number, attemptId: `a${number}` })
const note = (number: number): LogNote => ({ kind: 'note', generation: 'g1', ...head(number) })

describe('files', () => {
  test('a log is made, private, in the first folder that can be written', () => {
    writeFileSync(at('file'), '')
    const found = create(filesIn('file', 'second', 'third'))
    expect(found).toMatchObject({
      path: at('second/one.log'),
      isOriginal: true,
      header: { id: 'one', store, key },
    })
    expect(statSync(found.path).mode & 0o777).toBe(0o600)
    expect(existsSync(at('third'))).toBe(false)
    expect(
      filesIn('file').create({ id: 'x', storeId, store, key, generation: 'g', register: [] }),
    ).toBeUndefined()
  })

  test('a log is found by the id or by the place of its store, in folders that are there', () => {
    const files = filesIn('logs', 'missing')
    create(files)
    const ids = (...by: Parameters<AttemptLogFiles['find']>): string[] =>
      files.find(...by).map(({ header }) => header.id)
    expect(ids({ store })).toEqual(['one'])
    expect(ids({ store: '/elsewhere', storeId })).toEqual(['one'])
    expect(ids({ store: '/elsewhere' })).toEqual([])
    expect(filesIn('missing').find({ store, storeId }, [at('logs/one.log')])).toHaveLength(1)
  })

  // To give a folder away needs root.
  test.each(process.getuid?.() === 0 ? [65534] : [])(
    'a folder of account %i is neither read nor written',
    (account) => {
      create(filesIn('theirs'))
      chownSync(at('theirs'), account, account)
      expect(filesIn('theirs').find({ store, storeId })).toEqual([])
      expect(create(filesIn('theirs', 'own'), 'two').path).toBe(at('own/two.log'))
    },
  )

  test('what is no file of ours with a header under the name of a log is none', () => {
    const files = filesIn('logs')
    const { path } = create(files)
    mkdirSync(at('logs/folder.log'))
    symlinkSync(path, at('logs/link.log'))
    writeFileSync(at('logs/empty.log'), '')
    writeFileSync(at('logs/notes.txt'), '')
    expect(files.find({ store, storeId })).toHaveLength(1)
    symlinkSync(at('logs'), at('linked'))
    expect(filesIn('linked').find({ store, storeId })).toMatchObject([{ isOriginal: true }])
    symlinkSync(at('circle'), at('circle'))
    expect(() => filesIn('circle').find({ store, storeId })).toThrow(expect.objectContaining({ code: 'io' }))
  })

  test.each([
    ['in another folder', () => copyFileSync(at('logs/one.log'), at('copies/one.log')), 'copies'],
    ['under another name', () => renameSync(at('logs/one.log'), at('logs/two.log')), 'logs'],
    ['as another file', () => copyOver(at('logs/one.log')), 'logs'],
  ])('a log %s is a copy', (_, copy, folder) => {
    const files = filesIn('logs')
    create(files)
    mkdirSync(at('copies'))
    copy()
    expect(filesIn(folder).find({ store, storeId })).toMatchObject([
      { isOriginal: false, header: { id: 'one' } },
    ])
  })

  test.each([
    { host: 'hr-2', id: 'm1' },
    { host: 'hr-1', id: 'm2' },
  ])('a log of another machine (%j) is a copy', (other) => {
    create(filesIn('logs'))
    const found = new AttemptLogFiles([at('logs')], other).find({ store, storeId })
    expect(found).toMatchObject([{ isOriginal: false }])
  })

  test('fingerprints are erased on the disk, whatever was appended since', () => {
    const files = filesIn('logs')
    const file = create(files)
    open(file).append(entry(1), entry(2), entry(3))
    files.erase(file, new Set(['a2']))
    files.erase(file, new Set(['a2', 'a9']))
    const { records, damaged } = files.read(file)
    expect(damaged).toBe(0)
    const blank = '0'.repeat(64)
    expect(records.slice(1)).toEqual([entry(1), entry(2, { person: blank, email: blank }), entry(3)])
    rmSync(file.path)
    expect(() => files.erase(file, new Set())).toThrow(expect.objectContaining({ code: 'io' }))
    expect(() => files.read(file)).toThrow(expect.objectContaining({ code: 'io' }))
  })

  test('a log from before 1.0.0 of a store in this place is refused in one line and left as it is', () => {
    const files = filesIn('logs')
    mkdirSync(at('logs'))
    writeFileSync(at('logs/old.list'), '\nfeed ["a"]\t')
    writeFileSync(at('logs/old.json'), JSON.stringify({ store, key }))
    writeFileSync(at('logs/damaged.list'), '')
    expect(() => files.requireNoFormer('/elsewhere')).not.toThrow()
    expect(() => files.requireNoFormer(store)).toThrow(
      `cannot use the store "${store}": its attempt log "${at('logs/old.list')}" is from before refcheck 1.0.0`,
    )
    expect(readFileSync(at('logs/old.list'), 'utf8')).toBe('\nfeed ["a"]\t')
  })

  test('a folder in memory is volatile, one on a disk or one that is not there is not', () => {
    expect(isVolatile('/dev/shm')).toBe(process.platform === 'linux')
    expect(isVolatile('/proc')).toBe(false)
    expect(isVolatile(at('missing'))).toBe(false)
  })
})

/** As a backup of the folder that is restored does. */
function copyOver(path: string): void {
  copyFileSync(path, `${path}.new`)
  renameSync(`${path}.new`, path)
}

describe('an open log', () => {
  test('reads what other processes appended, and nothing twice', () => {
    const file = create(filesIn('logs'))
    const [one, other] = [open(file), open(file)]
    one.readGained()
    other.readGained()
    one.append(entry(1))
    other.append(entry(2), { kind: 'outcome', attemptId: 'a1', state: 'accepted', requestId: 'r' })
    expect(one.readGained()).toMatchObject([entry(1), entry(2), { kind: 'outcome' }])
    expect(one.readGained()).toEqual([])
    expect(one.heads).toEqual([head(2)])
    other.append(note(7), { ...note(9), generation: 'g0' })
    one.readGained()
    expect(one.heads).toEqual([head(7)])
  })

  test('reads an incomplete line again once it is complete', () => {
    const file = create(filesIn('logs'))
    const log = open(file)
    log.readGained()
    const line = formatRecord(entry(1), digest)
    appendFileSync(file.path, line.slice(0, 50))
    expect(log.readGained()).toEqual([])
    appendFileSync(file.path, line.slice(50))
    expect(log.readGained()).toEqual([entry(1)])
  })

  test('reads on where a full disk has cut a line within a letter of several bytes', () => {
    const file = create(filesIn('logs'))
    const log = open(file)
    const line = Buffer.from(formatRecord(entry(1, { userEmail: 'zoë@example.com' }), digest))
    appendFileSync(file.path, line.subarray(0, line.indexOf('ë') + 1))
    appendFileSync(file.path, formatRecord(entry(2), digest))
    log.readGained()
    appendFileSync(file.path, formatRecord(entry(3), digest))
    expect(log.readGained()).toEqual([entry(3)])
    expect(log.isDamaged).toBe(false)
  })

  test('says that a complete line has a wrong checksum', () => {
    const file = create(filesIn('logs'))
    const log = open(file)
    appendFileSync(file.path, formatRecord(entry(1), digest).replace('acme', 'emca'))
    expect(log.isDamaged).toBe(false)
    log.readGained()
    expect(log.isDamaged).toBe(true)
  })

  test('a start reads from the last header on, which knows the heads before it', () => {
    const files = filesIn('logs')
    const log = open(create(files))
    for (let number = 1; number <= 300; number += 1) {
      log.readGained()
      log.append(entry(number))
    }
    const [found] = files.find({ store, storeId })
    if (found === undefined) throw new Error('the log is gone')
    expect(statSync(found.path).size - found.header.bytes).toBeLessThan(100_000)
    expect(found.header.bytes).toBeGreaterThan(30_000)
    const again = open(found)
    again.readGained()
    expect(again.heads).toEqual([head(300)])
  })

  test('an entry that another process appends just before a header is not lost to the next start', () => {
    const files = filesIn('logs')
    const file = create(files)
    const log = open(file)
    const late = formatRecord(entry(5), digest)
    const header = { ...file.header, bytes: statSync(file.path).size, heads: [head(4)] }
    appendFileSync(file.path, late + formatRecord(header, digest))
    const again = open(files.find({ store, storeId })[0] ?? file)
    again.readGained()
    expect(again.heads).toEqual([head(5)])
    log.readGained()
    expect(log.heads).toEqual([head(5)])
  })

  test('a new generation begins with its own heads', () => {
    const files = filesIn('logs')
    const log = open(create(files))
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

  test('a log that was replaced or has gone is never appended to', () => {
    const file = create(filesIn('logs'))
    const log = open(file)
    copyOver(file.path)
    expect(() => log.append(entry(1))).toThrow('was replaced while it was in use')
    rmSync(file.path)
    expect(() => log.append(entry(1))).toThrow(expect.objectContaining({ code: 'io' }))
    expect(() => open(file)).toThrow(expect.objectContaining({ code: 'io' }))
  })

  test('appends that wait side by side share a flush, and one that failed is never repeated', async () => {
    const file = create(filesIn('logs'))
    const log = open(file)
    const first = log.flush()
    expect(log.flush()).toBe(first)
    await first
    await expect(log.flush()).resolves.toBeUndefined()
    let flushes = 0
    const broken = new AttemptLog(file, (_, done) => {
      flushes += 1
      done(Object.assign(new Error('EIO'), { code: 'EIO' }))
    })
    opened.push(broken)
    await expect(broken.flush()).rejects.toMatchObject({ code: 'io' })
    await expect(broken.flush()).rejects.toMatchObject({ code: 'io' })
    expect(flushes).toBe(1)
    expect(() => broken.append(entry(1))).toThrow(expect.objectContaining({ code: 'io' }))
  })
})
