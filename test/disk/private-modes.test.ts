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

// The tests of this file whose titles match are rows of the fault table (test/resilience/rows.ts).
recordForFaultTable('modes', { mustNotHappen: 'readable by others', titles: /umask|looser|account/ })
recordForFaultTable('given-folder', { mustNotHappen: 'with another mode', titles: /mode|sticky|write/ })

const moduleUrl = new URL('../../src/disk/private-modes.ts', import.meta.url).href
let folder: string
let path: string
const readMode = (name: string): number => statSync(name).mode & 0o7777
// Only root can change the owner of a file.
const foreignAccounts = process.getuid?.() === 0 ? [65_534] : []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-modes-'))
  path = join(folder, 'settings')
})
afterEach(() => rmSync(folder, { recursive: true }))

function makeFolder(mode: number, name = path): void {
  mkdirSync(name)
  chmodSync(name, mode)
}

const ownFolderHint = 'Use a folder of your own: set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR.' as const

describe('folders', () => {
  test('new folders and their missing parents have the permissions 0700', () => {
    makeOwnFolders(join(path, 'a'), join(path, 'a', 'b'))
    expect([path, join(path, 'a'), join(path, 'a', 'b')].map(readMode)).toEqual([0o700, 0o700, 0o700])
  })

  test('new folders have the permissions 0700 under umask 000 as well', () => {
    const script = `import { makeOwnFolders } from ${JSON.stringify(moduleUrl)}
      process.umask(0)
      makeOwnFolders(${JSON.stringify(join(path, 'a'))})`
    execFileSync(process.execPath, ['--input-type=module', '-e', script])
    expect([path, join(path, 'a')].map(readMode)).toEqual([0o700, 0o700])
  })

  test.each([0o700, 0o750, 0o755, 0o2755])('an existing folder of mode %o keeps its mode', (mode) => {
    makeFolder(mode)
    makeOwnFolders(path)
    expect(readMode(path)).toBe(mode)
  })

  test.each([
    [0o720, '0720'],
    [0o775, '0775'],
    [0o777, '0777'],
    [0o2775, '2775'],
  ])('a folder of mode %o is refused, because other users may write to it', (mode, displayedMode) => {
    makeFolder(mode)
    const expectedError = expect.objectContaining({
      code: 'io',
      message: `cannot use the folder "${path}": other users of this machine may write to it (${displayedMode})`,
      hint: `Use another folder, or take that permission away with: chmod go-w "${path}"`,
    }) as Error
    expect(() => makeOwnFolders(path)).toThrow(expectedError)
    expect(() => requireOwnFolders(path)).toThrow(expectedError)
    expect(() => makeOwnFolders(join(folder, 'new'), path)).toThrow(expectedError)
    expect(existsSync(join(folder, 'new'))).toBe(false)
    expect(readMode(path)).toBe(mode)
  })

  test('a sticky folder such as /tmp is refused, with a hint that does not change its mode', () => {
    makeFolder(0o1777)
    expect(() => makeOwnFolders(path)).toThrow(
      expect.objectContaining({
        message: `cannot use the folder "${path}": other users of this machine may write to it (1777)`,
        hint: ownFolderHint,
      }) as Error,
    )
    expect(readMode(path)).toBe(0o1777)
  })

  test('a folder in a sticky folder, or in one to which its group may write, is used', () => {
    makeFolder(0o1777)
    makeOwnFolders(join(path, 'own'))
    chmodSync(path, 0o2775)
    makeOwnFolders(join(path, 'other'))
    expect([join(path, 'own'), join(path, 'other')].map((name) => readMode(name) & 0o777)).toEqual([
      0o700, 0o700,
    ])
  })

  test('a folder in a folder to which all users may write is refused, and not created', () => {
    makeFolder(0o777)
    expect(() => makeOwnFolders(join(path, 'a', 'b'))).toThrow(
      expect.objectContaining({
        code: 'io',
        message: `cannot use the folder "${join(path, 'a', 'b')}": other users of this machine may write to "${path}" (0777), which contains it`,
      }) as Error,
    )
    expect(existsSync(join(path, 'a'))).toBe(false)
  })

  test.each(foreignAccounts)('a folder in a folder of account %i is refused', (account) => {
    makeFolder(0o755)
    mkdirSync(join(path, 'own'), { mode: 0o700 })
    chownSync(path, account, account)
    expect(() => requireOwnFolders(join(path, 'own'))).toThrow(
      expect.objectContaining({
        code: 'io',
        message: `cannot use the folder "${join(path, 'own')}": "${path}", which contains it, belongs to another user of this machine`,
        hint: ownFolderHint,
      }) as Error,
    )
  })

  test('a symbolic link of the same user is followed, and the folders above its target are checked', () => {
    makeFolder(0o777)
    makeFolder(0o700, join(path, 'target'))
    makeFolder(0o755, join(folder, 'fine'))
    symlinkSync(join(path, 'target'), join(folder, 'link'))
    symlinkSync('fine', join(folder, 'good'))
    symlinkSync('link', join(folder, 'to-link'))
    requireOwnFolders(join(folder, 'good'))
    makeOwnFolders(join(folder, 'good', 'below'))
    for (const name of ['link', 'to-link', 'link/below'])
      expect(() => requireOwnFolders(join(folder, name))).toThrow(`"${path}" (0777), which contains it`)
  })

  test('a link without a target and a circular link are not folders', () => {
    symlinkSync('circle', join(folder, 'circle'))
    symlinkSync('missing', join(folder, 'dangling'))
    requireOwnFolders(join(folder, 'circle'), join(folder, 'dangling'))
    expect(() => makeOwnFolders(join(folder, 'circle'))).toThrow(
      expect.objectContaining({ code: 'io' }) as Error,
    )
  })

  test('requireOwnFolders does not create a missing folder', () => {
    requireOwnFolders(path)
    expect(existsSync(path)).toBe(false)
  })

  test('the error for a file at the path of a folder states that it is a file', () => {
    writeFileSync(path, '')
    expect(() => makeOwnFolders(path)).toThrow(/cannot make the folder .*: a part of the path is a file/)
    expect(() => makeOwnFolders(join(path, 'a'))).toThrow(/a part of the path is a file/)
  })

  test('a folder of another account is refused, and its mode does not change', () => {
    const script = `import { makeOwnFolders } from ${JSON.stringify(moduleUrl)}
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

describe('makePrivateFolder', () => {
  test('the folder is private, even where all users may write, and a looser mode is corrected', () => {
    makeFolder(0o777)
    makePrivateFolder(join(path, 'locks'))
    expect(readMode(join(path, 'locks'))).toBe(0o700)
    chmodSync(join(path, 'locks'), 0o777)
    makePrivateFolder(join(path, 'locks'))
    expect(readMode(join(path, 'locks'))).toBe(0o700)
  })

  test.each(foreignAccounts)('an existing folder of account %i is refused', (account) => {
    makeFolder(0o700)
    chownSync(path, account, account)
    expect(() => makePrivateFolder(path)).toThrow('it belongs to another user of this machine')
  })
})

describe('files', () => {
  test('a private file is read, and a missing file is undefined', async () => {
    expect(await readPrivate(path, 100)).toBeUndefined()
    writeFileSync(path, 'grün', { mode: 0o600 })
    expect(await readPrivate(path, 100, folder)).toEqual({ text: 'grün', notice: undefined })
  })

  test('readPrivate corrects a looser mode of a file with a warning, and readOwn does not change it', async () => {
    writeFileSync(path, 'x')
    chmodSync(path, 0o644)
    expect(readOwn(path, 100)).toBe('x')
    expect(readMode(path)).toBe(0o644)
    const warning = `The file "${path}" was readable by other users (0644); it is now private (0600).`
    expect(await readPrivate(path, 100)).toEqual({ text: 'x', warning })
    expect(readMode(path)).toBe(0o600)
  })

  test.each([0o620, 0o664, 0o666])(
    'a file of mode %o is refused, because other users may write to it',
    async (mode) => {
      writeFileSync(path, 'x')
      chmodSync(path, mode)
      const expectedError = {
        code: 'io',
        message: `cannot use the file "${path}": other users of this machine may write to it (0${mode.toString(8)})`,
        hint: `Check what is in it, then make it private with: chmod go= "${path}"`,
      }
      await expect(readPrivate(path, 100)).rejects.toMatchObject(expectedError)
      expect(() => readOwn(path, 100)).toThrow(expect.objectContaining(expectedError) as Error)
      expect(readMode(path)).toBe(mode)
    },
  )

  test('a file in a folder to which other users may write is not read', async () => {
    makeFolder(0o775)
    writeFileSync(join(path, 'file'), 'x', { mode: 0o600 })
    await expect(readPrivate(join(path, 'file'), 100, path)).rejects.toThrow('may write to it (0775)')
  })

  test('a link, a folder, a pipe and an oversized file are refused', async () => {
    writeFileSync(path, 'x'.repeat(101), { mode: 0o644 })
    const link = join(folder, 'link')
    symlinkSync(path, link)
    await expect(readPrivate(link, 1000)).rejects.toThrow(`cannot read "${link}": it is a symbolic link`)
    expect(readMode(path)).toBe(0o644)
    await expect(readPrivate(path, 100)).rejects.toThrow(/larger than 100 bytes/)
    await expect(readPrivate(folder, 100)).rejects.toThrow(/not a regular file/)
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
    await expect(readPrivate(join(folder, 'pipe'), 100)).rejects.toThrow(/not a regular file/)
  })

  test('a file of another account is not read, because its owner can change its content', () => {
    writeFileSync(path, 'theirs', { mode: 0o600 })
    const script = `import { readPrivate } from ${JSON.stringify(moduleUrl)}
      process.geteuid = () => process.getuid() + 1
      await readPrivate(${JSON.stringify(path)}, 100).catch((e) => process.stdout.write(e.code + ': ' + e.message))`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    expect(printed).toBe(`io: cannot use the file "${path}": it belongs to another user of this machine`)
  })
})
