import { existsSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { backup } from 'node:sqlite'

import type { Age } from './age.ts'
import { Database, type Values } from './connection.ts'
import { diskFailure } from '../../../disk/failure.ts'
import { placeAsNew } from '../../../disk/whole-file.ts'
import type { Closed } from '../../../domain/store/age.ts'
import type { Forgotten, Purged, StoreInfo } from '../../../domain/store/told.ts'
import { type SubmissionState, submissionStates, unsettled } from '../../../domain/submission/states.ts'
import { IoError, UsageError } from '../../../errors/kinds.ts'
import { sha256 } from './fingerprints.ts'
import { makePrivate, preparePlace } from './place.ts'
import { markAsBackup } from './listing.ts'
import { chosenEvents, chosenRows, danglingAttempts } from './upkeep-statements.ts'
import type { Upkeep } from '../upkeep.ts'

/** Looking after an SQLite file. */
export class SqliteUpkeep implements Upkeep {
  readonly #database: Database
  readonly #age: Age

  constructor(database: Database, age: Age) {
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
        return `${table}: row ${rowid} refers to something that is not there`
      }),
      ...this.#wrongBodies(),
      ...database.all(danglingAttempts).map((row) => {
        const { batch_id, row_number } = row as { batch_id: string; row_number: number }
        return `row ${row_number} of batch ${batch_id} is accepted by an attempt that is not journaled`
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
    if (existsSync(path)) throw new UsageError(`${path} exists already`, { hint: 'Choose another name.' })
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

  async purge(who: Forgotten, { dryRun }: { dryRun: boolean }): Promise<Purged> {
    const { where, values } = chosenRows(who)
    const events = chosenEvents(who)
    const database = this.#database
    const purged = database.transaction(() => {
      const count = (sql: string, more: Values): number =>
        (database.get(sql, more) as { count: number }).count
      const settled = `${where} AND s.state NOT IN ${unsettled}`
      const named = `(s.first_name IS NOT NULL OR s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
      const result: Purged = {
        rows: count(`SELECT count(*) AS count FROM submissions s WHERE ${settled} AND ${named}`, values),
        events: count(`SELECT count(*) AS count FROM events e WHERE ${events.where}`, events.values),
        kept: count(
          `SELECT count(*) AS count FROM submissions s WHERE ${where} AND s.state IN ${unsettled}`,
          values,
        ),
      }
      if (dryRun) return result
      const rows = `SELECT s.batch_id, s.row_number FROM submissions s WHERE ${settled}`
      database.run(`UPDATE attempts SET reason = NULL WHERE (batch_id, row_number) IN (${rows})`, values)
      database.run(`UPDATE decisions SET why = 'removed' WHERE (batch_id, row_number) IN (${rows})`, values)
      database.run(`DELETE FROM events AS e WHERE ${events.where}`, events.values)
      database.run(
        `UPDATE submissions AS s SET first_name = NULL, last_name = NULL, email = NULL, phone = NULL, body = NULL,
          reason = NULL, field = NULL, offered_id = NULL WHERE ${settled}`,
        values,
      )
      // A file's name can be a person's, once nobody else is in it.
      database.run(
        `UPDATE batches AS b SET name = NULL, path = NULL, results_file = NULL, reading = NULL,
            halt_message = NULL, halt_hint = NULL
          WHERE b.kind = 'file' AND NOT EXISTS (
            SELECT 1 FROM submissions s
            WHERE s.batch_id = b.id AND (s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL))`,
      )
      return result
    })
    if (!dryRun) this.#scrub()
    return purged
  }

  /** secure_delete has overwritten what was removed; VACUUM and a truncated journal leave no older page either. */
  #scrub(): void {
    this.#database.exec('VACUUM')
    if (this.#database.location !== ':memory:') this.#database.pragma('wal_checkpoint(TRUNCATE)')
  }

  *#wrongBodies(): Generator<string> {
    for (const row of this.#database.all(
      'SELECT batch_id, row_number, body, body_sha256 FROM submissions WHERE body IS NOT NULL',
    )) {
      const { batch_id, row_number, body, body_sha256 } = row as {
        batch_id: string
        row_number: number
        body: Uint8Array
        body_sha256: string
      }
      if (sha256(body) !== body_sha256)
        yield `row ${row_number} of batch ${batch_id}: its body is not what was journaled`
    }
  }
}

function bytesOf(location: string): number {
  if (location === ':memory:') return 0
  return ['', '-wal', '-shm'].reduce(
    (sum, suffix) => sum + (statSync(location + suffix, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
