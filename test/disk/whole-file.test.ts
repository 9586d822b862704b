import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { systemRandom } from '../../src/host/random.ts'
import { isAlreadyExists } from '../../src/disk/failure.ts'
import { removeTemporaries, writeFileAtomically } from '../../src/disk/whole-file.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `swapped` of the fault table (test/resilience/rows.ts).
recordForFaultTable('swapped', { mustNotHappen: 'writes outside or partial' })

const moduleUrl = new URL('../../src/disk/whole-file.ts', import.meta.url).href
let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-whole-'))
  path = join(folder, 'report.pdf')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function* streamTexts(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

test.each([
  ['a string', 'grün'],
  ['bytes', Buffer.from('grün')],
  ['a stream of pieces', streamTexts('gr', 'ü', 'n')],
])('content given as %s is written to a private file, and no other file remains', async (_label, content) => {
  await writeFileAtomically(path, content)
  expect(readFileSync(path, 'utf8')).toBe('grün')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('5 MB from a stream of 100 pieces are written', async () => {
  const piece = systemRandom.bytes(50_000)
  async function* streamPieces(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 100; i++) yield piece
  }
  await writeFileAtomically(path, streamPieces())
  expect(readFileSync(path).equals(Buffer.concat(Array.from({ length: 100 }, () => piece)))).toBe(true)
})

test('a regular file is replaced, and its looser mode is not kept', async () => {
  writeFileSync(path, 'old')
  chmodSync(path, 0o644)
  await writeFileAtomically(path, 'new')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('the temporary file is as private as the file', async () => {
  const modes: number[] = []
  async function* streamAndReadModes(): AsyncGenerator<Uint8Array> {
    // More bytes than are buffered before the temporary file is created.
    yield Buffer.alloc(600_000)
    for (const name of readdirSync(folder)) modes.push(statSync(join(folder, name)).mode & 0o777)
  }
  await writeFileAtomically(path, streamAndReadModes())
  expect(modes).toEqual([0o600])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('with overwrite: false an existing file is not changed, and isAlreadyExists is true for the error', async () => {
  await writeFileAtomically(path, 'first', { overwrite: false })
  const failure = await writeFileAtomically(path, 'second', { overwrite: false }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'io', message: `cannot write "${path}": it already exists` })
  expect(isAlreadyExists(failure)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('first')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('with overwrite: false a file that appears while the content is read is not replaced', async () => {
  async function* streamAndInterfere(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ours')
    writeFileSync(path, 'theirs')
  }
  const failure = await writeFileAtomically(path, streamAndInterfere(), { overwrite: false }).catch(
    (error: unknown) => error,
  )
  expect(isAlreadyExists(failure)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('theirs')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('a symbolic link is refused, and its target is not changed', async () => {
  const outsidePath = join(folder, 'outside')
  writeFileSync(outsidePath, 'untouched')
  symlinkSync(outsidePath, path)
  await expect(writeFileAtomically(path, 'x')).rejects.toMatchObject({
    code: 'io',
    message: `cannot write "${path}": it is a symbolic link`,
    hint: 'Give the real file instead.',
  })
  expect(readFileSync(outsidePath, 'utf8')).toBe('untouched')
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
})

test('a symbolic link without a target is refused, and its target is not created', async () => {
  symlinkSync(join(folder, 'nowhere'), path)
  await expect(writeFileAtomically(path, 'x')).rejects.toThrow(/symbolic link/)
  expect(existsSync(join(folder, 'nowhere'))).toBe(false)
})

test('a symbolic link that appears while the content is read is replaced, not followed', async () => {
  const outsidePath = join(folder, 'outside')
  writeFileSync(outsidePath, 'untouched')
  async function* streamAndInterfere(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ours')
    symlinkSync(outsidePath, path)
  }
  await writeFileAtomically(path, streamAndInterfere())
  expect(readFileSync(outsidePath, 'utf8')).toBe('untouched')
  expect(lstatSync(path).isFile()).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('ours')
})

test('a folder is refused, and a folder that appears while the content is read is not replaced', async () => {
  mkdirSync(path)
  await expect(writeFileAtomically(path, 'x')).rejects.toThrow(/it is a folder/)
  const other = join(folder, 'other')
  async function* streamAndInterfere(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ours')
    mkdirSync(other)
  }
  await expect(writeFileAtomically(other, streamAndInterfere())).rejects.toThrow(
    `cannot write "${other}": it is a folder`,
  )
  expect(readdirSync(folder).sort()).toEqual(['other', 'report.pdf'])
})

test('a device or a pipe is refused, and neither written to nor replaced', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', path])
  await expect(writeFileAtomically(path, 'x')).rejects.toThrow(/not a regular file/)
  await expect(writeFileAtomically('/dev/null', 'x')).rejects.toThrow(/not a regular file/)
})

test('if reading the content fails, its error is thrown, and only the old file remains', async () => {
  writeFileSync(path, 'old')
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  async function* streamAndFail(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    throw reset
  }
  await expect(writeFileAtomically(path, streamAndFail())).rejects.toBe(reset)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('the errors for a missing folder, a file as a folder and a name that is too long state the reason', async () => {
  await expect(writeFileAtomically(join(folder, 'no', 'x'), 'x')).rejects.toThrow(/no such file or folder/)
  writeFileSync(path, '')
  await expect(writeFileAtomically(join(path, 'x'), 'x')).rejects.toThrow(/a part of the path is a file/)
  await expect(writeFileAtomically(join(folder, 'n'.repeat(300)), 'x')).rejects.toThrow(
    /the name is too long/,
  )
})

test('a file with a name of 255 bytes is written', async () => {
  const longPath = join(folder, 'ü'.repeat(127))
  await writeFileAtomically(longPath, 'x')
  expect(readFileSync(longPath, 'utf8')).toBe('x')
})

test('an existing link at the temporary path is neither followed nor replaced', async () => {
  const random = { ...systemRandom, bytes: (count: number) => Buffer.alloc(count) }
  const outsidePath = join(folder, 'outside')
  symlinkSync(outsidePath, join(folder, '.report.pdf.0000000000000000.tmp'))
  const failure = await writeFileAtomically(path, 'x', { random, overwrite: false }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'io' })
  expect(isAlreadyExists(failure)).toBe(false)
  expect(existsSync(outsidePath)).toBe(false)
})

test('removeTemporaries removes only the temporary files of the given path', async () => {
  for (const name of ['.report.pdf.0123.tmp', '.report.xml.0123.tmp', 'report.pdf.tmp']) {
    writeFileSync(join(folder, name), '')
  }
  await removeTemporaries(path)
  expect(readdirSync(folder).sort()).toEqual(['.report.xml.0123.tmp', 'report.pdf.tmp'])
})

/** Runs statements that use `writeFileAtomically` in another process, which a shell starts after `shellCommand`. */
function runInOtherProcess(shellCommand: string, statements: string): string {
  const script = `import { writeFileAtomically } from ${JSON.stringify(moduleUrl)}\n${statements}`
  return execFileSync(
    'sh',
    ['-c', `${shellCommand}; exec "$0" "$@"`, process.execPath, '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
    },
  )
}

test('a file is private under umask 000', () => {
  runInOtherProcess('umask 000', `await writeFileAtomically(${JSON.stringify(path)}, 'x')`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('if the disk accepts no more bytes, the error is one sentence, and only the old file remains', () => {
  writeFileSync(path, 'old')
  const printed = runInOtherProcess(
    'ulimit -f 8',
    `await writeFileAtomically(${JSON.stringify(path)}, Buffer.alloc(1e6)).catch((e) => process.stdout.write(e.code + ': ' + e.message))`,
  )
  expect(printed).toBe(`io: cannot write "${path}": the file would be larger than this account may write`)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('no byte is written outside while another process replaces the target by links and folders', async () => {
  const outsidePath = join(folder, 'outside')
  const inner = join(folder, 'inner')
  const target = join(inner, 'report.pdf')
  writeFileSync(outsidePath, 'untouched')
  mkdirSync(inner)
  const seed = Math.trunc(systemRandom.fraction() * 2 ** 31)
  const swapScript = `
    import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
    let state = ${seed}
    const next = (n) => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) % n
    const target = ${JSON.stringify(target)}
    process.stdout.write('swapping')
    for (;;) {
      try {
        rmSync(target, { recursive: true, force: true })
        if (next(3) === 0) symlinkSync(${JSON.stringify(outsidePath)}, target)
        else if (next(3) === 0) mkdirSync(target)
        else if (next(3) === 0) writeFileSync(target, '')
      } catch {}
    }`
  const swapper = spawn(process.execPath, ['--input-type=module', '-e', swapScript])
  const swapperExit = once(swapper, 'exit')
  try {
    await once(swapper.stdout, 'data')
    let writtenCount = 0
    for (let round = 0; round < 300; round++) {
      const isWritten = await writeFileAtomically(target, 'ours', { overwrite: round % 2 === 0 }).then(
        () => true,
        (error: unknown) => {
          expect(error, `seed ${seed}`).toMatchObject({ code: 'io' })
          return false
        },
      )
      if (isWritten) writtenCount++
      expect(readFileSync(outsidePath, 'utf8'), `seed ${seed}, round ${round}`).toBe('untouched')
    }
    expect(writtenCount, `seed ${seed}`).toBeGreaterThan(0)
  } finally {
    swapper.kill('SIGKILL')
    await swapperExit
  }
  expect(readdirSync(inner).filter((name) => name.endsWith('.tmp'))).toEqual([])
  expect(readdirSync(folder).sort()).toEqual(['inner', 'outside'])
})

test('a symbolic link in the path is refused if another account could have made it', async () => {
  const [openFolder, otherFolder] = [join(folder, 'open'), join(folder, 'other')]
  for (const name of [openFolder, otherFolder]) mkdirSync(name)
  chmodSync(openFolder, 0o777)
  symlinkSync(otherFolder, join(openFolder, 'reports'))
  await expect(writeFileAtomically(join(openFolder, 'reports', 'rows.csv'), 'a\n')).rejects.toThrow(
    `cannot use the folder "${join(openFolder, 'reports')}": another user of this machine may have made the symbolic link`,
  )
  expect(readdirSync(otherFolder)).toEqual([])
})

test('the error of a failed write contains the path of the file, and no file descriptor', async () => {
  mkdirSync(path)
  await expect(writeFileAtomically(path, 'a\n')).rejects.toThrow(`cannot write "${path}": it is a folder`)
})
