import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { readOwn, readPrivate } from '../../src/disk/private-modes.ts'
import { faultRow } from '../harness/faults/fault-row.ts'
import { plantCode } from '../harness/planted-code.ts'
import { start } from '../harness/process.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const fault = faultRow('parent-folder', 'believed or run')

const foreignUid = 54_321
const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
) as { version: string }
const isRoot = process.getuid?.() === 0

/**
 * A folder of another account, which exchanges `ours` in it for its own `theirs` without end; both hold the same files.
 */
function swapped(fill: (folder: string, whose: 'ours' | 'theirs') => void): string {
  const parent = temporaryFolder()
  for (const whose of ['ours', 'theirs'] as const) {
    mkdirSync(join(parent, whose), { mode: 0o700 })
    fill(join(parent, whose), whose)
  }
  execFileSync('chown', ['-R', `${foreignUid}:${foreignUid}`, join(parent, 'theirs')])
  chownSync(parent, foreignUid, foreignUid)
  chmodSync(parent, 0o755)
  // What the program makes meanwhile is put out of the way.
  const swap = `n=0; while n=$((n + 1)); do
    mv -T ours kept; mv -T theirs ours; mv -T ours theirs
    mv -T kept ours || { mv -T ours made$n; mv -T kept ours; }
  done`
  const child = spawn('sh', ['-c', swap], { cwd: parent, uid: foreignUid, gid: foreignUid, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return join(parent, 'ours')
}

/** How often each came of reading, at least 1,000 times and until all that are `wanted` came. */
async function outcomes(
  read: () => Promise<string | undefined>,
  wanted: readonly string[],
): Promise<Map<string, number>> {
  const met = new Map<string, number>()
  for (let round = 0; round < 1_000 || wanted.some((each) => !met.has(each)); round += 1) {
    const outcome =
      (await read().catch((error: Error) => error.message.replace(/^cannot \w+ the \w+ "[^"]*": /, ''))) ??
      'missing'
    met.set(outcome, (met.get(outcome) ?? 0) + 1)
  }
  const believed = met.get('theirs') ?? 0
  const rounds = [...met.values()].reduce((sum, count) => sum + count, 0)
  fault.cases(rounds, rounds - believed)
  return met
}

const file = (folder: string, whose: string): void =>
  writeFileSync(join(folder, 'file'), whose, { mode: 0o600 })

test('settings that the owner of the folder above exchanges are not believed, whosever they are', async () => {
  if (!isRoot) return fault.notTried('only root can give files to another account')
  const folder = swapped(file)
  const read = async () => (await readPrivate(join(folder, 'file'), 100, folder))?.text
  expect(Object.fromEntries(await outcomes(read, []))).toEqual({
    [`"${dirname(folder)}", which contains it, belongs to another user of this machine`]: 1_000,
  })
})

test('a manifest that the owner of the folder above exchanges is believed where it is ours alone', async () => {
  if (!isRoot) return fault.notTried('only root can give files to another account')
  const folder = swapped(file)
  const foreign = 'it belongs to another user of this machine'
  const met = await outcomes(async () => readOwn(join(folder, 'file'), 100), ['ours', foreign])
  expect(met.has('theirs')).toBe(false)
})

test('compiled code that the owner of the folder above exchanges is never run, whosever it is', async () => {
  if (!isRoot) return fault.notTried('only root can give files to another account')
  const env = emptyEnv(temporaryFolder())
  expect(await start(['config', 'list'], env).ended).toBe(0)
  const folder = swapped((to) => {
    const cache = join(to, 'compile-cache')
    execFileSync('cp', ['-a', join(env['REFCHECK_DATA_DIR'] ?? '', 'compile-cache'), cache])
    plantCode(join(cache, version, 'config.list'))
  })
  const rounds = 20
  let poisoned = 0
  for (let round = 0; round < rounds; round += 1) {
    const run = start(['config', 'list'], { ...env, REFCHECK_DATA_DIR: folder })
    await run.ended
    if (run.stderr().includes('poisoned')) poisoned += 1
  }
  fault.cases(rounds, rounds - poisoned)
  expect(poisoned).toBe(0)
})
