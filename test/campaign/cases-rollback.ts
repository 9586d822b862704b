import { copyFileSync, cpSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'

import {
  createRunArguments,
  createRequestArguments,
  createCsvLines,
  createPeople,
  createPerson,
} from './people.ts'
import type { Case } from './cases.ts'
import type { CampaignEnvironment } from './environment.ts'
import { expectCount, expectExit } from './checks.ts'

const section = 'Rollback detection'
const rowCount = 40

/**
 * Checks that a store that lost attempts sends nothing, that `store check` reports it, and that sending
 * continues after `--accept-older`.
 */
async function checkRollbackIsDetected(environment: CampaignEnvironment): Promise<void> {
  const orderCountBefore = environment.sandbox.requests().length
  // The results file would stop the orders too: it is an external result for each ordered person.
  rmSync(join(environment.folder, 'files', 'people.results.csv'), { force: true })
  for (const argv of [createRunArguments('people.csv'), createRequestArguments(createPerson(99))])
    expectExit(await environment.run(argv), 1, 'is closed: ')
  expectCount(environment.sandbox.requests().length, orderCountBefore, 'orders of a closed store')
  expectExit(await environment.run(['store', 'check']), 1)
  expectExit(await environment.run(['store', 'check', '--accept-older', '--yes']), 0)
  await environment.run(createRunArguments('people.csv'))
  expectExit(await environment.run(createRequestArguments(createPerson(99))), 0)
}

const removeStore = (environment: CampaignEnvironment): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(environment.getStorePath() + suffix, { force: true })
}

const orderNumbers = [1, 16, 39]

/** A store loses data after a number of orders of a run. */
export const rollbackCases: readonly Case[] = orderNumbers.flatMap((atOrder): Case[] => [
  {
    section,
    isSqliteOnly: true,
    title: `a backup made at row ${atOrder} of ${rowCount} and restored`,
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(rowCount)))
      const work = () => environment.run(['store', 'backup', 'copy.sqlite'])
      await environment.run(createRunArguments(file), { meanwhile: { atOrder, work } })
      removeStore(environment)
      copyFileSync(join(environment.folder, 'files', 'copy.sqlite'), environment.getStorePath())
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    title: `the -wal removed after SIGKILL at row ${atOrder}`,
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(rowCount)))
      expectExit(await environment.run(createRunArguments(file, '--max', '1')), 10)
      await environment.run(createRunArguments(file), { killAtOrder: atOrder })
      rmSync(`${environment.getStorePath()}-wal`, { force: true })
      rmSync(`${environment.getStorePath()}-shm`, { force: true })
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    title: `the -wal cut after SIGKILL at row ${atOrder}`,
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(rowCount)))
      expectExit(await environment.run(createRunArguments(file, '--max', '1')), 10)
      await environment.run(createRunArguments(file), { killAtOrder: atOrder })
      truncateSync(`${environment.getStorePath()}-wal`, 4096)
      rmSync(`${environment.getStorePath()}-shm`, { force: true })
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    title: `the data folder restored as it was at row ${atOrder}`,
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(rowCount)))
      const copy = join(environment.folder, 'copy')
      const work = () => cpSync(environment.getDataFolder(), copy, { recursive: true })
      await environment.run(createRunArguments(file), { meanwhile: { atOrder, work } })
      rmSync(environment.getDataFolder(), { recursive: true })
      renameSync(copy, environment.getDataFolder())
      await checkRollbackIsDetected(environment)
    },
  },
  {
    section,
    isSqliteOnly: true,
    title: `the store lost after row ${atOrder}`,
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(rowCount)))
      await environment.run(createRunArguments(file), { killAtOrder: atOrder })
      removeStore(environment)
      await checkRollbackIsDetected(environment)
    },
  },
])
