import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { type ProgramResult, mountedFolder, runWithReadOnlyRoot } from '../harness/faults/read-only-root.ts'
import { orderArguments } from '../harness/people.ts'
import { startProgram } from '../harness/process.ts'
import { envOfReadyLine } from '../harness/service-env.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const faultRow = recordForFaultTable('container', { mustNotHappen: 'reported as working that then fails' })

const root = join(import.meta.dirname, '..', '..')
/** A uid that is not in /etc/passwd. */
const unnamedUid = 54_321

type Run = (argv: readonly string[], env?: Record<string, string>) => ProgramResult

/** Returns a function that runs the program with a read-only root and a service, or undefined if that is impossible. */
async function createContainer(): Promise<Run | undefined> {
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  copyFileSync(process.execPath, join(folder, 'node'))
  chmodSync(join(folder, 'node'), 0o755)
  for (const part of ['bin', 'dist', 'package.json', 'oclif.manifest.json'])
    cpSync(join(root, part), join(folder, 'app', part), { recursive: true })
  mkdirSync(join(folder, 'volume'))
  chownSync(join(folder, 'volume'), unnamedUid, unnamedUid)
  if (runWithReadOnlyRoot(folder, unnamedUid, ['true'], {}).status !== 0) return undefined
  const written = runWithReadOnlyRoot(
    folder,
    unnamedUid,
    ['sh', '-c', 'touch /x /usr/x; cp /bin/true /tmp/x && /tmp/x'],
    {},
  )
  expect(written.stderr).toMatch(/Read-only file system[^]*Permission denied/)
  const sandbox = startProgram(['sandbox', 'start', '--port', '0', '--json'], emptyEnv(temporaryFolder()))
  const service = envOfReadyLine(await sandbox.until('\n'))
  const program = [`${mountedFolder}/node`, `${mountedFolder}/app/bin/run.js`]
  return (argv, env = {}) =>
    runWithReadOnlyRoot(folder, unnamedUid, [...program, ...argv], { ...service, ...env })
}

const foldersIn = (base: string): Record<string, string> => ({
  REFCHECK_CONFIG_DIR: `${base}/config`,
  REFCHECK_DATA_DIR: `${base}/data`,
})

const environments: readonly (readonly [what: string, env: Record<string, string>, canOrder: boolean])[] = [
  ['a volume', foldersIn(`${mountedFolder}/volume`), true],
  ['a /tmp where nothing can be executed', foldersIn('/tmp/refcheck'), true],
  ['HOME on the volume', { HOME: `${mountedFolder}/volume` }, true],
  ['a folder of the read-only root', foldersIn('/usr/refcheck'), false],
  ['HOME on the read-only root', { HOME: '/usr' }, false],
  [
    'a folder of the read-only root, the store in memory',
    { ...foldersIn('/usr/refcheck'), REFCHECK_STORE: ':memory:' },
    true,
  ],
]

test('with a read-only root and a noexec /tmp, orders work if doctor reports no failure, and are refused otherwise', async () => {
  if (process.getuid?.() !== 0) return faultRow.markNotTried('only root can make a mount namespace')
  const run = await createContainer()
  if (run === undefined) return faultRow.markNotTried('unshare --mount is not permitted here')
  const failures: string[] = []
  for (const [what, env, canOrder] of environments) {
    const reads = ['packages list', 'schema show 102', 'users list'].map(
      (line) => run(line.split(' '), env).status,
    )
    const doctor = run(['doctor', '--json'], env)
    const order = run(orderArguments('Priya'), env)
    // An order may also work if doctor reports a failure.
    const agreesWithDoctor = doctor.status !== 0 || order.status === 0
    const hasNoInternalError = !/internal error|^ +at /m.test(doctor.stderr + order.stderr)
    if (
      reads.some((status) => status !== 0) ||
      !agreesWithDoctor ||
      !hasNoInternalError ||
      (order.status === 0) !== canOrder
    )
      failures.push(
        `${what}: reads ${reads.join()}, doctor ${doctor.status}, order ${order.status}: ${order.stderr}`,
      )
  }
  faultRow.countCases(environments.length, environments.length - failures.length)
  faultRow.addNote('read-only root and noexec /tmp by a mount namespace')
  expect(failures).toEqual([])
})
