import { dirname, join, resolve } from 'node:path'

import { AttemptAge } from './age.ts'
import { AttemptLists } from '../attempt-lists.ts'
import { SqliteBatches } from './batches.ts'
import { Database } from './connection.ts'
import { makeDurable } from './durability.ts'
import { fileHolds, memoryHolds } from './holds.ts'
import type { Clock } from '../../../host/clock.ts'
import { SqliteInbox } from './inbox.ts'
import { SqliteOrphans } from './orphans.ts'
import { SqliteLedger } from './ledger.ts'
import { Listing } from './listing.ts'
import { inspect, migrate } from './migrate.ts'
import { openToOthers } from '../../../disk/private-modes.ts'
import { StoreBusyError, UsageError } from '../../../errors/kinds.ts'
import type { StoreOptions } from '../options.ts'
import { makePrivate, preparePlace } from './place.ts'
import { SqliteQuota } from './quota.ts'
import type { Store } from '../store.ts'
import { SqliteMaintenance } from './maintenance.ts'
import { SqliteWaiting } from './waiting.ts'

const usualBusyMs = 5_000
const pauseMs = 20

/** `location`: an absolute path, or ":memory:". */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const { clock, random, busyMs = usualBusyMs, onNotice } = options
  const inMemory = location === ':memory:'
  const path = inMemory ? location : await preparePlace(location)
  const lists = inMemory ? undefined : new AttemptLists(listFolders(path, options))
  const database = new Database(path, busyMs)
  const listing = lists && new Listing(database, lists)
  try {
    await retryWhileBusy(clock, busyMs, () => database.snapshot(() => inspect(database)))
    if (!inMemory) {
      await makePrivate(path, onNotice)
      const why = await openToOthers(dirname(path))
      if (why !== undefined) onNotice?.(`The store’s folder "${dirname(path)}" is not safe: ${why}.`)
    }
    await retryWhileBusy(clock, busyMs, () => {
      database.snapshot(() => inspect(database))
      makeDurable(database)
      migrate(database, random, listing)
    })
    const age = new AttemptAge(database, listing, { clock, random })
    const holds = inMemory ? memoryHolds(clock) : fileHolds(path, { clock, random })
    return {
      location: database.location,
      ledger: new SqliteLedger(database, holds, age),
      batches: new SqliteBatches(database, holds, age),
      quota: new SqliteQuota(database),
      inbox: new SqliteInbox(database, holds),
      orphans: new SqliteOrphans(database),
      maintenance: new SqliteMaintenance(database, age),
      waiting: new SqliteWaiting(database),
      problems: async () => fileProblems(database),
      async moving() {
        if (lists === undefined) throw notMoved()
        const { SqliteMoving } = await import('./moving.ts')
        return new SqliteMoving(database, lists, { clock, random })
      },
      close() {
        lists?.close()
        return Promise.resolve(database.close())
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Lists of attempts stand with the settings, which a folder of data that is put back leaves alone; else beside the store. */
function listFolders(path: string, { paths, cwd }: StoreOptions): string[] {
  return [join(resolve(cwd, paths.config), 'attempts'), `${path}.attempts`]
}

const notMoved = (): UsageError =>
  new UsageError('a store in memory cannot be moved', { hint: 'Give a file, or a postgres:// address.' })

const mostProblems = 10

function fileProblems(database: Database): string[] {
  const rows = database.all(`PRAGMA quick_check(${mostProblems})`) as { quick_check: string }[]
  return rows.map(({ quick_check }) => quick_check).filter((each) => each !== 'ok')
}

/** SQLite does not wait for its turn to switch a new file to WAL, so two first users could collide. */
async function retryWhileBusy(clock: Clock, busyMs: number, work: () => void): Promise<void> {
  for (const deadline = clock.monotonic() + busyMs; ;) {
    try {
      work()
      return
    } catch (error) {
      if (!(error instanceof StoreBusyError) || clock.monotonic() >= deadline) throw error
      await clock.sleep(pauseMs)
    }
  }
}
