import type { Database, Sql } from './connection.ts'
import { fileIdentity } from '../../../domain/batch/new-row.ts'
import { stopsIn, type Stops } from '../../../domain/batch/stops.ts'
import { orderIdentity, serviceOf } from '../../../domain/submission/identity.ts'
import { coveredBy, type Release } from '../../../domain/submission/release.ts'
import type { SubmissionState } from '../../../domain/submission/states.ts'
import { heardAgain, type Witness } from '../../../domain/submission/witness.ts'
import type { Keyed } from './keyed.ts'
import { lockAccountOf } from './locking.ts'
import { Matching } from './matching.ts'
import {
  allowOwn,
  cancelWaitingRow,
  forgetWitnesses,
  insertJoinedPackage,
  moveBatch,
  moveRow,
  putJoinedService,
  putWitnesses,
  selectMovable,
  selectStops,
  selectWaitingRows,
  selectWitnesses,
  unheard,
} from './matching-statements.ts'
import { sha256 } from '../fingerprints.ts'
import { movableOf, stopGroupOf, type WaitingRow, witnessesOf } from '../match-rows.ts'
import type { Movable, Released, Waiting } from '../waiting.ts'

/** Rows that wait, in a PostgreSQL database. */
export class PostgresWaiting implements Waiting {
  readonly #database: Database
  readonly #keyed: Keyed

  constructor(database: Database, keyed: Keyed) {
    this.#database = database
    this.#keyed = keyed
  }

  async ignoreResults(batchId: string): Promise<void> {
    await this.#database.run(forgetWitnesses, { batch_id: batchId })
  }

