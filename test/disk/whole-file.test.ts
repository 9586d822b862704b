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

recordForFaultTable('swapped', 'writes outside or partial')

const module = new URL('../../src/disk/whole-file.ts', import.meta.url).href
let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-whole-'))
  path = join(folder, 'report.pdf')
})
afterEach(() => rmSync(folder, { recursive: true }))

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

test.each([
  ['a string', 'grün'],
  ['bytes', Buffer.from('grün')],
  ['a stream of pieces', pieces('gr', 'ü', 'n')],
])('writes %s, private, and leaves nothing beside it', async (_name, content) => {
  await writeFileAtomically(path, content)
  expect(readFileSync(path, 'utf8')).toBe('grün')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('writes 5 MB that come in 100 pieces', async () => {
  const piece = systemRandom.bytes(50_000)
  async function* many(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 100; i++) yield piece
  }
  await writeFileAtomically(path, many())
  expect(readFileSync(path).equals(Buffer.concat(Array.from({ length: 100 }, () => piece)))).toBe(true)
})

test('replaces a regular file; its looser mode goes with it', async () => {
  writeFileSync(path, 'old')
  chmodSync(path, 0o644)
  await writeFileAtomically(path, 'new')
  expect(readFileSync(path, 'utf8')).toBe('new')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('the temporary file is as private as the file', async () => {
  const seen: number[] = []
  async function* watched(): AsyncGenerator<Uint8Array> {
    // More than is gathered before the file is made.
    yield Buffer.alloc(600_000)
    for (const name of readdirSync(folder)) seen.push(statSync(join(folder, name)).mode & 0o777)
  }
  await writeFileAtomically(path, watched())
  expect(seen).toEqual([0o600])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('overwrite: false leaves an existing file, and the error differs from others', async () => {
  await writeFileAtomically(path, 'first', { overwrite: false })
  const failure = await writeFileAtomically(path, 'second', { overwrite: false }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'io', message: `cannot write "${path}": it already exists` })
  expect(isAlreadyExists(failure)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('first')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('overwrite: false does not replace a file that appears while the content is coming', async () => {
  async function* late(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ours')
    writeFileSync(path, 'theirs')
  }
  const failure = await writeFileAtomically(path, late(), { overwrite: false }).catch(
    (error: unknown) => error,
  )
  expect(isAlreadyExists(failure)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('theirs')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('a symbolic link is refused and what it points to is left alone', async () => {
  const outside = join(folder, 'outside')
  writeFileSync(outside, 'untouched')
  symlinkSync(outside, path)
  await expect(writeFileAtomically(path, 'x')).rejects.toMatchObject({
    code: 'io',
    message: `cannot write "${path}": it is a symbolic link`,
    hint: 'Give the real file instead.',
  })
  expect(readFileSync(outside, 'utf8')).toBe('untouched')
  expect(lstatSync(path).isSymbolicLink()).toBe(true)
})

test('a link to nowhere is refused too, and nothing is made where it points', async () => {
  symlinkSync(join(folder, 'nowhere'), path)
  await expect(writeFileAtomically(path, 'x')).rejects.toThrow(/symbolic link/)
  expect(existsSync(join(folder, 'nowhere'))).toBe(false)
})

test('a link that appears while the content is coming is replaced, not followed', async () => {
  const outside = join(folder, 'outside')
  writeFileSync(outside, 'untouched')
  async function* late(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ours')
    symlinkSync(outside, path)
  }
  await writeFileAtomically(path, late())
  expect(readFileSync(outside, 'utf8')).toBe('untouched')
  expect(lstatSync(path).isFile()).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('ours')
})

test('a folder is refused; one that appears meanwhile fails the write and stays', async () => {
  mkdirSync(path)
  await expect(writeFileAtomically(path, 'x')).rejects.toThrow(/it is a folder/)
  const other = join(folder, 'other')
  async function* late(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('ours')
    mkdirSync(other)
  }
  await expect(writeFileAtomically(other, late())).rejects.toThrow(`cannot write "${other}": it is a folder`)
  expect(readdirSync(folder).sort()).toEqual(['other', 'report.pdf'])
})

test('a device or a pipe is refused, not written into or replaced', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', path])
  await expect(writeFileAtomically(path, 'x')).rejects.toThrow(/not a regular file/)
  await expect(writeFileAtomically('/dev/null', 'x')).rejects.toThrow(/not a regular file/)
})

test('a source that breaks leaves the old file, no temporary one, and its own error', async () => {
  writeFileSync(path, 'old')
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    throw reset
  }
  await expect(writeFileAtomically(path, broken())).rejects.toBe(reset)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('a missing folder, a file as a folder and an endless name are said plainly', async () => {
  await expect(writeFileAtomically(join(folder, 'no', 'x'), 'x')).rejects.toThrow(/no such file or folder/)
  writeFileSync(path, '')
  await expect(writeFileAtomically(join(path, 'x'), 'x')).rejects.toThrow(/a part of the path is a file/)
  await expect(writeFileAtomically(join(folder, 'n'.repeat(300)), 'x')).rejects.toThrow(
    /the name is too long/,
  )
})

test('a name of 255 bytes can be written', async () => {
  const long = join(folder, 'ü'.repeat(127))
  await writeFileAtomically(long, 'x')
  expect(readFileSync(long, 'utf8')).toBe('x')
})

test('a temporary name that is taken is neither followed nor reused', async () => {
  const random = { ...systemRandom, bytes: (count: number) => Buffer.alloc(count) }
  const outside = join(folder, 'outside')
  symlinkSync(outside, join(folder, '.report.pdf.0000000000000000.tmp'))
  const failure = await writeFileAtomically(path, 'x', { random, overwrite: false }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 'io' })
  expect(isAlreadyExists(failure)).toBe(false)
  expect(existsSync(outside)).toBe(false)
})

test('what a killed writer left is swept, nothing else', async () => {
  for (const name of ['.report.pdf.0123.tmp', '.report.xml.0123.tmp', 'report.pdf.tmp']) {
    writeFileSync(join(folder, name), '')
  }
  await removeTemporaries(path)
  expect(readdirSync(folder).sort()).toEqual(['.report.xml.0123.tmp', 'report.pdf.tmp'])
})

/** Runs `statements` (with `writeFileAtomically` imported) in another process, started by a shell after `before`. */
function elsewhere(before: string, statements: string): string {
  const script = `import { writeFileAtomically } from ${JSON.stringify(module)}\n${statements}`
  return execFileSync(
    'sh',
    ['-c', `${before}; exec "$0" "$@"`, process.execPath, '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
    },
  )
}

test('the mode is right from the start under umask 000', () => {
  elsewhere('umask 000', `await writeFileAtomically(${JSON.stringify(path)}, 'x')`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a disk that stops taking bytes: one sentence, the old file, nothing left next to it', () => {
  writeFileSync(path, 'old')
  const printed = elsewhere(
    'ulimit -f 8',
    `await writeFileAtomically(${JSON.stringify(path)}, Buffer.alloc(1e6)).catch((e) => process.stdout.write(e.code + ': ' + e.message))`,
  )
  expect(printed).toBe(`io: cannot write "${path}": the file would be larger than this account may write`)
  expect(readFileSync(path, 'utf8')).toBe('old')
  expect(readdirSync(folder)).toEqual(['report.pdf'])
})

test('a process that swaps the target for links and folders never gets a byte outside', async () => {
  const outside = join(folder, 'outside')
  const inner = join(folder, 'inner')
  const target = join(inner, 'report.pdf')
  writeFileSync(outside, 'untouched')
  mkdirSync(inner)
  const seed = Math.trunc(systemRandom.fraction() * 2 ** 31)
  const swap = `
    import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
    let state = ${seed}
    const next = (n) => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) % n
    const target = ${JSON.stringify(target)}
    process.stdout.write('swapping')
    for (;;) {
      try {
        rmSync(target, { recursive: true, force: true })
        if (next(3) === 0) symlinkSync(${JSON.stringify(outside)}, target)
        else if (next(3) === 0) mkdirSync(target)
        else if (next(3) === 0) writeFileSync(target, '')
      } catch {}
    }`
  const swapper = spawn(process.execPath, ['--input-type=module', '-e', swap])
  const ended = once(swapper, 'exit')
  try {
    await once(swapper.stdout, 'data')
    let written = 0
    for (let round = 0; round < 300; round++) {
      const done = await writeFileAtomically(target, 'ours', { overwrite: round % 2 === 0 }).then(
        () => true,
        (error: unknown) => {
          expect(error, `seed ${seed}`).toMatchObject({ code: 'io' })
          return false
        },
      )
      if (done) written++
      expect(readFileSync(outside, 'utf8'), `seed ${seed}, round ${round}`).toBe('untouched')
    }
    expect(written, `seed ${seed}`).toBeGreaterThan(0)
  } finally {
    swapper.kill('SIGKILL')
    await ended
  }
  expect(readdirSync(inner).filter((name) => name.endsWith('.tmp'))).toEqual([])
  expect(readdirSync(folder).sort()).toEqual(['inner', 'outside'])
})

test('a link in the path of a file is refused where another account could have put it', async () => {
  const [open, other] = [join(folder, 'open'), join(folder, 'other')]
  for (const each of [open, other]) mkdirSync(each)
  chmodSync(open, 0o777)
  symlinkSync(other, join(open, 'reports'))
  await expect(writeFileAtomically(join(open, 'reports', 'rows.csv'), 'a\n')).rejects.toThrow(
    `cannot use the folder "${join(open, 'reports')}": another user of this machine may have made the symbolic link`,
  )
  expect(readdirSync(other)).toEqual([])
})

test('a failure names the path of the file, and no descriptor of its folder', async () => {
  mkdirSync(path)
  await expect(writeFileAtomically(path, 'a\n')).rejects.toThrow(`cannot write "${path}": it is a folder`)
})
