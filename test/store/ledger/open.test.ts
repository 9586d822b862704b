import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, beginOne, newAttempt } from './batches.ts'
import { createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import { storeLocation, resolveStoreAddress } from '../../../src/store/ledger/open.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file whose titles match are the row `modes` of the fault table (test/resilience/rows.ts).
recordForFaultTable('modes', {
  mustNotHappen: 'readable by others',
  titles: /umask|looser|folder that exists/,
})

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores()
})
afterEach(() => setup.remove())

const readMode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const endlessQuery = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'

describe('a store that another account prepared', () => {
  test.each([
    [
      'a view that never ends in place of a table',
      `DROP TABLE meta; CREATE VIEW meta AS ${endlessQuery} SELECT i AS name, i AS value FROM n`,
    ],
    ['a trigger', 'CREATE TRIGGER mine AFTER UPDATE ON submissions BEGIN DELETE FROM attempts; END'],
    [
      'a trigger with a name that refcheck uses',
      `CREATE TRIGGER moved_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'x'); DELETE FROM attempts; END`,
    ],
    ['a virtual table', 'CREATE VIRTUAL TABLE words USING fts5(text)'],
  ])('with %s, the store is refused before it is used', async (_what, sql) => {
    await (await setup.openStore()).close()
    const database = new DatabaseSync(setup.path)
    database.exec(`PRAGMA foreign_keys = OFF; ${sql}`)
    database.close()
    await expect(setup.openStore()).rejects.toThrow('somebody added a view, trigger or virtual table to it')
  })
})

describe('the location of the store', () => {
  const paths = { config: '/c', data: '/d' }
  const resolveLocation = (chosen: string | undefined): string =>
    storeLocation({ chosenAddress: chosen, paths, cwd: '/here' })

  test.each([
    [undefined, '/d/ledger.sqlite'],
    ['', '/d/ledger.sqlite'],
    ['orders.sqlite', '/here/orders.sqlite'],
    ['../orders', '/orders'],
    ['/abs/orders', '/abs/orders'],
    [':memory:', ':memory:'],
  ])('REFCHECK_STORE=%s → %s', (chosen, expected) => {
    expect(resolveLocation(chosen)).toBe(expected)
  })

  test.each(['postgres://u:hunter2@host/db', 'PostgreSQL://host/db', 'mysql://u:hunter2@host', 'file:///x'])(
    '%s is refused, and the message does not repeat a possible password',
    (chosen) => {
      expect(() => resolveLocation(chosen)).toThrow(expect.objectContaining({ code: 'usage' }) as Error)
      expect(() => resolveLocation(chosen)).not.toThrow(/hunter2|u:/)
    },
  )

  test('the path of a certificate is relative to the working directory', () => {
    const chosen = 'postgres://u@db.example.com/db?sslmode=verify-full&sslrootcert=ca.pem'
    const found = resolveStoreAddress({
      chosenAddress: chosen,
      paths: { config: '/c', data: '/d' },
      cwd: '/work',
    })
    expect(found).toMatchObject({ kind: 'postgres', server: { rootCertificate: '/work/ca.pem' } })
  })

  test('a database is named without its password', () => {
    expect(resolveLocation('postgresql://u:hunter2@localhost/db')).toBe('postgres://u@localhost:5432/db')
  })
})

test('every commit is flushed to the disk, and deleted data is overwritten', async () => {
  const ledger = await setup.openLedger()
  await beginOne(ledger, 'a@example.com')
  const database = new DatabaseSync(setup.path)
  expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(database.prepare('SELECT state FROM submissions').get()).toEqual({ state: 'sending' })
  expect(database.prepare('SELECT became FROM attempts').get()).toEqual({ became: null })
  database.close()
})

test('a store that is closed and opened again has its data', async () => {
  const first = await setup.openStore()
  await addOne(first.ledger, 'a@example.com')
  await first.close()
  const reopened = await setup.openLedger()
  expect(await reopened.add(batchOf(['a@example.com']), { allowDuplicate: false })).toMatchObject({
    order: { state: 'pending' },
  })
})

test('a link and its target are one store, with the same leases', async () => {
  const ledger = await setup.openLedger()
  symlinkSync(setup.path, join(setup.folder, 'link.sqlite'))
  const linked = await setup.openLedger('link.sqlite')
  const batch = batchOf(['a@example.com'])
  const lease = await ledger.acquire(batch)
  expect(await linked.acquire(batch)).toBeUndefined()
  await lease?.release()
})

