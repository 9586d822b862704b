import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import {
  makePrivateFolder,
  makeOwnFolders,
  readOwn,
  readPrivate,
  requireOwnFolders,
} from '../../src/disk/private-modes.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('modes', 'readable by others', { titles: /umask|looser|account/ })
recordForFaultTable('given-folder', 'with another mode', { titles: /mode|sticky|write/ })

const module = new URL('../../src/disk/private-modes.ts', import.meta.url).href
let folder: string
let path: string
const modeOf = (name: string): number => statSync(name).mode & 0o7777
/** To give a file away needs root. */
const foreignAccount = process.getuid?.() === 0 ? [65_534] : []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-modes-'))
  path = join(folder, 'settings')
})
afterEach(() => rmSync(folder, { recursive: true }))

function put(mode: number, name = path): void {
  mkdirSync(name)
  chmodSync(name, mode)
}

const useFolders = 'Use a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.' as const

describe('folders', () => {
  test('new ones and their missing parents are 0700', () => {
    makeOwnFolders(join(path, 'a'), join(path, 'a', 'b'))
    expect([path, join(path, 'a'), join(path, 'a', 'b')].map(modeOf)).toEqual([0o700, 0o700, 0o700])
  })

  test('under umask 000 as well', () => {
    const script = `import { makeOwnFolders } from ${JSON.stringify(module)}
      process.umask(0)
      makeOwnFolders(${JSON.stringify(join(path, 'a'))})`
    execFileSync(process.execPath, ['--input-type=module', '-e', script])
    expect([path, join(path, 'a')].map(modeOf)).toEqual([0o700, 0o700])
  })

  test.each([0o700, 0o750, 0o755, 0o2755])('an existing one of mode %o keeps it', (mode) => {
    put(mode)
    makeOwnFolders(path)
    expect(modeOf(path)).toBe(mode)
  })

  test.each([
    [0o720, '0720'],
    [0o775, '0775'],
    [0o777, '0777'],
    [0o2775, '2775'],
  ])('one of mode %o is refused: others may write to it', (mode, shown) => {
    put(mode)
    const refused = expect.objectContaining({
      code: 'io',
      message: `cannot use the folder "${path}": other users of this machine may write to it (${shown})`,
      hint: `Use another folder, or take that permission away with: chmod go-w "${path}"`,
    }) as Error
    expect(() => makeOwnFolders(path)).toThrow(refused)
    expect(() => requireOwnFolders(path)).toThrow(refused)
    expect(() => makeOwnFolders(join(folder, 'new'), path)).toThrow(refused)
    expect(existsSync(join(folder, 'new'))).toBe(false)
    expect(modeOf(path)).toBe(mode)
  })

  test('a sticky one like /tmp is refused, with a hint that leaves its mode alone', () => {
    put(0o1777)
    expect(() => makeOwnFolders(path)).toThrow(
      expect.objectContaining({
        message: `cannot use the folder "${path}": other users of this machine may write to it (1777)`,
        hint: useFolders,
      }) as Error,
    )
    expect(modeOf(path)).toBe(0o1777)
  })

  test('one below a sticky folder, and below one that its group may write to, is used', () => {
    put(0o1777)
    makeOwnFolders(join(path, 'own'))
    chmodSync(path, 0o2775)
    makeOwnFolders(join(path, 'other'))
    expect([join(path, 'own'), join(path, 'other')].map((name) => modeOf(name) & 0o777)).toEqual([
      0o700, 0o700,
    ])
  })

  test('one below a folder that all may write to is refused, and not made', () => {
    put(0o777)
    expect(() => makeOwnFolders(join(path, 'a', 'b'))).toThrow(
      expect.objectContaining({
        code: 'io',
        message: `cannot use the folder "${join(path, 'a', 'b')}": other users of this machine may write to "${path}" (0777), which contains it`,
      }) as Error,
    )
    expect(existsSync(join(path, 'a'))).toBe(false)
  })

  test.each(foreignAccount)('one below a folder of account %i is refused', (account) => {
    put(0o755)
    mkdirSync(join(path, 'own'), { mode: 0o700 })
    chownSync(path, account, account)
    expect(() => requireOwnFolders(join(path, 'own'))).toThrow(
      expect.objectContaining({
        code: 'io',
        message: `cannot use the folder "${join(path, 'own')}": "${path}", which contains it, belongs to another user of this machine`,
        hint: useFolders,
      }) as Error,
    )
  })

  test('a link of one’s own is followed, and what it leads through is looked at', () => {
    put(0o777)
    put(0o700, join(path, 'target'))
    put(0o755, join(folder, 'fine'))
    symlinkSync(join(path, 'target'), join(folder, 'link'))
    symlinkSync('fine', join(folder, 'good'))
    symlinkSync('link', join(folder, 'to-link'))
    requireOwnFolders(join(folder, 'good'))
    makeOwnFolders(join(folder, 'good', 'below'))
    for (const name of ['link', 'to-link', 'link/below'])
      expect(() => requireOwnFolders(join(folder, name))).toThrow(`"${path}" (0777), which contains it`)
  })

  test('links that lead nowhere or in a circle are no folder', () => {
    symlinkSync('circle', join(folder, 'circle'))
    symlinkSync('missing', join(folder, 'dangling'))
    requireOwnFolders(join(folder, 'circle'), join(folder, 'dangling'))
    expect(() => makeOwnFolders(join(folder, 'circle'))).toThrow(
      expect.objectContaining({ code: 'io' }) as Error,
    )
  })

  test('one that is not there is not made by looking', () => {
    requireOwnFolders(path)
    expect(existsSync(path)).toBe(false)
  })

  test('a file where the folder should be is said plainly', () => {
    writeFileSync(path, '')
    expect(() => makeOwnFolders(path)).toThrow(/cannot make the folder .*: a part of the path is a file/)
    expect(() => makeOwnFolders(join(path, 'a'))).toThrow(/a part of the path is a file/)
  })

  test('another account’s is refused, whichever account runs this, and its mode stays', () => {
    const script = `import { makeOwnFolders } from ${JSON.stringify(module)}
      if (process.getuid() === 0) {
        process.setgid(65534)
        process.setuid(65534)
      }
      try {
        makeOwnFolders('/usr')
      } catch (e) {
        process.stdout.write(e.code + ': ' + e.message)
      }`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    expect(printed).toBe('io: cannot use the folder "/usr": it belongs to another user of this machine')
  })
})

