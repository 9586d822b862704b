import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { emails, peopleFile } from '../../harness/batch-file.ts'
import { roomyWorld, temporaryFolder } from '../../harness/world.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

recordForFaultTable('replaced', 'ordered under both')

const root = join(import.meta.dirname, '..', '..', '..')

/** The program as it is installed, in a folder of its own. */
function installation(): string {
  const folder = temporaryFolder()
  for (const name of ['bin', 'dist', 'package.json', 'oclif.manifest.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  return folder
}

test('an upgrade that takes the program away under a batch stops no row, and the results are written', async () => {
  const rows = 150
  const { env, folder, sandbox } = await roomyWorld()
  const file = peopleFile(folder, emails(rows))
  const program = installation()
  const line = ['batch', 'run', file, '--package', '102', '--yes', '--quiet']
  const run = spawn(process.execPath, [join(program, 'bin', 'run.js'), ...line], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void run.kill('SIGKILL'))
  let errors = ''
  run.stderr.on('data', (data: Buffer) => (errors += data.toString()))
  const ended = once(run, 'close')
  while (sandbox.requests().length === 0 && run.exitCode === null) await setImmediate()
  rmSync(join(program, 'dist'), { recursive: true })
  const [code] = (await ended) as [number]
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(sandbox.requests()).toHaveLength(rows)
  const results = join(folder, 'people.results.csv')
  expect(existsSync(results)).toBe(true)
  expect(readFileSync(results, 'utf8').match(/accepted/g)).toHaveLength(rows)
})
