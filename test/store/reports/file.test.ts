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

const pathOf = (name: string): string => join(root, name)
const writeTestFile = (name: string, text: string): string => {
  writeFileSync(pathOf(name), text)
  return pathOf(name)
}
const hashOf = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex')

/** Creates a file, a folder, a link to each of the two, and a pipe, each named after its kind. */
function createOneOfEach(): void {
  writeTestFile('file', 'x')
  mkdirSync(pathOf('folder'))
  symlinkSync(pathOf('file'), pathOf('link'))
  symlinkSync(pathOf('folder'), pathOf('folder-link'))
  execFileSync('mkfifo', [pathOf('pipe')])
}

test('a manifest is read completely; a manifest that does not exist has no text', async () => {
  expect(await readText(writeTestFile('manifest.json', '[]'))).toBe('[]')
  expect(await readText(pathOf('missing'))).toBeUndefined()
})

test.each(['folder', 'link', 'pipe'])('a %s at the path of a manifest is refused', async (name) => {
  createOneOfEach()
  await expect(readText(pathOf(name))).rejects.toMatchObject({ code: 'io' })
})

test('a manifest of 64 MiB is read, and a larger one is refused', async () => {
  const path = writeTestFile('manifest.json', '')
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
  expect(await hashFile(writeTestFile('a', text))).toEqual({ bytes: 600_000, sha256: hashOf(text) })
  await expect(hashFile(pathOf('missing'))).rejects.toMatchObject({ code: 'io' })
})

test.each([
  ['both marks', '%PDF-1.7 %%EOF', true],
  ['its end mark 1,024 bytes before the end', `%PDF-1.7 %%EOF${' '.repeat(1019)}`, true],
  ['its end mark one byte earlier', `%PDF-1.7 %%EOF${' '.repeat(1020)}`, false],
  ['no end', '%PDF-1.7', false],
  ['another beginning', '<!doctype html>%%EOF', false],
  ['nothing in it', '', false],
])('whether a file with %s is a complete PDF', async (_name, text, isWhole) => {
  expect(await isWholePdf(writeTestFile('a.pdf', text))).toBe(isWhole)
  expect(await isPdfFile(pathOf('a.pdf'))).toBe(isWhole)
})

test('a link to a PDF and a missing file are no PDF files', async () => {
  writeTestFile('real.pdf', '%PDF-1.7 %%EOF')
  symlinkSync(pathOf('real.pdf'), pathOf('link.pdf'))
  await expect(isWholePdf(pathOf('link.pdf'))).rejects.toMatchObject({ code: 'io' })
  expect([await isPdfFile(pathOf('link.pdf')), await isPdfFile(pathOf('missing.pdf'))]).toEqual([
    false,
    false,
  ])
})

test('a link to a folder counts as a folder, and any other link as a file', async () => {
  createOneOfEach()
  symlinkSync(pathOf('missing'), pathOf('dangling'))
  const names = ['file', 'folder', 'link', 'folder-link', 'dangling', 'missing']
  expect(await Promise.all(names.map((name) => findExisting(pathOf(name))))).toEqual([
    'file',
    'folder',
    'file',
    'folder',
    'file',
    'nothing',
  ])
  await expect(findExisting(pathOf('file/below'))).rejects.toMatchObject({ code: 'io' })
})

test('a path below a file does not exist, and a name that no disk accepts throws IoError', () => {
  createOneOfEach()
  expect(lstatOrUndefined(pathOf('link'))?.isSymbolicLink()).toBe(true)
  expect([lstatOrUndefined(pathOf('missing')), lstatOrUndefined(pathOf('file/below'))]).toEqual([
    undefined,
    undefined,
  ])
  expect(() => lstatOrUndefined(pathOf('x'.repeat(300)))).toThrow(expect.objectContaining({ code: 'io' }))
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
])('the obstacle for a file at %s: %s', (file, why) => {
  createOneOfEach()
  symlinkSync(pathOf('folder'), pathOf('folder/link'))
  expect(findObstacle(root, file)).toBe(why)
})

test('folders are created one by one, and none through a link', async () => {
  createOneOfEach()
  const heldFolder = HeldFolder.open(root)
  const createdFolder = await makeFoldersBelow(heldFolder, 'folder/b/c/a.pdf', new FolderFlushes())
  expect(statSync(pathOf('folder/b/c')).isDirectory()).toBe(true)
  expect(statSync(pathOf('folder/b')).mode & 0o777).toBe(0o700)
  for (const file of ['folder-link/a.pdf', 'file/a.pdf']) {
    await expect(makeFoldersBelow(heldFolder, file, new FolderFlushes())).rejects.toMatchObject({
      code: 'io',
    })
  }
  createdFolder.close()
  heldFolder.close()
})

