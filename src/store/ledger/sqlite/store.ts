import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { open, realpath, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { diskFailure, systemErrorCode } from '../../../disk/failure.ts'
import { flushFolder, makeFolders } from '../../../disk/folders.ts'
import { writableByOthers, findFolderWeakness } from '../../../disk/ownership.ts'
import {
  makePrivate,
  makePrivateFolder,
  requireStoreBelowOwnFolder,
  findStoreWeakness,
} from '../../../disk/private-modes.ts'
import { linkAsNew } from '../../../disk/whole-file.ts'
import { isListedMount, requireOneName } from '../../../domain/store/address.ts'
import { IoError, StoreBusyError, UsageError } from '../../../errors/kinds.ts'
import type { Clock } from '../../../host/clock.ts'
import { ownUserId } from '../../../host/process.ts'
import type { Random } from '../../../host/random.ts'
import { all, get, requireKnownFormat, run, setMeta, unusableStore } from '../engine.ts'
import type { Upkeep } from '../maintenance.ts'
import { schema } from '../schema.ts'
import { backupName, beginStore } from '../store-state.ts'
import { type Store, type StoreOptions, assembleStore, attemptLogFiles } from '../store.ts'
import { Database, makeDurable, sqliteEngine } from './engine.ts'
import { createFileLocks, createMemoryLocks } from './locks.ts'

/** The SQL that makes each format from the one before. A store's `user_version` is the number of its format, from 1. */
export const formats: readonly string[] = [schema]

/** Marks the file as a refcheck ledger, so that another program's database is never written to ("RFL1"). */
const applicationId = 0x52_46_4c_31
/** The application id of stores from before 1.0.0 ("RFCL"), whose formats have other numbers. */
const formerApplicationId = 0x52_46_43_4c

/** The SQL of the triggers of a store that was moved, which only refuse new rows. A store has no other trigger. */
const ownTrigger =
  /^CREATE TRIGGER moved_(\w+) BEFORE INSERT ON \1\s+BEGIN SELECT RAISE\(ABORT, '(?:[^']|'')*'\); END$/

/**
 * Throws an IoError for a store file to which a view or trigger was added: reading a view may never end, and a trigger
 * may change what is written.
 */
function refuseAddedObjects(database: Database): void {
  const addedObjects = database.all(
    `SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL %'`,
  ) as { name: string; sql: string }[]
  const foreignObject = addedObjects.find(({ sql }) => !ownTrigger.test(sql))
  if (foreignObject === undefined) return
  throw unusableStore(
    database.location,
    `somebody added a view, trigger or virtual table to it (${foreignObject.name.slice(0, 60)})`,
    'Keep the file, since it may hold orders, and restore a backup, or choose another file with REFCHECK_STORE.',
  )
}

/**
 * Throws an IoError for a file that is not a store, or that another version of refcheck made. Changes nothing.
 * `knownFormats`: the formats of this version. The caller has begun a transaction, since another process may be making
 * the store.
 */
export function inspect(database: Database, knownFormats = formats): void {
  const { location } = database
  const application = database.pragma('application_id')
  const { count } = database.get('SELECT count(*) AS count FROM sqlite_schema') as { count: number }
  if (application === formerApplicationId) requireKnownFormat(location, 'file', 'former', knownFormats.length)
  if (count > 0 && application !== applicationId) {
    const why = 'it is another program’s database'
    throw unusableStore(location, why, 'Choose another file with REFCHECK_STORE.')
  }
  refuseAddedObjects(database)
  requireKnownFormat(location, 'file', Number(database.pragma('user_version')), knownFormats.length)
}

/**
 * Brings the store to the newest format, also if several processes try at once. `formerKey` returns the fingerprint key
 * of a store that was at the same path, so that a new store recognises the people of that store. `knownFormats`: the
 * formats of this version. Returns true if the store was made by this call.
 */
export function migrate(
  database: Database,
  random: Random,
  formerKey?: () => Uint8Array | undefined,
  knownFormats = formats,
): boolean {
  if (database.pragma('user_version') === knownFormats.length) return false
  return database.transaction(() => {
    inspect(database, knownFormats)
    const version = Number(database.pragma('user_version'))
    for (const format of knownFormats.slice(version)) database.exec(format)
    if (version === 0) {
      database.exec(`PRAGMA application_id = ${applicationId}`)
      database.runSync(beginStore(random, formerKey))
    }
    database.exec(`PRAGMA user_version = ${knownFormats.length}`)
    return version === 0
  })
}

const maxProblems = 10