describe('files of another account at the paths that SQLite uses', () => {
  const victimPath = (): string => join(setup.folder, 'victim')
  const creators: Record<string, (path: string) => void> = {
    'a link': (path) => symlinkSync(victimPath(), path),
    'a second name of a file': (path) => linkSync(victimPath(), path),
    'a folder': (path) => mkdirSync(path),
    ...(process.getuid?.() === 0 && {
      'a file of another account': (path) => {
        writeFileSync(path, '')
        chownSync(path, 54_321, 54_321)
      },
    }),
  }
  const cases = Object.keys(creators).flatMap((kind) =>
    ['-wal', '-shm', '-journal'].map((suffix) => [kind, suffix] as const),
  )

  test.each(cases)('%s as %s is neither written to nor changed', async (kind, suffix) => {
    await (await setup.openStore()).close()
    writeFileSync(victimPath(), 'theirs', { mode: 0o644 })
    creators[kind]?.(setup.path + suffix)
    await expect(setup.openStore()).rejects.toThrow(
      `cannot use the store "${setup.path}": "${setup.path}${suffix}" does not belong to it`,
    )
    expect(readFileSync(victimPath(), 'utf8')).toBe('theirs')
    expect(statSync(victimPath()).mode & 0o777).toBe(0o644)
  })
})

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

test('the lease of a single order leaves no file behind', async () => {
  const ledger = await setup.openLedger()
  const lease = await ledger.acquire(batchOf([]))
  expect(readdirSync(`${setup.path}.locks`)).toHaveLength(1)
  await lease?.release()
  expect(readdirSync(`${setup.path}.locks`)).toEqual([])
})

describe('permissions', () => {
  test('under umask 000 every file is 0600 and every folder 0700 from the start', () => {
    const source = `
      import { openStore } from ${JSON.stringify(new URL('../../../src/store/ledger/open.ts', import.meta.url))}
      import { systemClock as clock } from ${JSON.stringify(new URL('../../../src/host/clock.ts', import.meta.url))}
      import { systemRandom as random } from ${JSON.stringify(new URL('../../../src/host/random.ts', import.meta.url))}
      process.umask(0)
      const cwd = ${JSON.stringify(setup.folder)}
      const paths = { config: cwd + '/config', data: cwd + '/a/b/data' }
      const { ledger } = await openStore({ chosenAddress: undefined, paths, cwd, clock, random })
      await ledger.acquire({ id: 'held', kind: 'single' })
      await ledger.recordStatus('http://127.0.0.1:4010', 'none', 'RECEIVED', 1)
      process.kill(process.pid, 'SIGKILL')`
    const child = spawnSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8' })
    expect([child.signal, child.stderr]).toEqual(['SIGKILL', ''])
    const data = join(setup.folder, 'a', 'b', 'data')
    const found = Object.fromEntries(
      ['', ...readdirSync(setup.folder, { recursive: true, encoding: 'utf8' })]
        .filter((name) => name !== '')
        .map((name) => [name.replace(uuid, 'ID'), readMode(join(setup.folder, name))]),
    )
    expect(dirname(data).endsWith('b')).toBe(true)
    expect(found).toEqual({
      a: '700',
      'a/b': '700',
      'a/b/data': '700',
      'a/b/data/ledger.sqlite': '600',
      'a/b/data/ledger.sqlite-shm': '600',
      'a/b/data/ledger.sqlite-wal': '600',
      'a/b/data/ledger.sqlite.locks': '700',
      'a/b/data/ledger.sqlite.locks/held.lock': '600',
      config: '700',
      'config/attempts': '700',
      'config/attempts/ID.log': '600',
    })
  })

  test('looser permissions of a file are corrected with a warning', async () => {
    await (await setup.openStore()).close()
    chmodSync(setup.path, 0o644)
    await setup.openLedger()
    expect(readMode(setup.path)).toBe('600')
    expect(setup.messages).toEqual([
      `The store’s file "${setup.path}" was readable by other users (0644); it is now private (0600).`,
    ])
  })

  test('a folder that exists keeps its mode', async () => {
    mkdirSync(join(setup.folder, 'data'), { mode: 0o755 })
    mkdirSync(join(setup.folder, 'own'), { mode: 0o755 })
    await setup.openLedger()
    await setup.openLedger('own/orders.sqlite')
    expect(readMode(join(setup.folder, 'data'))).toBe('755')
    expect(readMode(join(setup.folder, 'data', 'ledger.sqlite'))).toBe('600')
    expect(setup.messages).toEqual([])
    expect(readMode(join(setup.folder, 'own'))).toBe('755')
    expect(readMode(join(setup.folder, 'own', 'orders.sqlite'))).toBe('600')
  })
})

