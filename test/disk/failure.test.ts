import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { diskFailure, systemErrorCode, isAlreadyExists } from '../../src/disk/failure.ts'

const failed = (code: string): Error => Object.assign(new Error(`${code}: refused, open '/x'`), { code })

test.each([
  ['ENOSPC', 'no space is left on the disk'],
  ['EDQUOT', 'your disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'the operation is not permitted'],
  ['EISDIR', 'it is a folder'],
  ['ELOOP', 'it is a symbolic link'],
  ['EIO', 'the disk or system reported EIO'],
])('%s in words, with what to do', (code, why) => {
  const cause = failed(code)
  expect(diskFailure('write', '/data/report.pdf', cause)).toMatchObject({
    code: 'io',
    message: `cannot write "/data/report.pdf": ${why}`,
    hint: expect.stringMatching(/\.$/),
    cause,
  })
})

test('what is no system error is said to be unknown', () => {
  expect(diskFailure('read', '/x', 'odd').message).toBe(
    'cannot read "/x": the disk or system reported an unknown error',
  )
  expect(systemErrorCode(Object.assign(new Error('odd'), { code: 7 }))).toBeUndefined()
})

test('only an IoError about an existing file is one', () => {
  expect(isAlreadyExists(diskFailure('write', '/x', failed('EEXIST')))).toBe(true)
  expect(isAlreadyExists(diskFailure('write', '/x', failed('EACCES')))).toBe(false)
  expect(isAlreadyExists(failed('EEXIST'))).toBe(false)
})

test('a real refusal of this machine reads the same', () => {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-failure-'))
  try {
    mkdirSync(join(folder, 'a'))
    let cause: unknown
    try {
      readFileSync(join(folder, 'a'))
    } catch (error) {
      cause = error
    }
    expect(diskFailure('read', 'a', cause).message).toBe('cannot read "a": it is a folder')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
