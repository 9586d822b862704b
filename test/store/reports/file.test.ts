import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import {
  hashFile,
  FolderFlushes,
  isPdfFile,
  isWholePdf,
  makeFoldersBelow,
  findObstacle,
  moveIntoFolder,
  readText,
  findExisting,
  lstatOrUndefined,
} from '../../../src/store/reports/file.ts'
import { HeldFolder } from '../../../src/disk/held-folder.ts'
import { writeTemporary } from '../../../src/disk/whole-file.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'refcheck-file-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const at = (name: string): string => join(root, name)
const put = (name: string, text: string): string => {
  writeFileSync(at(name), text)
  return at(name)
}
const hashOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

/** A file, a folder, a link to either, and a pipe, each under its name. */
function oneOfEach(): void {
  put('file', 'x')
  mkdirSync(at('folder'))
  symlinkSync(at('file'), at('link'))
  symlinkSync(at('folder'), at('folder-link'))
  execFileSync('mkfifo', [at('pipe')])
}

test('a list is read completely; a list that does not exist has no text', async () => {
  expect(await readText(put('manifest.json', '[]'))).toBe('[]')
  expect(await readText(at('missing'))).toBeUndefined()
})

test.each(['folder', 'link', 'pipe'])('a %s at the path of a list is refused', async (name) => {
  oneOfEach()
  await expect(readText(at(name))).rejects.toMatchObject({ code: 'io' })
})

test('a list of 64 MiB is read, and a larger one is refused', async () => {
  const path = put('manifest.json', '')
  truncateSync(path, 67_108_864)
  expect((await readText(path))?.length).toBe(67_108_864)
  truncateSync(path, 67_108_865)
  await expect(readText(path)).rejects.toMatchObject({
    code: 'io',
    message: `cannot read "${path}": it is larger than 67108864 bytes`,
  })
})

test('a file is described by its size and hash', async () => {
  const text = 'x'.repeat(600_000)
  expect(await hashFile(put('a', text))).toEqual({ bytes: 600_000, sha256: hashOf(text) })
  await expect(hashFile(at('missing'))).rejects.toMatchObject({ code: 'io' })
})

test.each([
  ['both marks', '%PDF-1.7 %%EOF', true],
  ['its end mark 1,024 bytes before the end', `%PDF-1.7 %%EOF${' '.repeat(1019)}`, true],
  ['its end mark one byte earlier', `%PDF-1.7 %%EOF${' '.repeat(1020)}`, false],
  ['no end', '%PDF-1.7', false],
  ['another beginning', '<!doctype html>%%EOF', false],
  ['nothing in it', '', false],
])('a file with %s: a whole PDF or not', async (_name, text, isWhole) => {
  expect(await isWholePdf(put('a.pdf', text))).toBe(isWhole)
  expect(await isPdfFile(at('a.pdf'))).toBe(isWhole)
})

test('a link to a PDF, and nothing, are no PDF', async () => {
  put('real.pdf', '%PDF-1.7 %%EOF')
  symlinkSync(at('real.pdf'), at('link.pdf'))
  await expect(isWholePdf(at('link.pdf'))).rejects.toMatchObject({ code: 'io' })
  expect([await isPdfFile(at('link.pdf')), await isPdfFile(at('missing.pdf'))]).toEqual([false, false])
})

test('what stands at a path: a link to a folder counts as one, any other link as a file', async () => {
  oneOfEach()
  symlinkSync(at('missing'), at('dangling'))
  const names = ['file', 'folder', 'link', 'folder-link', 'dangling', 'missing']
  expect(await Promise.all(names.map((name) => findExisting(at(name))))).toEqual([
    'file',
    'folder',
    'file',
    'folder',
    'file',
    'nothing',
  ])
  await expect(findExisting(at('file/below'))).rejects.toMatchObject({ code: 'io' })
})

test('a path below a file does not exist, and a name that no disk accepts throws IoError', () => {
  oneOfEach()
  expect(lstatOrUndefined(at('link'))?.isSymbolicLink()).toBe(true)
  expect([lstatOrUndefined(at('missing')), lstatOrUndefined(at('file/below'))]).toEqual([
    undefined,
    undefined,
  ])
  expect(() => lstatOrUndefined(at('x'.repeat(300)))).toThrow(expect.objectContaining({ code: 'io' }))
})

test.each([
  ['new.pdf', undefined],
  ['file', undefined],
  ['folder/new.pdf', undefined],
  ['new/deep/new.pdf', undefined],
  ['link', 'it is a symbolic link'],
  ['folder', 'it is a folder'],
  ['pipe', 'it is not a regular file'],
  ['folder-link/new.pdf', 'its folder "folder-link" is a symbolic link'],
  ['file/new.pdf', 'its folder "file" is a file'],
  ['folder/link/new.pdf', 'its folder "folder/link" is a symbolic link'],
])('a file %s: in the way is %s', (file, why) => {
  oneOfEach()
  symlinkSync(at('folder'), at('folder/link'))
  expect(findObstacle(root, file)).toBe(why)
})