describe('a folder of ours among those of others', () => {
  test('is private, in a folder that all may write to as well; a looser one is fixed', () => {
    put(0o777)
    makePrivateFolder(join(path, 'locks'))
    expect(modeOf(join(path, 'locks'))).toBe(0o700)
    chmodSync(join(path, 'locks'), 0o777)
    makePrivateFolder(join(path, 'locks'))
    expect(modeOf(join(path, 'locks'))).toBe(0o700)
  })

  test.each(foreignAccount)('of account %i is refused', (account) => {
    put(0o700)
    chownSync(path, account, account)
    expect(() => makePrivateFolder(path)).toThrow('it belongs to another user of this machine')
  })
})

describe('files', () => {
  test('a private one is read; a missing one is undefined', async () => {
    expect(await readPrivate(path, 100)).toBeUndefined()
    writeFileSync(path, 'grün', { mode: 0o600 })
    expect(await readPrivate(path, 100, folder)).toEqual({ text: 'grün', notice: undefined })
  })

  test('a looser one is fixed, with a word; of one in another’s folder the mode stays', async () => {
    writeFileSync(path, 'x')
    chmodSync(path, 0o644)
    expect(readOwn(path, 100)).toBe('x')
    expect(modeOf(path)).toBe(0o644)
    const warning = `The file "${path}" was readable by other users (0644); it is now private (0600).`
    expect(await readPrivate(path, 100)).toEqual({ text: 'x', warning })
    expect(modeOf(path)).toBe(0o600)
  })

  test.each([0o620, 0o664, 0o666])('one of mode %o is not believed: others may write to it', async (mode) => {
    writeFileSync(path, 'x')
    chmodSync(path, mode)
    const refused = {
      code: 'io',
      message: `cannot use the file "${path}": other users of this machine may write to it (0${mode.toString(8)})`,
      hint: `Check what is in it, then make it private with: chmod go= "${path}"`,
    }
    await expect(readPrivate(path, 100)).rejects.toMatchObject(refused)
    expect(() => readOwn(path, 100)).toThrow(expect.objectContaining(refused) as Error)
    expect(modeOf(path)).toBe(mode)
  })

  test('one in a folder that others may write to is not read', async () => {
    put(0o775)
    writeFileSync(join(path, 'file'), 'x', { mode: 0o600 })
    await expect(readPrivate(join(path, 'file'), 100, path)).rejects.toThrow('may write to it (0775)')
  })

  test('a link, a folder, a pipe and an oversized file are refused', async () => {
    writeFileSync(path, 'x'.repeat(101), { mode: 0o644 })
    const link = join(folder, 'link')
    symlinkSync(path, link)
    await expect(readPrivate(link, 1000)).rejects.toThrow(`cannot read "${link}": it is a symbolic link`)
    expect(modeOf(path)).toBe(0o644)
    await expect(readPrivate(path, 100)).rejects.toThrow(/larger than 100 bytes/)
    await expect(readPrivate(folder, 100)).rejects.toThrow(/not a regular file/)
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
    await expect(readPrivate(join(folder, 'pipe'), 100)).rejects.toThrow(/not a regular file/)
  })

  test('one of another account is not read: its owner decides what is in it', () => {
    writeFileSync(path, 'theirs', { mode: 0o600 })
    const script = `import { readPrivate } from ${JSON.stringify(module)}
      process.geteuid = () => process.getuid() + 1
      await readPrivate(${JSON.stringify(path)}, 100).catch((e) => process.stdout.write(e.code + ': ' + e.message))`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    expect(printed).toBe(`io: cannot use the file "${path}": it belongs to another user of this machine`)
  })
})