/** Returns the maintenance functions of a store in an SQLite file. */
export function sqliteUpkeep(database: Database): Upkeep {
  const { location } = database
  return {
    *figures() {
      const version = yield* get<{ version: string }>('SELECT sqlite_version() AS version')
      const format = yield* get<{ userVersion: number }>('PRAGMA user_version')
      return {
        bytes: bytesOf(location),
        format: format?.userVersion ?? 0,
        engine: `SQLite ${version?.version}`,
      }
    },

    *checkTables() {
      const problems = damageIn(yield* all<object>('PRAGMA integrity_check'))
      const brokenReferences = yield* all<{ table: string; rowid: number }>('PRAGMA foreign_key_check')
      for (const { table, rowid } of brokenReferences) {
        problems.push(`${table}: row ${rowid} refers to something that is missing`)
      }
      return problems
    },

    /**
     * secure_delete has overwritten what was removed; after VACUUM and the truncation of the journal no older page is
     * left. As long as another process reads or writes, older pages stay.
     */
    async scrub(isPatient) {
      const lockWaitMs = database.pragma('busy_timeout')
      if (!isPatient) database.pragma('busy_timeout = 0')
      try {
        database.exec('VACUUM')
        const isBusy = location !== ':memory:' && database.pragma('wal_checkpoint(TRUNCATE)') !== 0
        return isBusy ? 'another process' : undefined
      } finally {
        database.pragma(`busy_timeout = ${lockWaitMs}`)
      }
    },

    async backup(path) {
      if (existsSync(path)) throw new UsageError(`${path} already exists`, { hint: 'Choose another name.' })
      const weakness = findFolderWeakness(path, writableByOthers)
      if (weakness !== undefined)
        throw new IoError(
          `cannot back the store up to "${path}": another user of this machine could replace what is in "${weakness.path}"`,
          { hint: 'Choose a folder of your own.' },
        )
      // An incomplete copy would open as an empty store, so the copy gets its name when it is complete. It is written in a
      // private folder: another account could put a file at a temporary name next to `path`.
      const folder = `${path}.partial`
      makePrivateFolder(folder)
      const copy = join(folder, 'store.sqlite')
      const remove = async (): Promise<void> => {
        for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(copy + suffix, { force: true })
      }
      try {
        await remove()
        const target = await prepareFile(copy)
        await database.backup(target)
        markAsBackup(target, location)
        makeStorePrivate(target)
        linkAsNew(target, path)
      } catch (error) {
        throw error instanceof IoError ? error : diskFailure('back the store up to', path, error)
      } finally {
        await remove()
        // This fails if the folder contains another file.
        await rmdir(folder).catch(() => undefined)
      }
    },

    problems: async () => damageIn(database.all(`PRAGMA quick_check(${maxProblems})`)),
    *blockInserts(table, to) {
      yield* run(`CREATE TRIGGER IF NOT EXISTS moved_${table} BEFORE INSERT ON ${table}
BEGIN SELECT RAISE(ABORT, '${to.replaceAll("'", "''")}'); END`)
    },
    *allowInserts(table) {
      yield* run(`DROP TRIGGER IF EXISTS moved_${table}`)
    },
    *newestEvent() {
      return (yield* get<{ seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'events'`))?.seq ?? 0
    },
    *continueNumbers(seq) {
      yield* run(`DELETE FROM sqlite_sequence WHERE name = 'events'`)
      if (seq > 0) yield* run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('events', :seq)`, { seq })
    },
  }
}

/** Returns the problems that SQLite's check of a file found, one sentence for each row of its answer. */
const damageIn = (rows: readonly unknown[]): string[] =>
  rows.map((row) => String(Object.values(row as object)[0])).filter((message) => message !== 'ok')

/**
 * Marks a copy as a backup, which takes no orders until the user accepts it: orders that are added later are missing in
 * it.
 */
function markAsBackup(target: string, originalLocation: string): void {
  const copy = new Database(target, 0)
  try {
    copy.transaction(() => copy.runSync(setMeta(backupName, originalLocation)))
    copy.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    copy.close()
  }
}

function bytesOf(location: string): number {
  if (location === ':memory:') return 0
  return ['', '-wal', '-shm'].reduce(
    (sum, suffix) => sum + (statSync(location + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/**
 * Makes the store's folder (0700) and file (0600) if they do not exist; existing ones are not changed. Returns the
 * path with links resolved, so that two names of one store have the same locks. Throws an IoError if the file cannot
 * be used.
 */
export async function prepareFile(path: string): Promise<string> {
  try {
    await makeFolder(dirname(path))
    await makeFile(path)
    const realPath = await realpath(path)
    const status = await stat(realPath)
    if (!status.isFile()) throw unusableStore(path, 'it is not a file', 'Give the name of a file.')
    requireOneName(path, { linkCount: status.nlink, isMount: isMountPoint(realPath) })
    requireOwnCompanions(realPath, status.uid)
    return realPath
  } catch (error) {
    if (error instanceof IoError) throw error
    throw diskFailure('use the store', path, error)
  }
}

/**
 * Throws an IoError if another account may have made one of the files that SQLite keeps next to a store: SQLite writes
 * people's data into these files, and trusts their content. `owner`: the user id of the store's owner.
 */
function requireOwnCompanions(path: string, owner: number): void {
  const currentUser = ownUserId()
  for (const suffix of ['-wal', '-shm', '-journal']) {
    const status = lstatSync(path + suffix, { throwIfNoEntry: false })
    if (status === undefined) continue
    const isForeign = currentUser !== undefined && status.uid !== currentUser && status.uid !== owner
    // A file that another process deletes at this moment has no name any more.
    if (status.isFile() && status.nlink <= 1 && !isForeign) continue
    throw unusableStore(
      path,
      `"${path}${suffix}" does not belong to it`,
      'Find out who put it there, and move it away. Keep the store in a folder of your own: set REFCHECK_STORE.',
    )
  }
}

/** Whether a file is a mount point: its locks would be in another folder than those of the file that was mounted. */
function isMountPoint(path: string): boolean {
  try {
    return isListedMount(path, readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    // Only Linux has this file, and some containers do not let processes read it.
    return false
  }
}

/**
 * Removes other users' permissions on a file that is known to be a store. Returns a sentence for the user if other
 * users had any.
 */
function makeStorePrivate(path: string): string | undefined {
  try {
    const warning = makePrivate(path, 'The store’s file')
    // SQLite gives its own files next to the store the mode that the store had; one message about all of them
    // is enough.
    for (const suffix of ['-wal', '-shm']) makePrivate(path + suffix)
    return warning
  } catch (error) {
    throw diskFailure('use the store', path, error)
  }
}

async function makeFolder(folder: string): Promise<void> {
  const topmost = makeFolders(folder, 0o700)
  if (topmost === undefined) return
  for (let created = folder; created.length >= topmost.length; created = dirname(created))
    await flushFolder(dirname(created))
}

/** Makes an empty file if it does not exist. An existing file is not opened: closing it would release SQLite's locks. */
async function makeFile(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.close()
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return
    throw error
  }
  await flushFolder(dirname(path))
}

const defaultLockWaitMs = 5_000
/** Pause before a store that another process has locked is tried again. */
const pauseMs = 20

/** Opens the store in a file, which is made if it does not exist. `location`: an absolute path, or ":memory:". */
export async function openSqliteStore(location: string, options: StoreOptions): Promise<Store> {
  const { clock, random, lockWaitMs = defaultLockWaitMs, onMessage } = options
  const isInMemory = location === ':memory:'
  const files = isInMemory ? undefined : attemptLogFiles(options, `${location}.attempts`)
  files?.requireNoFormerLog(location)
  if (!isInMemory) requireStoreBelowOwnFolder(location)
  const path = isInMemory ? location : await prepareFile(location)
  const database = new Database(path, lockWaitMs)
  let isNew = false
  try {
    await retryWhileBusy(clock, lockWaitMs, () => database.snapshot(() => inspect(database)))
    if (!isInMemory) {
      const warning = makeStorePrivate(path)
      if (warning !== undefined) onMessage?.(warning)
      const weakness = findStoreWeakness(path)
      if (weakness !== undefined) {
        const noun = weakness.path === path ? 'file' : 'folder'
        onMessage?.(`The store’s ${noun} "${weakness.path}" is not safe: ${weakness.why}.`)
      }
    }
    await retryWhileBusy(clock, lockWaitMs, () => {
      database.snapshot(() => inspect(database))
      makeDurable(database)
      isNew = migrate(database, random, () => files?.findKey(path)) || isNew
    })
    return await assembleStore(
      {
        engine: sqliteEngine(database),
        leases: isInMemory ? createMemoryLocks(clock) : createFileLocks(path, { clock, random }),
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

/**
 * Repeats `work` while another process has locked the store: SQLite itself does not wait when it switches a file to
 * WAL.
 */
async function retryWhileBusy(clock: Clock, lockWaitMs: number, work: () => void): Promise<void> {
  for (const deadline = clock.monotonic() + lockWaitMs; ;) {
    try {
      work()
      return
    } catch (error) {
      if (!(error instanceof StoreBusyError) || clock.monotonic() >= deadline) throw error
      await clock.sleep(pauseMs)
    }
  }
}
