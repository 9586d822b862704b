import { join, resolve } from 'node:path'
import { requireStoreBelowOwn, storeWeakness } from '../../../disk/private-modes.ts'
import { StoreBusyError } from '../../../errors/kinds.ts'
import type { Clock } from '../../../host/clock.ts'
import { AttemptLogFiles } from '../attempt-log.ts'
import { type Store, type StoreOptions, assembleStore } from '../store.ts'
import { Database, makeDurable, sqliteEngine } from './engine.ts'
import { fileLocks, memoryLocks } from './locks.ts'
import { inspect, makePrivate, migrate, prepareFile, sqliteUpkeep } from './maintenance.ts'

const usualBusyMs = 5_000
const pauseMs = 20

/** `location`: an absolute path, or ":memory:". */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const { clock, random, busyMs = usualBusyMs, onMessage } = options
  const inMemory = location === ':memory:'
  const files = inMemory ? undefined : new AttemptLogFiles(logFolders(location, options))
  files?.requireNoFormer(location)
  if (!inMemory) requireStoreBelowOwn(location)
  const path = inMemory ? location : await prepareFile(location)
  const database = new Database(path, busyMs)
  let isNew = false
  try {
    await retryWhileBusy(clock, busyMs, () => database.snapshot(() => inspect(database)))
    if (!inMemory) {
      await makePrivate(path, onMessage)
      const weakness = storeWeakness(path)
      if (weakness !== undefined) {
        const what = weakness.path === path ? 'file' : 'folder'
        onMessage?.(`The store’s ${what} "${weakness.path}" is not safe: ${weakness.why}.`)
      }
    }
    await retryWhileBusy(clock, busyMs, () => {
      database.snapshot(() => inspect(database))
      makeDurable(database)
      isNew = migrate(database, random, () => files?.keyOf(path)) || isNew
    })
    return await assembleStore(
      {
        engine: sqliteEngine(database),
        holds: inMemory ? memoryLocks(clock) : fileLocks(path, { clock, random }),
        upkeep: sqliteUpkeep(database),
        files,
        isNew,
        close: () => database.close(),
      },
      options,
    )
  } catch (error) {
    database.close()
    throw error
  }
}

/** Attempt logs are with the settings, which a restored data folder does not change; else next to the store. */
function logFolders(path: string, { paths, cwd }: StoreOptions): string[] {
  return [join(resolve(cwd, paths.config), 'attempts'), `${path}.attempts`]
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
