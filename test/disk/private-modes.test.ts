import { execFileSync } from 'node:child_process'
import {
  chmodSync,
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

import { afterEach, beforeEach, expect, test } from 'vitest'

import { makeFolderPrivate, privateFolder, readPrivate } from '../../src/disk/private-modes.ts'
import { faultRow } from '../harness/faults/fault-row.ts'

faultRow('modes', 'readable by others', { of: /umask|looser|shared|account/ })

const module = new URL('../../src/disk/private-modes.ts', import.meta.url).href
let folder: string
let path: string
const modeOf = (name: string): number => statSync(name).mode & 0o777

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-modes-'))
  path = join(folder, 'settings')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a new folder and its missing parents are 0700, without a word', async () => {
  expect(await privateFolder(join(path, 'a', 'b'))).toBeUndefined()
  expect([path, join(path, 'a'), join(path, 'a', 'b')].map(modeOf)).toEqual([0o700, 0o700, 0o700])
})

test('under umask 000 as well', () => {
  const script = `import { privateFolder } from ${JSON.stringify(module)}
    process.umask(0)
    await privateFolder(${JSON.stringify(join(path, 'a'))})`
  execFileSync(process.execPath, ['--input-type=module', '-e', script])
  expect([path, join(path, 'a')].map(modeOf)).toEqual([0o700, 0o700])
})

test('a looser folder is fixed, with a word, once', async () => {
  mkdirSync(path)
  chmodSync(path, 0o755)
  const said = `The folder "${path}" was readable by other users (0755); it is now private (0700).`
  expect(await privateFolder(path)).toBe(said)
  expect(modeOf(path)).toBe(0o700)
  expect(await privateFolder(path)).toBeUndefined()
})

test('a folder that is not there is not made by fixing', async () => {
  expect(await makeFolderPrivate(path)).toBeUndefined()
  expect(existsSync(path)).toBe(false)
})

test('a shared folder like /tmp is refused and stays as it is', async () => {
  mkdirSync(path)
  chmodSync(path, 0o1777)
  await expect(privateFolder(path)).rejects.toMatchObject({
    code: 'io',
    message: `cannot keep private files in "${path}": all users of this machine share it`,
  })
  expect(modeOf(path)).toBe(0o777)
})

test('a file where the folder should be is said plainly', async () => {
  writeFileSync(path, '')
  await expect(privateFolder(path)).rejects.toThrow(/cannot make the folder .*: a part of the path is a file/)
  await expect(privateFolder(join(path, 'a'))).rejects.toThrow(/a part of the path is a file/)
  await expect(makeFolderPrivate(path)).rejects.toThrow(/a part of the path is a file/)
})

test('a private file is read; a missing one is undefined', async () => {
  expect(await readPrivate(path, 100)).toBeUndefined()
  writeFileSync(path, 'grün', { mode: 0o600 })
  expect(await readPrivate(path, 100)).toEqual({ text: 'grün', notice: undefined })
})

test('a looser file is fixed, with a word', async () => {
  writeFileSync(path, 'x')
  chmodSync(path, 0o664)
  const said = `The file "${path}" was readable by other users (0664); it is now private (0600).`
  expect(await readPrivate(path, 100)).toEqual({ text: 'x', notice: said })
  expect(modeOf(path)).toBe(0o600)
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

test('another account’s folder is refused, whoever runs this, and its mode stays', () => {
  const script = `import { privateFolder } from ${JSON.stringify(module)}
    if (process.getuid() === 0) {
      process.setgid(65534)
      process.setuid(65534)
    }
    await privateFolder('/usr').catch((e) => process.stdout.write(e.code + ': ' + e.message))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(said).toBe('io: cannot use the folder "/usr": it belongs to another user of this machine')
})

test('a private file of another account is not read: its owner decides what is in it', () => {
  writeFileSync(path, 'theirs', { mode: 0o600 })
  const script = `import { readPrivate } from ${JSON.stringify(module)}
    process.geteuid = () => process.getuid() + 1
    await readPrivate(${JSON.stringify(path)}, 100).catch((e) => process.stdout.write(e.code + ': ' + e.message))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(said).toBe(`io: cannot use the file "${path}": it belongs to another user of this machine`)
})
