import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const root = join(import.meta.dirname, '..', '..')

function run(argv: readonly string[], folder: string) {
  const env = { PATH: process.env['PATH'] ?? '', ...emptyEnv(folder) }
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin', 'run.js'), ...argv], {
    env,
  })
  return { status, stdout: stdout.toString(), stderr: stderr.toString() }
}

test('--version is the package’s, and leaves nothing behind', () => {
  const folder = temporaryFolder()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(run(['--version'], folder)).toEqual({ status: 0, stdout: `refcheck ${version}\n`, stderr: '' })
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('compiled code is kept where there is a data folder, and answers alike', () => {
  const [bare, kept] = [temporaryFolder(), temporaryFolder()]
  mkdirSync(join(kept, 'data'), { mode: 0o700 })
  for (const argv of [['--help'], ['batch', 'run', '--help'], ['nothing'], ['config', 'list', '--json']]) {
    const first = run(argv, kept)
    expect(run(argv, kept)).toEqual(first)
    expect(run(argv, bare)).toEqual(first)
  }
  expect(existsSync(join(kept, 'data', 'compile-cache'))).toBe(true)
  expect(existsSync(join(bare, 'data'))).toBe(false)
})