async function* content(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

test.each([
  ['one piece', [5]],
  ['nothing', []],
  ['empty pieces among others', [0, 3, 0]],
  ['exactly the size of one write', [524_288]],
  ['more than the size of one write', [300_000, 300_000, 300_000, 1]],
  ['a piece that is larger than one write', [1_500_000, 7]],
])('content with %s is written completely', async (_name, sizes) => {
  const pieces = sizes.map((size, number) => Buffer.alloc(size, `${number}`))
  const existedAtEnd: boolean[] = []
  await writeTemporary(pathOf('a.part'), pathOf('a.pdf'), content(pieces), {
    onContentEnd: () => existedAtEnd.push(existsSync(pathOf('a.part'))),
  })
  expect(readFileSync(pathOf('a.part')).equals(Buffer.concat(pieces))).toBe(true)
  expect(statSync(pathOf('a.part')).mode & 0o777).toBe(0o600)
  // Content that fits into one write is written once all of it was received.
  expect(existedAtEnd).toEqual([sizes.reduce((sum, each) => sum + each, 0) >= 524_288])
})

test('a temporary file that cannot be created is reported by the name of its target', async () => {
  const work = writeTemporary(pathOf('missing/a.part'), pathOf('a.pdf'), content([Buffer.from('x')]))
  await expect(work).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining(pathOf('a.pdf')) as string,
  })
})

test('a file with the same bytes is reported as there, and a file with other bytes is replaced only with `replace`', async () => {
  const move = (text: string, replace: boolean) =>
    moveIntoFolder(writeTestFile('a.part', text), pathOf('a.pdf'), replace, hashOf(text))
  expect(await move('one', false)).toBe('stored')
  expect(await move('one', false)).toBe('identical')
  expect(await move('two', false)).toBe('another')
  expect(readFileSync(pathOf('a.pdf'), 'utf8')).toBe('one')
  expect(await move('two', true)).toBe('stored')
  expect(readFileSync(pathOf('a.pdf'), 'utf8')).toBe('two')
})

test.each([false, true])('a missing folder causes IoError, with replace %s', async (replace) => {
  const work = moveIntoFolder(writeTestFile('a.part', 'x'), pathOf('gone/a.pdf'), replace, hashOf('x'))
  await expect(work).rejects.toMatchObject({
    code: 'io',
    message: expect.stringContaining('gone') as string,
  })
})

test('if the file can neither be linked nor renamed, no file is left at the target', async () => {
  // No system can hard-link a folder, or rename it to the path of a file.
  mkdirSync(pathOf('a.part'))
  await expect(moveIntoFolder(pathOf('a.part'), pathOf('a.pdf'), false, hashOf('x'))).rejects.toMatchObject({
    code: 'io',
  })
  expect(readdirSync(root)).toEqual(['a.part'])
})

/** Returns the number of open files of this process, on systems that list them. */
const countOpenFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0)

test('no file stays open, whatever the result is', async () => {
  createOneOfEach()
  writeTestFile('a.pdf', '%PDF-1.7 %%EOF')
  const before = countOpenFiles()
  async function* failingContent(): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(600_000)
    throw new Error('cut')
  }
  for (let round = 0; round < 20; round += 1) {
    await readText(pathOf('a.pdf'))
    await isWholePdf(pathOf('a.pdf'))
    await readText(pathOf('folder')).catch(() => undefined)
    await writeTemporary(
      pathOf('a.part'),
      pathOf('b.pdf'),
      content([Buffer.alloc(600_000), Buffer.alloc(10)]),
    )
    rmSync(pathOf('a.part'))
    await writeTemporary(pathOf('a.part'), pathOf('b.pdf'), failingContent()).catch(() => undefined)
  }
  expect(countOpenFiles()).toBeLessThan(before + 10)
})

test('flushes that are requested during a flush share the next one', async () => {
  const flushes = new FolderFlushes()
  const [first, second, third] = [flushes.flush(root), flushes.flush(root), flushes.flush(root)]
  expect(second).not.toBe(first)
  expect(second).toBeInstanceOf(Promise)
  expect(third).toBe(second)
  await Promise.all([first, second])
  const laterFlush = flushes.flush(root)
  expect(laterFlush).not.toBe(second)
  await laterFlush
})

test('a flush that fails does not prevent the next one', async () => {
  const flushes = new FolderFlushes()
  const first = flushes.flush(pathOf('later'))
  const second = flushes.flush(pathOf('later'))
  mkdirSync(pathOf('later'))
  await expect(first).rejects.toMatchObject({ code: 'io' })
  await second
})