describe('a store that cannot be used is reported in one line, and is not changed', () => {
  async function openAndReturnError(
    chosen?: string,
  ): Promise<{ code: string; message: string; hint: string }> {
    const error: unknown = await setup.openLedger(chosen).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ hint: expect.stringMatching(/\.$/) as string })
    expect((error as Error).message).not.toMatch(/\n|ERR_SQLITE| at /)
    return error as { code: string; message: string; hint: string }
  }

  test('made by a newer refcheck', async () => {
    await (await setup.openStore()).close()
    const database = new DatabaseSync(setup.path)
    database.exec('PRAGMA user_version = 99')
    database.close()
    const before = readFileSync(setup.path)
    const { code, message, hint } = await openAndReturnError()
    expect([code, hint]).toEqual(['io', expect.stringContaining('Update refcheck')])
    expect(message).toMatch(/it was made by a newer refcheck \(format 99; this version supports up to \d+\)/)
    expect(readFileSync(setup.path).equals(before)).toBe(true)
  })

  test('not a database', async () => {
    writeFileSync(join(setup.folder, 'notes.txt'), 'milk, bread, a lock for the shed\n'.repeat(200))
    expect(await openAndReturnError('notes.txt')).toMatchObject({
      code: 'io',
      message: expect.stringMatching(/is not a refcheck store, or is damaged/) as string,
    })
    expect(readFileSync(join(setup.folder, 'notes.txt'), 'utf8')).toMatch(/^milk, bread/)
    expect(existsSync(join(setup.folder, 'notes.txt-wal'))).toBe(false)
  })

  test('another program’s database', async () => {
    const path = join(setup.folder, 'photos.sqlite')
    const database = new DatabaseSync(path)
    database.exec('CREATE TABLE photos (name TEXT)')
    database.close()
    const before = readFileSync(path)
    expect(await openAndReturnError('photos.sqlite')).toMatchObject({
      code: 'io',
      message: expect.stringMatching(/another program’s database/) as string,
    })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('truncated', async () => {
    const store = await setup.openStore()
    for (let person = 0; person < 50; person += 1) await addOne(store.ledger, `${person}@example.com`)
    await store.close()
    truncateSync(setup.path, 12_000)
    const opened = await setup.openLedger().catch((error: unknown) => error as Error)
    const failure = opened instanceof Error ? opened : await opened.list({}).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'io', message: expect.stringMatching(/it is damaged/) as string })
  })

  test('a body that differs from the stored hash is not sent', async () => {
    const ledger = await setup.openLedger()
    const row = await addOne(ledger, 'a@example.com')
    const database = new DatabaseSync(setup.path)
    database.exec(`UPDATE submissions SET body = CAST('{"for":"b@example.com"}' AS BLOB)`)
    database.close()
    await expect(beginAttempt(ledger, row, newAttempt())).rejects.toMatchObject({
      code: 'io',
      message: expect.stringMatching(/damaged/) as string,
    })
    expect(await ledger.list({ states: ['pending'] })).toHaveLength(1)
  })

  test('locked by another process', async () => {
    const ledger = await setup.openLedger()
    const database = new DatabaseSync(setup.path)
    database.exec('BEGIN IMMEDIATE')
    await expect(addOne(ledger, 'a@example.com')).rejects.toMatchObject({
      code: 'io',
      message: `cannot use the store "${ledger.location}": another process has locked it`,
    })
    database.exec('ROLLBACK')
    database.close()
    await addOne(ledger, 'a@example.com')
  })

  test('locked by another process when it is opened', async () => {
    writeFileSync(join(setup.folder, 'new.sqlite'), '')
    const database = new DatabaseSync(join(setup.folder, 'new.sqlite'))
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    expect(await openAndReturnError('new.sqlite')).toMatchObject({
      code: 'io',
      message: expect.stringMatching(/another process has locked it/) as string,
    })
    database.close()
  })

  test.each([
    ['a folder', 'data', /is a folder|is not a file/],
    ['a path through a file', 'file/ledger.sqlite', /cannot use the store/],
    ['a folder in which no user can create a file', '/proc/self/ledger.sqlite', /cannot use the store/],
  ])('%s', async (_what, chosen, message) => {
    mkdirSync(join(setup.folder, 'data'))
    writeFileSync(join(setup.folder, 'file'), '')
    expect(await openAndReturnError(chosen)).toMatchObject({ code: 'io', message })
  })
})
