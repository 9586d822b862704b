import { existsSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { backup } from 'node:sqlite'

import type { AttemptAge } from './age.ts'
import { Database } from './connection.ts'
import { diskFailure } from '../../../disk/failure.ts'
import { placeAsNew } from '../../../disk/whole-file.ts'
import type { Closed } from '../../../domain/store/age.ts'
import type { Forgotten, Purged, StoreInfo } from '../../../domain/store/told.ts'
import { type SubmissionState, submissionStates } from '../../../domain/submission/states.ts'
import { IoError, UsageError } from '../../../errors/kinds.ts'
import { damageOf } from '../damage.ts'
import { fingerprinting } from './fingerprints.ts'
import { makePrivate, preparePlace } from './place.ts'
import { markAsBackup } from './listing.ts'
import { purge, type PurgeOptions } from './purge.ts'
import { danglingAttempts, selectPrints } from './maintenance-statements.ts'
import type { Maintenance } from '../maintenance.ts'

/** Looking after an SQLite file. */
export class SqliteMaintenance implements Maintenance {
  readonly #database: Database
  readonly #age: AttemptAge

  constructor(database: Database, age: AttemptAge) {
    this.#database = database
    this.#age = age
  }

  async info(): Promise<StoreInfo> {
    const database = this.#database
    return database.snapshot(() => {
      const rows = Object.fromEntries(submissionStates.map((state) => [state, 0])) as Record<
        SubmissionState,
        number
      >
      for (const row of database.all('SELECT state, count(*) AS count FROM submissions GROUP BY state')) {
        const { state, count } = row as { state: SubmissionState; count: number }
        rows[state] = count
      }
      const { batches, oldest, newest } = database.get(
        'SELECT count(*) AS batches, min(added_at) AS oldest, max(added_at) AS newest FROM batches',
      ) as { batches: number; oldest: number | null; newest: number | null }
      const { sqlite } = database.get('SELECT sqlite_version() AS sqlite') as { sqlite: string }
      return {
        location: database.location,
        bytes: bytesOf(database.location),
        format: Number(database.pragma('user_version')),
        engine: `SQLite ${sqlite}`,
        batches,
        rows,
        events: (database.get('SELECT count(*) AS count FROM events') as { count: number }).count,
        oldest: oldest ?? undefined,
        newest: newest ?? undefined,
        closed: this.#age.closed(),
      }
    })
  }

  async check(): Promise<string[]> {
    const database = this.#database
    return database.snapshot(() => [
      ...database
        .all('PRAGMA integrity_check')
        .map((row) => String(Object.values(row as object)[0]))
        .filter((said) => said !== 'ok'),
      ...database.all('PRAGMA foreign_key_check').map((row) => {
        const { table, rowid } = row as { table: string; rowid: number }
        return `${table}: row ${rowid} refers to something that is missing`
      }),
      ...this.#wrongRows(),
      ...database.all(danglingAttempts).map((row) => {
        const { batch_id, row_number } = row as { batch_id: string; row_number: number }
        return `row ${row_number} of batch ${batch_id} was accepted by an attempt that is not recorded`
      }),
    ])
  }

  async closed(): Promise<Closed | undefined> {
    return this.#age.examine()
  }

  async putBack(closed: Closed): Promise<string[]> {
    return this.#age.putBack(closed)
  }

  async acceptOlder(): Promise<{ held: number }> {
    return this.#age.accept()
  }

  async allowUnlisted(): Promise<void> {
    this.#age.allowUnlisted()
  }

  async backup(path: string): Promise<void> {
    if (existsSync(path)) throw new UsageError(`${path} already exists`, { hint: 'Choose another name.' })
    // Half a copy opens as a store that knows nobody, so none is ever there under the name.
    const partial = `${path}.partial`
    await rm(partial, { force: true })
    const place = await preparePlace(partial)
    try {
      await this.#database.copyTo((connection) => backup(connection, place))
      this.#markAsBackup(place)
      await makePrivate(place, undefined)
      await placeAsNew(place, path)
    } catch (error) {
      throw error instanceof IoError ? error : diskFailure('back the store up to', path, error)
    } finally {
      for (const suffix of ['', '-journal', '-wal', '-shm']) await rm(place + suffix, { force: true })
    }
  }

  /** It sends nothing as it is: what is ordered with the store from now on, it will not know. */
  #markAsBackup(place: string): void {
    const copy = new Database(place, 0)
    try {
      copy.transaction(() => markAsBackup(copy, this.#database.location))
      copy.pragma('wal_checkpoint(TRUNCATE)')
    } finally {
      copy.close()
    }
  }

  async purge(who: Forgotten, options: PurgeOptions): Promise<Purged> {
    return purge(this.#database, this.#age, who, options)
  }

  #wrongRows(): string[] {
    const fingerprint = fingerprinting(this.#database)
    return this.#database.all(selectPrints).flatMap((row) => damageOf(row, fingerprint))
  }
}

function bytesOf(location: string): number {
  if (location === ':memory:') return 0
  return ['', '-wal', '-shm'].reduce(
    (sum, suffix) => sum + (statSync(location + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