  async hear(
    batchId: string,
    rows: ReadonlyMap<number, readonly Witness[]>,
    files: ReadonlySet<string>,
    at: number,
  ): Promise<void> {
    await this.#comparing(batchId, async (sql, matching) => {
      const waiting = (await sql.all(selectWitnesses, { batch_id: batchId })) as {
        row_number: number
        state: SubmissionState
        witnesses: string | null
      }[]
      for (const { row_number: row, state, witnesses } of waiting) {
        if (witnesses === unheard) continue
        const heard = heardAgain(witnessesOf(witnesses) ?? [], files, rows.get(row) ?? [])
        if (heard === undefined) continue
        await sql.run(putWitnesses, { batch_id: batchId, row_number: row, witnesses: JSON.stringify(heard) })
        if (state === 'pending') await look(matching, { batchId, row }, at)
      }
    })
  }

  async lookAgain(batchId: string, at: number): Promise<number> {
    const waiting = (await this.#waitingRows(this.#database, batchId)).filter(
      ({ held_for }) => held_for !== 'store_forgot',
    )
    if (waiting.length === 0) return 0
    return this.#comparing(batchId, async (_, matching) => {
      let changed = 0
      for (const { row_number: row, state } of waiting) {
        if ((await matching.settle({ batchId, row }, state, at)) !== state) changed += 1
      }
      return changed
    })
  }

  async stops(batchId: string): Promise<Stops> {
    const found = await this.#database.all(selectStops, { batch_id: batchId })
    return stopsIn(found.flatMap(stopGroupOf), batchId)
  }

  async release(batchId: string, release: Release, by: { at: number; by: string }): Promise<Released> {
    return this.#comparing(batchId, async (sql, matching) => {
      // What its own rows share is said of the file as a whole: there may be thousands of them.
      if (release.kind !== 'rows') {
        await sql.run(allowOwn, {
          id: batchId,
          all: release.kind === 'all' ? 1 : 0,
          value: release.kind === 'shared' ? release.value : null,
        })
      }
      const released: Released = { rows: [], left: [] }
      for (const waiting of await this.#waitingRows(sql, batchId)) {
        const { row_number: row, state, held_for, matches_batch, matches_row } = waiting
        if (state !== 'held') continue
        const compared = await matching.lock({ batchId, row })
        if (compared === undefined) continue
        const covered = coveredBy(release, compared, await matching.stopsOf(compared), {
          heldFor: held_for,
          batchId: matches_batch,
          row: matches_row,
        })
        if (covered === undefined) continue
        const others = covered.map(({ order }) => order)
        await matching.release({ batchId, row }, others, by)
        const became = await matching.settle({ batchId, row }, 'held', by.at)
        if (became === 'pending') released.rows.push(row)
        else released.left.push({ row, reason: (await matching.stopOf(compared))?.reason ?? 'same' })
      }
      return released
    })
  }

  async cancelRow(batchId: string, row: number, at: number, reason: string): Promise<boolean> {
    const values = { batch_id: batchId, row_number: row, at, reason }
    return (await this.#database.run(cancelWaitingRow, values)) === 1
  }

  async movable(batchId: string): Promise<Movable[]> {
    return (await this.#database.all(selectMovable, { batch_id: batchId })).map(movableOf)
  }

  async move(batchId: string, packageId: number, rows: readonly Movable[], at: number): Promise<number> {
    return this.#comparing(batchId, async (sql) => {
      const batch = (await sql.get(
        'SELECT base_url, account, sha256, package_id FROM batches WHERE id = :id',
        {
          id: batchId,
        },
      )) as { base_url: string; account: string; sha256: string | null; package_id: number | null }
      const { base_url: baseUrl, account } = batch
      let moved = 0
      for (const { row, state, recipient, body } of rows) {
        if (recipient === undefined) continue
        moved += await sql.run(moveRow, {
          batch_id: batchId,
          row_number: row,
          state,
          package_id: packageId,
          body,
          body_sha256: sha256(body),
          fingerprint: this.#keyed.fingerprint(orderIdentity({ account, baseUrl, packageId, recipient })),
        })
      }
      for (const old of new Set([...rows.map((row) => row.packageId), batch.package_id ?? packageId])) {
        if (old !== packageId) await join(sql, baseUrl, old, packageId, 'moved', at)
      }
      await sql.run(moveBatch, {
        id: batchId,
        package_id: packageId,
        identity: fileIdentity({ account, baseUrl }, batch.sha256 ?? '', packageId),
      })
      // What was joined just now counts.
      const matching = new Matching(sql, this.#keyed)
      for (const { row, state } of rows) {
        if (state === 'pending') await look(matching, { batchId, row }, at)
        if (state === 'held' || state === 'duplicate') await matching.settle({ batchId, row }, state, at)
      }
      return moved
    })
  }

  async linkPackages(
    baseUrl: string,
    pairs: readonly (readonly [gone: number, successor: number])[],
    at: number,
  ): Promise<void> {
    for (const [gone, successor] of pairs) await join(this.#database, baseUrl, gone, successor, 'likely', at)
  }

  async sayService(
    [one, other]: readonly [string, string],
    same: boolean,
    by: { at: number; by: string },
  ): Promise<void> {
    const [first = '', second = ''] = [serviceOf(one), serviceOf(other)].sort()
    await this.#database.run(putJoinedService, { one: first, other: second, same: same ? 1 : 0, ...by })
  }

  #waitingRows(sql: Sql, batchId: string): Promise<WaitingRow[]> {
    return sql.all(selectWaitingRows, { batch_id: batchId }) as Promise<WaitingRow[]>
  }

  /** Nobody else compares people of the batch's account meanwhile. */
  #comparing<T>(batchId: string, work: (sql: Sql, matching: Matching) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (sql) => {
      await lockAccountOf(sql, batchId)
      return work(sql, new Matching(sql, this.#keyed))
    })
  }
}

/** Compares a row that is to be sent, so that people are told; what binds is done again when it is. */
async function look(matching: Matching, key: { batchId: string; row: number }, at: number): Promise<void> {
  const compared = await matching.lock(key)
  const stop = compared && (await matching.stopOf(compared))
  if (stop !== undefined) await matching.stopRow(key, 'pending', stop, at)
}

async function join(
  sql: Sql,
  baseUrl: string,
  gone: number,
  successor: number,
  how: 'moved' | 'likely',
  at: number,
): Promise<void> {
  const service = serviceOf(baseUrl)
  await sql.run(insertJoinedPackage, { service, package_id: gone, successor_id: successor, how, at })
}
