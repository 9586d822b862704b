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

const module = new URL('../../src/disk/lock.ts', import.meta.url).href
const clockModule = new URL('../../src/host/clock.ts', import.meta.url).href
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

/** Another process that takes the lock, says so, and goes on living. */
async function otherHolder(afterwards = '', flags: string[] = []): Promise<ChildProcess> {
  const source = `
    import { acquireLock } from ${JSON.stringify(module)}
    import { systemClock as clock } from ${JSON.stringify(clockModule)}
    const take = async () => (await acquireLock(${JSON.stringify(path)}, { clock, waitMs: 0 })) !== undefined
    const taken = await take()
    ${afterwards}
    process.stdout.write(taken ? 'held' : 'refused')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', source])
  children.push(child)
  const [printed] = (await once(child.stdout, 'data')) as [Buffer]
  expect(printed.toString()).toBe('held')
  return child
}

test('one holder at a time within a process; released, the next one gets it', async () => {
  const first = await acquireLock(path, { clock, waitMs: 0 })
  expect(first).toBeDefined()
  expect(await acquireLock(path, { clock, waitMs: 0 })).toBeUndefined()
  first?.release()
  first?.release()
  const second = await acquireLock(path, { clock, waitMs: 0 })
  expect(second).toBeDefined()
  second?.release()
})

test('of 20 who try at the same moment on a file not there yet, one gets it', async () => {
  const locks = await Promise.all(Array.from({ length: 20 }, () => acquireLock(path, { clock, waitMs: 0 })))
  const taken = locks.filter((lock) => lock !== undefined)
  expect(taken).toHaveLength(1)
  await expectOtherHolderRefused()
  for (const lock of taken) lock.release()
})

async function expectOtherHolderRefused(): Promise<void> {
  await expect(otherHolder()).rejects.toThrow(/refused/)
}

test('another process is kept out, and let in by the kernel when the holder is killed', async () => {
  const holder = await otherHolder()
  expect(await acquireLock(path, { clock, waitMs: 20 })).toBeUndefined()
  holder.kill('SIGKILL')
  const lock = await acquireLock(path, { clock, waitMs: 10_000 })
  expect(lock).toBeDefined()
  lock?.release()
})

test('a holder that dropped its reference keeps the lock through garbage collection', async () => {
  const collect = 'for (let i = 0; i < 20; i++) { gc(); await new Promise((done) => setImmediate(done)) }'
  await otherHolder(collect, ['--expose-gc'])
  expect(await acquireLock(path, { clock, waitMs: 0 })).toBeUndefined()
})

test('a waiting taker pauses between tries, and gives up at its deadline', async () => {
  const holder = await acquireLock(path, { clock, waitMs: 0 })
  let time = 0
  const pauses: number[] = []
  const manual = {
    now: () => time,
    monotonic: () => time,
    sleep: (ms: number) => {
      pauses.push(ms)
      time += ms
      return Promise.resolve()
    },
  }
  expect(await acquireLock(path, { clock: manual, waitMs: 100 })).toBeUndefined()
  expect(pauses).toEqual([2, 4, 8, 16, 25, 25, 20])
  holder?.release()
})

test('the lock file is private, empty and alone, even while held', async () => {
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
const otherAccounts = process.getuid?.() === 0 ? [65_534] : []

test.each(otherAccounts)('through a symbolic link of account %i no lock file is created', async (account) => {
  const target = join(folder, 'target')
  const link = join(folder, 'link')
  mkdirSync(target)
  symlinkSync(target, link)
  lchownSync(link, account, account)
  await expect(acquireLock(join(link, 'a.claim'), { clock, waitMs: 0 })).rejects.toThrow(
    /another user of this machine may have made the symbolic link/,
  )
  expect(readdirSync(target)).toEqual([])
})

test('a lock file that can only be read is an error, not a lock that two may hold', () => {
  writeFileSync(path, '')
  chmodSync(path, 0o444)
  chmodSync(folder, 0o755)
  const source = `
    import { acquireLock } from ${JSON.stringify(module)}
    import { systemClock as clock } from ${JSON.stringify(clockModule)}
    if (process.getuid() === 0) process.setuid(65534)
    const lock = await acquireLock(${JSON.stringify(path)}, { clock, waitMs: 0 }).catch((error) => error.message)
    process.stdout.write(String(lock))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
  })
  expect(printed).toBe(`cannot lock "${path}": it is not writable`)
})
