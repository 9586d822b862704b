import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { readOwn, readPrivate } from '../../src/disk/private-modes.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { plantCode } from '../harness/planted-code.ts'
import { startProgram } from '../harness/process.ts'
import { emptyEnv, temporaryFolder } from '../harness/world.ts'

const faultRow = recordForFaultTable('parent-folder', { mustNotHappen: 'read or run' })

const foreignUid = 54_321
const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
) as { version: string }
const isRoot = process.getuid?.() === 0

/**
 * Creates a folder of another account, which repeatedly exchanges `ours` in it for its own `theirs`. Both have the same files.
 */
function createSwappedFolder(fill: (folder: string, owner: 'ours' | 'theirs') => void): string {
  const parent = temporaryFolder()
  for (const owner of ['ours', 'theirs'] as const) {
    mkdirSync(join(parent, owner), { mode: 0o700 })
    fill(join(parent, owner), owner)
  }
  execFileSync('chown', ['-R', `${foreignUid}:${foreignUid}`, join(parent, 'theirs')])
  chownSync(parent, foreignUid, foreignUid)
  chmodSync(parent, 0o755)
  // Folders that the program creates meanwhile are moved away.
  const swap = `n=0; while n=$((n + 1)); do
    mv -T ours kept; mv -T theirs ours; mv -T ours theirs
    mv -T kept ours || { mv -T ours made$n; mv -T kept ours; }
  done`
  const child = spawn('sh', ['-c', swap], { cwd: parent, uid: foreignUid, gid: foreignUid, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return join(parent, 'ours')
}

/** Counts the outcomes of reading, in at least 1,000 rounds and until each of `requiredOutcomes` has occurred. */
async function countOutcomes(
  read: () => Promise<string | undefined>,
  requiredOutcomes: readonly string[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let round = 0; round < 1_000 || requiredOutcomes.some((each) => !counts.has(each)); round += 1) {
    const outcome =
      (await read().catch((error: Error) => error.message.replace(/^cannot \w+ the \w+ "[^"]*": /, ''))) ??
      'missing'
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  const foreignCount = counts.get('theirs') ?? 0
  const rounds = [...counts.values()].reduce((sum, count) => sum + count, 0)
  faultRow.countCases(rounds, rounds - foreignCount)
  return counts
}

const writeOwnerFile = (folder: string, owner: string): void =>
  writeFileSync(join(folder, 'file'), owner, { mode: 0o600 })

test('settings are never read if the owner of the parent folder can exchange them', async () => {
  if (!isRoot) return faultRow.markNotTried('only root can give files to another account')
  const folder = createSwappedFolder(writeOwnerFile)
  const read = async () => (await readPrivate(join(folder, 'file'), 100, folder))?.text
  expect(Object.fromEntries(await countOutcomes(read, []))).toEqual({
    [`"${dirname(folder)}", which contains it, belongs to another user of this machine`]: 1_000,
  })
})

test('a manifest that the owner of the parent folder exchanges is read only if it is our own', async () => {
  if (!isRoot) return faultRow.markNotTried('only root can give files to another account')
  const folder = createSwappedFolder(writeOwnerFile)
  const foreign = 'it belongs to another user of this machine'
  const counts = await countOutcomes(async () => readOwn(join(folder, 'file'), 100), ['ours', foreign])
  expect(counts.has('theirs')).toBe(false)
})

test('compiled code is never run if the owner of the parent folder can exchange it', async () => {
  if (!isRoot) return faultRow.markNotTried('only root can give files to another account')
  const env = emptyEnv(temporaryFolder())
  expect(await startProgram(['config', 'list'], env).ended).toBe(0)
  const folder = createSwappedFolder((to) => {
    const cache = join(to, 'compile-cache')
    execFileSync('cp', ['-a', join(env['REFCHECK_DATA_DIR'] ?? '', 'compile-cache'), cache])
    plantCode(join(cache, version, 'config.list'))
  })
  const rounds = 20
  let poisonedCount = 0
  for (let round = 0; round < rounds; round += 1) {
    const run = startProgram(['config', 'list'], { ...env, REFCHECK_DATA_DIR: folder })
    await run.ended
    if (run.stderr().includes('poisoned')) poisonedCount += 1
  }
  faultRow.countCases(rounds, rounds - poisonedCount)
  expect(poisonedCount).toBe(0)
})
