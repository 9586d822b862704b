import { all, get, run, setMeta } from '../engine.ts'
import { existsSync, statSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { backup } from 'node:sqlite'
import { diskFailure } from '../../../disk/failure.ts'
import { byOthers, folderWeakness } from '../../../disk/ownership.ts'
import { makePrivateFolder } from '../../../disk/private-modes.ts'
import { linkAsNew } from '../../../disk/whole-file.ts'
import { IoError, StoreBusyError, UsageError } from '../../../errors/kinds.ts'
import type { Upkeep } from '../maintenance.ts'
import { Database } from './engine.ts'
import { backupName } from '../store-state.ts'
import { makePrivate, prepareFile } from './store-file.ts'

const maxProblems = 10

/** Looking after an SQLite file. */
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
      const found = (yield* all<object>('PRAGMA integrity_check'))
        .map((row) => String(Object.values(row)[0]))
        .filter((message) => message !== 'ok')
      const broken = yield* all<{ table: string; rowid: number }>('PRAGMA foreign_key_check')
      for (const { table, rowid } of broken) {
        found.push(`${table}: row ${rowid} refers to something that is missing`)
      }
      return found
    },

    /**
     * secure_delete has overwritten what was removed; VACUUM and a truncated journal leave no older page either. Another
     * process that reads, or writes, keeps older pages.
     */
    async scrub(isPatient) {
      const busyMs = database.pragma('busy_timeout')
      if (!isPatient) database.pragma('busy_timeout = 0')
      try {
        database.exec('VACUUM')
        const isBusy = location !== ':memory:' && database.pragma('wal_checkpoint(TRUNCATE)') !== 0
        return isBusy ? 'another process' : undefined
      } catch (error) {
        if (error instanceof StoreBusyError) return 'another process'
        throw error
      } finally {
        database.pragma(`busy_timeout = ${busyMs}`)
      }
    },

    async backup(path) {
      if (existsSync(path)) throw new UsageError(`${path} already exists`, { hint: 'Choose another name.' })
      const weakness = folderWeakness(path, byOthers)
      if (weakness !== undefined)
        throw new IoError(
          `cannot back the store up to "${path}": another user of this machine could replace what is in "${weakness.path}"`,
          { hint: 'Choose a folder of your own.' },
        )
      // Half a copy opens as an empty store, so none is ever there under the name. It is made in a folder of ours:
      // next to the name another account could put a file that the copy then is written into.
      const folder = `${path}.partial`
      makePrivateFolder(folder)
      const copy = join(folder, 'store.sqlite')
      const remove = async (): Promise<void> => {
        for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(copy + suffix, { force: true })
      }
      try {
        await remove()
        const target = await prepareFile(copy)
        await database.copyTo((connection) => backup(connection, target))
        mark(target, location)
        await makePrivate(target, undefined)
        linkAsNew(target, path)
      } catch (error) {
        throw error instanceof IoError ? error : diskFailure('back the store up to', path, error)
      } finally {
        await remove()
        // Fails where something else is in it.
        await rmdir(folder).catch(() => undefined)
      }
    },

    problems: async () =>
      database
        .all(`PRAGMA quick_check(${maxProblems})`)
        .map((row) => String(Object.values(row as object)[0]))
        .filter((message) => message !== 'ok'),
    *fence(table, to) {
      yield* run(`CREATE TRIGGER IF NOT EXISTS moved_${table} BEFORE INSERT ON ${table}
BEGIN SELECT RAISE(ABORT, '${to.replaceAll("'", "''")}'); END`)
    },
    *removeFence(table) {
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

/** A backup sends nothing as it is: what is ordered with the store from now on, it will not know. */
function mark(target: string, of: string): void {
  const copy = new Database(target, 0)
  try {
    copy.transaction(() => copy.runSync(setMeta(backupName, of)))
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