test('folders are created one by one, and none through a link', async () => {
  oneOfEach()
  const held = HeldFolder.open(root)
  const made = await makeFoldersBelow(held, 'folder/b/c/a.pdf', new FolderFlushes())
  expect(statSync(at('folder/b/c')).isDirectory()).toBe(true)
  expect(statSync(at('folder/b')).mode & 0o777).toBe(0o700)
  for (const file of ['folder-link/a.pdf', 'file/a.pdf']) {
    await expect(makeFoldersBelow(held, file, new FolderFlushes())).rejects.toMatchObject({ code: 'io' })
  }
  made.close()
  held.close()
})

async function* content(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

test.each([
  ['one piece', [5]],
  ['nothing', []],
  ['empty pieces among others', [0, 3, 0]],
  ['just what is written at once', [524_288]],
  ['more than is written at once', [300_000, 300_000, 300_000, 1]],
  ['a piece that is larger than that', [1_500_000, 7]],
])('%s comes to the disk whole', async (_name, sizes) => {
  const pieces = sizes.map((size, number) => Buffer.alloc(size, `${number}`))
  const seen: boolean[] = []
  await writeTemporary(at('a.part'), at('a.pdf'), content(pieces), {
    onContentEnd: () => seen.push(existsSync(at('a.part'))),
  })
  expect(readFileSync(at('a.part')).equals(Buffer.concat(pieces))).toBe(true)
  expect(statSync(at('a.part')).mode & 0o777).toBe(0o600)
  // What fits into one write is written when all of it came.
  expect(seen).toEqual([sizes.reduce((sum, each) => sum + each, 0) >= 524_288])
})

test('a temporary file that cannot be made is reported by the name of its target', async () => {
  const work = writeTemporary(at('missing/a.part'), at('a.pdf'), content([Buffer.from('x')]))
  await expect(work).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining(at('a.pdf')) as string,
  })
})

test('a name is given once: the same bytes are there, others stay, and are replaced when asked', async () => {
  const target = (text: string, replace: boolean) =>
    moveIntoFolder(put('a.part', text), at('a.pdf'), replace, hashOf(text))
  expect(await target('one', false)).toBe('stored')
  expect(await target('one', false)).toBe('there')
  expect(await target('two', false)).toBe('another')
  expect(readFileSync(at('a.pdf'), 'utf8')).toBe('one')
  expect(await target('two', true)).toBe('stored')
  expect(readFileSync(at('a.pdf'), 'utf8')).toBe('two')
})

test.each([false, true])(
  'a folder that has gone is a failure of the disk, replaced or not: %s',
  async (replace) => {
    const work = moveIntoFolder(put('a.part', 'x'), at('gone/a.pdf'), replace, hashOf('x'))
    await expect(work).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('gone') as string,
    })
  },
)

test('where no second name can be given, and the first cannot be changed, the name is free again', async () => {
  // No system gives a folder a second name, nor puts it in the place of a file.
  mkdirSync(at('a.part'))
  await expect(moveIntoFolder(at('a.part'), at('a.pdf'), false, hashOf('x'))).rejects.toMatchObject({
    code: 'io',
  })
  expect(readdirSync(root)).toEqual(['a.part'])
})

/** Returns the open files of this process, on systems that list them. */
const open = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)

test('no file stays open, whatever the result is', async () => {
  oneOfEach()
  put('a.pdf', '%PDF-1.7 %%EOF')
  const before = open()
  async function* failed(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(600_000)
    throw new Error('cut')
  }
  for (let round = 0; round < 20; round += 1) {
    await readText(at('a.pdf'))
    await isWholePdf(at('a.pdf'))
    await readText(at('folder')).catch(() => undefined)
    await writeTemporary(at('a.part'), at('b.pdf'), content([Buffer.alloc(600_000), Buffer.alloc(10)]))
    rmSync(at('a.part'))
    await writeTemporary(at('a.part'), at('b.pdf'), failed()).catch(() => undefined)
  }
  expect(open()).toBeLessThan(before + 10)
})

test('flushes that are requested during a flush share the next one', async () => {
  const flushes = new FolderFlushes()
  const [first, second, third] = [flushes.flush(root), flushes.flush(root), flushes.flush(root)]
  expect(second).not.toBe(first)
  expect(second).toBeInstanceOf(Promise)
  expect(third).toBe(second)
  await Promise.all([first, second])
  const later = flushes.flush(root)
  expect(later).not.toBe(second)
  await later
})

test('a flush that fails does not prevent the next one', async () => {
  const flushes = new FolderFlushes()
  const first = flushes.flush(at('later'))
  const second = flushes.flush(at('later'))
  mkdirSync(at('later'))
  await expect(first).rejects.toMatchObject({ code: 'io' })
  await second
})
