import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemClock as clock } from '../../src/host/clock.ts'
import { acquireLock } from '../../src/disk/lock.ts'

const lockModuleUrl = new URL('../../src/disk/lock.ts', import.meta.url).href
const clockModuleUrl = new URL('../../src/host/clock.ts', import.meta.url).href
let folder: string
let path: string
const children: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-lock-'))
  path = join(folder, 'a.lock')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** Starts a process that acquires the lock, prints whether it has it, and does not end. */
async function startHolder(statements = '', flags: string[] = []): Promise<ChildProcess> {
  const source = `
    import { acquireLock } from ${JSON.stringify(lockModuleUrl)}
    import { systemClock as clock } from ${JSON.stringify(clockModuleUrl)}
    const isLocked = (await acquireLock(${JSON.stringify(path)}, { clock, waitMs: 0 })) !== undefined
    ${statements}
    process.stdout.write(isLocked ? 'held' : 'refused')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', source])
  children.push(child)
  const [printed] = (await once(child.stdout, 'data')) as [Buffer]
  expect(printed.toString()).toBe('held')
  return child
}

test('within a process a lock has one holder, and can be acquired again after its release', async () => {
  const first = await acquireLock(path, { clock, waitMs: 0 })
  expect(first).toBeDefined()
  expect(await acquireLock(path, { clock, waitMs: 0 })).toBeUndefined()
  first?.release()
  first?.release()
  const second = await acquireLock(path, { clock, waitMs: 0 })
  expect(second).toBeDefined()
  second?.release()
})

test('of 20 concurrent attempts on a missing lock file, one gets the lock', async () => {
  const locks = await Promise.all(Array.from({ length: 20 }, () => acquireLock(path, { clock, waitMs: 0 })))
  const acquiredLocks = locks.filter((lock) => lock !== undefined)
  expect(acquiredLocks).toHaveLength(1)
  await expectHolderRefused()
  for (const lock of acquiredLocks) lock.release()
})

async function expectHolderRefused(): Promise<void> {
  await expect(startHolder()).rejects.toThrow(/refused/)
}

test('a lock of another process cannot be acquired until the kernel releases it when its holder is killed', async () => {
  const holder = await startHolder()
  expect(await acquireLock(path, { clock, waitMs: 20 })).toBeUndefined()
  holder.kill('SIGKILL')
  const lock = await acquireLock(path, { clock, waitMs: 10_000 })
  expect(lock).toBeDefined()
  lock?.release()
})

test('a holder that dropped its reference keeps the lock through garbage collection', async () => {
  const collectGarbage =
    'for (let i = 0; i < 20; i++) { gc(); await new Promise((done) => setImmediate(done)) }'
  await startHolder(collectGarbage, ['--expose-gc'])
  expect(await acquireLock(path, { clock, waitMs: 0 })).toBeUndefined()
})

test('a waiting acquisition pauses between its attempts, and fails at its deadline', async () => {
  const holder = await acquireLock(path, { clock, waitMs: 0 })
  let time = 0
  const pauses: number[] = []
  const manualClock = {
    now: () => time,
    monotonic: () => time,
    sleep: (ms: number) => {
      pauses.push(ms)
      time += ms
      return Promise.resolve()
    },
  }
  expect(await acquireLock(path, { clock: manualClock, waitMs: 100 })).toBeUndefined()
  expect(pauses).toEqual([2, 4, 8, 16, 25, 25, 20])
  holder?.release()
})

test('the lock file is private and empty, and the folder has no other file while the lock is held', async () => {
  const lock = await acquireLock(path, { clock, waitMs: 0 })
  expect(readdirSync(folder)).toEqual(['a.lock'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(path).size).toBe(0)
  lock?.release()
})

test('a symbolic link, a folder, a foreign file or a missing folder is refused', async () => {
  symlinkSync(join(folder, 'elsewhere'), path)
  await expect(acquireLock(path, { clock, waitMs: 0 })).rejects.toThrow(/not a regular file/)
  await expect(acquireLock(folder, { clock, waitMs: 0 })).rejects.toThrow(/not a regular file/)
  writeFileSync(join(folder, 'foreign'), 'not a database '.repeat(100))
  await expect(acquireLock(join(folder, 'foreign'), { clock, waitMs: 0 })).rejects.toMatchObject({
    code: 'io',
  })
  await expect(acquireLock(join(folder, 'no', 'a'), { clock, waitMs: 0 })).rejects.toThrow(
    /cannot create the lock file .* no such file or folder/,
  )
})

// Only root can make a link that belongs to another account.
const foreignAccounts = process.getuid?.() === 0 ? [65_534] : []

test.each(foreignAccounts)(
  'through a symbolic link of account %i no lock file is created',
  async (account) => {
    const target = join(folder, 'target')
    const link = join(folder, 'link')
    mkdirSync(target)
    symlinkSync(target, link)
    lchownSync(link, account, account)
    await expect(acquireLock(join(link, 'a.claim'), { clock, waitMs: 0 })).rejects.toThrow(
      /another user of this machine may have made the symbolic link/,
    )
    expect(readdirSync(target)).toEqual([])
  },
)

test('a lock file without write permission is an error, because it could be locked by two processes', () => {
  writeFileSync(path, '')
  chmodSync(path, 0o444)
  chmodSync(folder, 0o755)
  const source = `
    import { acquireLock } from ${JSON.stringify(lockModuleUrl)}
    import { systemClock as clock } from ${JSON.stringify(clockModuleUrl)}
    if (process.getuid() === 0) process.setuid(65534)
    const lock = await acquireLock(${JSON.stringify(path)}, { clock, waitMs: 0 }).catch((error) => error.message)
    process.stdout.write(String(lock))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
  })
  expect(printed).toBe(`cannot lock "${path}": it is not writable`)
})
