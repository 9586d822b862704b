import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { diskFailure, systemErrorCode, isAlreadyExists } from '../../src/disk/failure.ts'

const createSystemError = (code: string): Error =>
  Object.assign(new Error(`${code}: refused, open '/x'`), { code })

test.each([
  ['ENOSPC', 'no space is left on the disk'],
  ['EDQUOT', 'your disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'the operation is not permitted'],
  ['EISDIR', 'it is a folder'],
  ['ELOOP', 'it is a symbolic link'],
  ['EIO', 'the disk or system reported EIO'],
])('the error for %s states the reason and has a hint', (code, reason) => {
  const cause = createSystemError(code)
  expect(diskFailure('write', '/data/report.pdf', cause)).toMatchObject({
    code: 'io',
    message: `cannot write "/data/report.pdf": ${reason}`,
    hint: expect.stringMatching(/\.$/),
    cause,
  })
})

test('a value that is not a system error is reported as unknown', () => {
  expect(diskFailure('read', '/x', 'odd').message).toBe(
    'cannot read "/x": the disk or system reported an unknown error',
  )
  expect(systemErrorCode(Object.assign(new Error('odd'), { code: 7 }))).toBeUndefined()
})

test('isAlreadyExists is true only for an IoError about an existing file', () => {
  expect(isAlreadyExists(diskFailure('write', '/x', createSystemError('EEXIST')))).toBe(true)
  expect(isAlreadyExists(diskFailure('write', '/x', createSystemError('EACCES')))).toBe(false)
  expect(isAlreadyExists(createSystemError('EEXIST'))).toBe(false)
})

test('a real error of this machine has the same message', () => {
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
