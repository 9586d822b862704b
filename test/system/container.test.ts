import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { orderArguments } from '../harness/people.ts'
import { startProgram } from '../harness/process.ts'
import { envOfReadyLine } from '../harness/service-env.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('container', { mustNotHappen: 'reported as working that then fails' })

const root = join(import.meta.dirname, '..', '..')
/** A uid that is not in /etc/passwd. */
const unnamedUid = 54_321

/** Copies the program and Node to a folder that every account can read, and creates a volume that `unnamedUid` owns. */
function createContainer() {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  const node = join(folder, 'node')
  copyFileSync(process.execPath, node)
  chmodSync(node, 0o755)
  for (const part of ['bin', 'dist', 'package.json', 'oclif.manifest.json'])
    cpSync(join(root, part), join(folder, 'app', part), { recursive: true })
  const volume = join(folder, 'volume')
  mkdirSync(volume)
  chownSync(volume, unnamedUid, unnamedUid)
  const run = (argv: readonly string[], env: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync(node, [join(folder, 'app', 'bin', 'run.js'), ...argv], {
      env,
      cwd: '/',
      uid: unnamedUid,
      gid: unnamedUid,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }
  const folders = (base: string) => ({
    REFCHECK_CONFIG_DIR: join(folder, base, 'config'),
    REFCHECK_DATA_DIR: join(folder, base, 'data'),
  })
  return { folder, run, folders }
}

/** Only root can run a process with another uid. */
function isRoot(): boolean {
  if (process.getuid?.() === 0) return true
  console.log('a uid without a name: not tried, only root can take one')
  return false
}

/** Starts a sandbox in another process, because `spawnSync` blocks this one. */
async function startService() {
  const running = startProgram(['sandbox', 'start', '--port', '0', '--json'], emptyEnv(temporaryFolder()))
  return envOfReadyLine(await running.until('\n'))
}

test('an account without a name and without HOME can order with its two folders on one volume', async () => {
  if (!isRoot()) return
  const { run, folders } = createContainer()
  const env = { ...folders('volume'), ...(await startService()) }
  const checks = run(['doctor', '--json'], env)
  expect({ ...checks, stdout: '' }).toEqual({ status: 0, stdout: '', stderr: '' })
  expect(checks.stdout).not.toContain('"warn"')
  expect(run(orderArguments('Priya'), env)).toMatchObject({ status: 0 })
  expect(run(orderArguments('Priya'), env)).toMatchObject({ status: 2 })
  // oclif handles a wrong word, and flags before the command.
  expect(run(['request', 'lst'], env)).toMatchObject({ status: 2, stdout: '' })
  expect(run(['--json', 'request', 'list'], env).stderr).not.toContain('internal error')
  expect(run(['packages', 'list'], {})).toMatchObject({
    status: 2,
    stderr:
      'Error: this account has no home folder, so there is no place for settings and the store\n' +
      'Set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR to folders on a volume that lasts.\n',
  })
})

test('if nothing can be written, reads work, doctor reports what will fail, and an order is refused before it is sent', async () => {
  if (!isRoot()) return
  const { folder, run, folders } = createContainer()
  const env = { ...folders('nowhere'), ...(await startService()) }
  for (const line of ['packages list', 'schema show 102', 'users list'])
    expect(run(line.split(' '), env)).toMatchObject({ status: 0 })
  const { status, stdout } = run(['doctor'], env)
  expect(status).toBe(1)
  expect(stdout).toContain(
    `fail  writing       cannot make the folder "${folder}/nowhere/config": permission denied\n`,
  )
  expect(stdout).toContain('warn  store         not checked, because "writing" failed\n')
  expect(run(orderArguments('Priya'), env)).toMatchObject({ status: 1, stdout: '' })
  // With settings on the volume and a store in memory, only the caches are missing.
  const withoutCaches = {
    ...env,
    REFCHECK_CONFIG_DIR: folders('volume').REFCHECK_CONFIG_DIR,
    REFCHECK_STORE: ':memory:',
  }
  expect(run(['doctor'], withoutCaches)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /^warn {2}writing {7}cannot make the folder ".*": permission denied; commands start slower without their caches$/m,
    ) as string,
  })
  expect(run(orderArguments('Priya'), withoutCaches)).toMatchObject({ status: 0 })
})
