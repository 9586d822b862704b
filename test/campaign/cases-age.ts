import { copyFileSync, cpSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

import { batchRun, create, lines, people, person } from './cast.ts'
import type { Case } from './cases.ts'
import type { Stage } from './stage.ts'
import { counts, ends } from './checks.ts'

const section = 'Age'
const rows = 40

/**
 * Checks that a store that lost attempts sends nothing, that `store check` reports it, and that sending
 * continues after `--accept-older`.
 */
async function checkRollbackIsDetected(stage: Stage): Promise<void> {
  const before = stage.sandbox.requests().length
  // The results file would stop the orders too: it is an external result for each ordered person.
  rmSync(join(stage.folder, 'files', 'people.results.csv'), { force: true })
  for (const argv of [batchRun('people.csv'), create(person(99))])
    ends(await stage.run(argv), 1, 'is closed: ')
  counts(stage.sandbox.requests().length, before, 'orders of a closed store')
  ends(await stage.run(['store', 'check']), 1)
  ends(await stage.run(['store', 'check', '--accept-older', '--yes']), 0)
  await stage.run(batchRun('people.csv'))
  ends(await stage.run(create(person(99))), 0)
}

const removeStore = (stage: Stage): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(stage.storeOf() + suffix, { force: true })
}

const moments = [1, 16, 39]

/** A store that lost data, at several moments of a run. */
export const rollbackCases: readonly Case[] = moments.flatMap((at): Case[] => [
  {
    section,
    isSqliteOnly: true,
    what: `a backup made at row ${at} of ${rows} and restored`,
    async play(stage) {
      const file = stage.write('people.csv', lines(people(rows)))
      const work = () => stage.run(['store', 'backup', 'copy.sqlite'])
      await stage.run(batchRun(file), { meanwhile: { at, work } })
      removeStore(stage)
      copyFileSync(join(stage.folder, 'files', 'copy.sqlite'), stage.storeOf())
      await checkRollbackIsDetected(stage)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the -wal removed after SIGKILL at row ${at}`,
    async play(stage) {
      const file = stage.write('people.csv', lines(people(rows)))
      ends(await stage.run(batchRun(file, '--max', '1')), 10)
      await stage.run(batchRun(file), { killAt: at })
      rmSync(`${stage.storeOf()}-wal`, { force: true })
      rmSync(`${stage.storeOf()}-shm`, { force: true })
      await checkRollbackIsDetected(stage)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the -wal cut after SIGKILL at row ${at}`,
    async play(stage) {
      const file = stage.write('people.csv', lines(people(rows)))
      ends(await stage.run(batchRun(file, '--max', '1')), 10)
      await stage.run(batchRun(file), { killAt: at })
      truncateSync(`${stage.storeOf()}-wal`, 4096)
      rmSync(`${stage.storeOf()}-shm`, { force: true })
      await checkRollbackIsDetected(stage)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the data folder as it was at row ${at}`,
    async play(stage) {
      const file = stage.write('people.csv', lines(people(rows)))
      const copy = join(stage.folder, 'copy')
      const work = () => cpSync(stage.dataOf(), copy, { recursive: true })
      await stage.run(batchRun(file), { meanwhile: { at, work } })
      rmSync(stage.dataOf(), { recursive: true })
      renameSync(copy, stage.dataOf())
      await checkRollbackIsDetected(stage)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the store lost after row ${at}`,
    async play(stage) {
      const file = stage.write('people.csv', lines(people(rows)))
      await stage.run(batchRun(file), { killAt: at })
      removeStore(stage)
      await checkRollbackIsDetected(stage)
    },
  },
])
