import { join, resolve } from 'node:path'

import { AttemptLogFiles } from '../attempt-log.ts'
import { Database, makeDurable, SqliteEngine } from './engine.ts'
import { StoreKey } from '../fingerprints.ts'
import { RollbackDetection } from '../rollback-detection.ts'
import { StoreLogs } from '../store-logs.ts'
import { fileHolds, memoryHolds } from './holds.ts'
import type { Clock } from '../../../host/clock.ts'
import { EngineLedger } from '../ledger.ts'
import { inspect, migrate } from './migrate.ts'
import { storeWeakness } from '../../../disk/private-modes.ts'
import { StoreBusyError, UsageError } from '../../../errors/kinds.ts'
import { Accounts } from '../accounts.ts'
import { Batches } from '../batches.ts'
import { Inbox } from '../inbox.ts'
import { Maintenance } from '../maintenance.ts'
import type { Store, StoreOptions } from '../store.ts'
import { Quota } from '../quota.ts'
import { UnmatchedRequests } from '../unmatched-requests.ts'
import { sqliteUpkeep } from './maintenance.ts'
import { makePrivate, preparePlace } from './place.ts'
import { HeldRows } from '../held-rows.ts'

const usualBusyMs = 5_000
const pauseMs = 20

/** `location`: an absolute path, or ":memory:". */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const { clock, random, busyMs = usualBusyMs, onNotice } = options
  const inMemory = location === ':memory:'
  const files = inMemory ? undefined : new AttemptLogFiles(logFolders(location, options))
  files?.requireNoFormer(location)
  const path = inMemory ? location : await preparePlace(location)
  const database = new Database(path, busyMs)
  let isNew = false
  try {
    await retryWhileBusy(clock, busyMs, () => database.snapshot(() => inspect(database)))
    if (!inMemory) {
      await makePrivate(path, onNotice)
      const weakness = storeWeakness(path)
      if (weakness !== undefined) {
        const what = weakness.path === path ? 'file' : 'folder'
        onNotice?.(`The store’s ${what} "${weakness.path}" is not safe: ${weakness.why}.`)
      }
    }
    await retryWhileBusy(clock, busyMs, () => {
      database.snapshot(() => inspect(database))
      makeDurable(database)
      isNew = migrate(database, random, () => files?.keyOf(path)) || isNew
    })
    const engine = new SqliteEngine(database)
    const key = new StoreKey(database.location)
    await engine.run(key.loadKey())
    const logs = files && new StoreLogs(files, { engine, key, random })
    const rollbacks = new RollbackDetection({ engine, key, logs, clock, random, onNotice })
    const holds = inMemory ? memoryHolds(clock) : fileHolds(path, { clock, random })
    const upkeep = sqliteUpkeep(database)
    const maintenance = new Maintenance(engine, { key, rollbacks, upkeep })
    if (isNew) await rollbacks.makeLog()
    await maintenance.finishErasure()
    return {
      location: database.location,
      accounts: new Accounts(engine),
      ledger: new EngineLedger(engine, key, holds, rollbacks),
      batches: new Batches(engine, { key, holds, rollbacks }),
      quota: new Quota(engine, key),
      inbox: new Inbox(engine, holds),
      orphans: new UnmatchedRequests(engine),
      maintenance,
      waiting: new HeldRows(engine, key),
      problems: async () => fileProblems(database),
      async moving() {
        if (logs === undefined) throw notMoved()
        const [{ Moving }, { sqliteMove }] = await Promise.all([
          import('../move.ts'),
          import('./maintenance.ts'),
        ])
        return new Moving(engine, sqliteMove(logs), { key, clock, random })
      },
      close() {
        logs?.close()
        return Promise.resolve(database.close())
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Attempt logs are with the settings, which a folder of data that is put back leaves alone; else next to the store. */
function logFolders(path: string, { paths, cwd }: StoreOptions): string[] {
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
