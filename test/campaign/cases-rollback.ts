import { copyFileSync, cpSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

import { batchRunArguments, createArguments, csvLines, people, person } from './people.ts'
import type { Case } from './cases.ts'
import type { CampaignEnvironment } from './environment.ts'
import { expectCount, expectExit } from './checks.ts'

const section = 'Rollback detection'
const rows = 40

/**
 * Checks that a store that lost attempts sends nothing, that `store check` reports it, and that sending
 * continues after `--accept-older`.
 */
async function checkRollbackIsDetected(environment: CampaignEnvironment): Promise<void> {
  const before = environment.sandbox.requests().length
  // The results file would stop the orders too: it is an external result for each ordered person.
  rmSync(join(environment.folder, 'files', 'people.results.csv'), { force: true })
  for (const argv of [batchRunArguments('people.csv'), createArguments(person(99))])
    expectExit(await environment.run(argv), 1, 'is closed: ')
  expectCount(environment.sandbox.requests().length, before, 'orders of a closed store')
  expectExit(await environment.run(['store', 'check']), 1)
  expectExit(await environment.run(['store', 'check', '--accept-older', '--yes']), 0)
  await environment.run(batchRunArguments('people.csv'))
  expectExit(await environment.run(createArguments(person(99))), 0)
}

const removeStore = (environment: CampaignEnvironment): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(environment.storePathOf() + suffix, { force: true })
}

const moments = [1, 16, 39]

/** A store that lost data, at several points of a run. */
export const rollbackCases: readonly Case[] = moments.flatMap((at): Case[] => [
  {
    section,
    isSqliteOnly: true,
    what: `a backup made at row ${at} of ${rows} and restored`,
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(rows)))
      const work = () => environment.run(['store', 'backup', 'copy.sqlite'])
      await environment.run(batchRunArguments(file), { meanwhile: { at, work } })
      removeStore(environment)
      copyFileSync(join(environment.folder, 'files', 'copy.sqlite'), environment.storePathOf())
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the -wal removed after SIGKILL at row ${at}`,
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(rows)))
      expectExit(await environment.run(batchRunArguments(file, '--max', '1')), 10)
      await environment.run(batchRunArguments(file), { killAt: at })
      rmSync(`${environment.storePathOf()}-wal`, { force: true })
      rmSync(`${environment.storePathOf()}-shm`, { force: true })
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the -wal cut after SIGKILL at row ${at}`,
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(rows)))
      expectExit(await environment.run(batchRunArguments(file, '--max', '1')), 10)
      await environment.run(batchRunArguments(file), { killAt: at })
      truncateSync(`${environment.storePathOf()}-wal`, 4096)
      rmSync(`${environment.storePathOf()}-shm`, { force: true })
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the data folder as it was at row ${at}`,
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(rows)))
      const copy = join(environment.folder, 'copy')
      const work = () => cpSync(environment.dataFolderOf(), copy, { recursive: true })
      await environment.run(batchRunArguments(file), { meanwhile: { at, work } })
      rmSync(environment.dataFolderOf(), { recursive: true })
      renameSync(copy, environment.dataFolderOf())
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    what: `the store lost after row ${at}`,
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(rows)))
      await environment.run(batchRunArguments(file), { killAt: at })
      removeStore(environment)
      await checkRollbackIsDetected(environment)
    },
  },
])
