import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { createEmails, writePeopleFile } from '../../harness/batch-file.ts'
import { worldWithLargeQuota, temporaryFolder } from '../../harness/world.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('replaced', { mustNotHappen: 'ordered under both' })

const root = join(import.meta.dirname, '..', '..', '..')

/** Copies the files of the installed program to a new folder, and returns the folder. */
function installProgram(): string {
  const folder = temporaryFolder()
  for (const name of ['bin', 'dist', 'package.json', 'oclif.manifest.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  return folder
}

test('if an upgrade removes the program during a batch, every row is still ordered, and the results are written', async () => {
  const rowCount = 150
  const { env, folder, sandbox } = await worldWithLargeQuota()
  const file = writePeopleFile(folder, createEmails(rowCount))
  const programFolder = installProgram()
  const argv = ['batch', 'run', file, '--package', '102', '--yes', '--quiet']
  const run = spawn(process.execPath, [join(programFolder, 'bin', 'run.js'), ...argv], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void run.kill('SIGKILL'))
  let stderr = ''
  run.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  const ended = once(run, 'close')
  while (sandbox.requests().length === 0 && run.exitCode === null) await setImmediate()
  rmSync(join(programFolder, 'dist'), { recursive: true })
  const [code] = (await ended) as [number]
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(sandbox.requests()).toHaveLength(rowCount)
  const results = join(folder, 'people.results.csv')
  expect(existsSync(results)).toBe(true)
  expect(readFileSync(results, 'utf8').match(/accepted/g)).toHaveLength(rowCount)
})
