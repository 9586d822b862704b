import type { Database } from './connection.ts'
import { fileIdentity } from '../../../domain/batch/new-row.ts'
import { stopsIn, type Stops } from '../../../domain/batch/stops.ts'
import { orderIdentity, serviceOf } from '../../../domain/submission/identity.ts'
import { coveredBy, type Release } from '../../../domain/submission/release.ts'
import type { SubmissionState } from '../../../domain/submission/states.ts'
import { heardAgain, type Witness } from '../../../domain/submission/witness.ts'
import { fingerprinting } from './fingerprints.ts'
import { sha256 } from '../fingerprints.ts'
import { movableOf, stopGroupOf, type WaitingRow, witnessesOf } from '../match-rows.ts'
import { joinedPackages, Matching } from './matching.ts'
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
import type { Movable, Released, Waiting } from '../waiting.ts'

/** Rows that wait, in an SQLite file. */
export class SqliteWaiting implements Waiting {
  readonly #database: Database
  readonly #matching: Matching

  constructor(database: Database) {
    this.#database = database
    this.#matching = new Matching(database)
  }

  async ignoreResults(batchId: string): Promise<void> {
    this.#database.run(forgetWitnesses, { batch_id: batchId })
  }

  async hear(
    batchId: string,
    rows: ReadonlyMap<number, readonly Witness[]>,
    files: ReadonlySet<string>,
    at: number,
  ): Promise<void> {
    this.#database.transaction(() => {
      const waiting = this.#database.all(selectWitnesses, { batch_id: batchId }) as {
        row_number: number
        state: SubmissionState
        witnesses: string | null
      }[]
      for (const { row_number: row, state, witnesses } of waiting) {
        if (witnesses === unheard) continue
        const heard = heardAgain(witnessesOf(witnesses) ?? [], files, rows.get(row) ?? [])
        if (heard === undefined) continue
        this.#database.run(putWitnesses, {
          batch_id: batchId,
          row_number: row,
          witnesses: JSON.stringify(heard),
        })
        if (state === 'pending') this.#look({ batchId, row }, at)
      }
    })
  }

  async lookAgain(batchId: string, at: number): Promise<number> {
    const waiting = (this.#database.all(selectWaitingRows, { batch_id: batchId }) as WaitingRow[]).filter(
      ({ held_for }) => held_for !== 'store_forgot',
    )
    if (waiting.length === 0) return 0
    return this.#database.transaction(
      () =>
        waiting.filter(
          ({ row_number, state }) => this.#matching.settle({ batchId, row: row_number }, state, at) !== state,
        ).length,
    )
  }

  async stops(batchId: string): Promise<Stops> {
    return stopsIn(this.#database.all(selectStops, { batch_id: batchId }).flatMap(stopGroupOf), batchId)
  }

  async release(batchId: string, release: Release, by: { at: number; by: string }): Promise<Released> {
    return this.#database.transaction(() => {
      // What its own rows share is said of the file as a whole: there may be thousands of them.
      this.#database.run(allowOwn, {
        id: batchId,
        all: release.kind === 'all' ? 1 : 0,
        value: release.kind === 'shared' ? release.value : null,
      })
      const released: Released = { rows: [], left: [] }
      const waiting = this.#database.all(selectWaitingRows, { batch_id: batchId }) as WaitingRow[]
      for (const { row_number: row, state, held_for, matches_batch, matches_row } of waiting) {
        if (state !== 'held') continue
        const compared = this.#matching.rowToCompare(batchId, row)
        if (compared === undefined) continue
        const covered = coveredBy(release, compared, this.#matching.stopsOf(compared), {
          heldFor: held_for,
          batchId: matches_batch,
          row: matches_row,
        })
        if (covered === undefined) continue
        this.#matching.release(
          { batchId, row },
          covered.map(({ order }) => order),
          by,
        )
        const became = this.#matching.settle({ batchId, row }, 'held', by.at)
        if (became === 'pending') released.rows.push(row)
        else released.left.push({ row, reason: this.#matching.stopOf(compared)?.reason ?? 'same' })
      }
      return released
    })
  }

  async cancelRow(batchId: string, row: number, at: number, reason: string): Promise<boolean> {
    return this.#database.run(cancelWaitingRow, { batch_id: batchId, row_number: row, at, reason }) === 1
  }

  async movable(batchId: string): Promise<Movable[]> {
    return this.#database.all(selectMovable, { batch_id: batchId }).map(movableOf)
  }

  async move(batchId: string, packageId: number, rows: readonly Movable[], at: number): Promise<number> {
    return this.#database.transaction(() => {
      const batch = this.#database.get(
        'SELECT base_url, account, sha256, package_id FROM batches WHERE id = :id',
        { id: batchId },
      ) as { base_url: string; account: string; sha256: string | null; package_id: number | null }
      const { base_url: baseUrl, account } = batch
      const fingerprint = fingerprinting(this.#database)
      let moved = 0
      for (const { row, state, recipient, body } of rows) {
        if (recipient === undefined) continue
        moved += this.#database.run(moveRow, {
          batch_id: batchId,
          row_number: row,
          state,
          package_id: packageId,
          body,
          body_sha256: sha256(body),
          fingerprint: fingerprint(orderIdentity({ account, baseUrl, packageId, recipient })),
        })
      }
      for (const old of new Set([...rows.map((row) => row.packageId), batch.package_id ?? packageId])) {
        if (old !== packageId) this.#join(baseUrl, old, packageId, 'moved', at)
      }
      this.#database.run(moveBatch, {
        id: batchId,
        package_id: packageId,
        identity: fileIdentity({ account, baseUrl }, batch.sha256 ?? '', packageId),
      })
      for (const { row, state } of rows) {
        if (state === 'pending') this.#look({ batchId, row }, at)
        if (state === 'held' || state === 'duplicate') this.#matching.settle({ batchId, row }, state, at)
      }
      return moved
    })
  }

  async linkPackages(
    baseUrl: string,
    pairs: readonly (readonly [gone: number, successor: number])[],
    at: number,
  ): Promise<void> {
    const service = serviceOf(baseUrl)
    const known = new Set(
      joinedPackages(this.#database)
        .filter((each) => each.how === 'likely' && each.service === service)
        .map(({ packageId, successorId }) => `${packageId} ${successorId}`),
    )
    const fresh = pairs.filter((pair) => !known.has(pair.join(' ')))
    if (fresh.length === 0) return
    this.#database.transaction(() => {
      for (const [gone, successor] of fresh) this.#join(baseUrl, gone, successor, 'likely', at)
    })
  }

  async sayService(
    [one, other]: readonly [string, string],
    same: boolean,
    by: { at: number; by: string },
  ): Promise<void> {
    const [first = '', second = ''] = [serviceOf(one), serviceOf(other)].sort()
    this.#database.run(putJoinedService, { one: first, other: second, same: same ? 1 : 0, ...by })
  }

  /** Compares a row that is to be sent, so that people are told; what binds is done again when it is. */
  #look(key: { batchId: string; row: number }, at: number): void {
    const compared = this.#matching.rowToCompare(key.batchId, key.row)
    const stop = compared && this.#matching.stopOf(compared)
    if (stop !== undefined) this.#matching.stopRow(key, 'pending', stop, at)
  }

  #join(baseUrl: string, gone: number, successor: number, how: 'moved' | 'likely', at: number): void {
    this.#database.run(insertJoinedPackage, {
      service: serviceOf(baseUrl),
      package_id: gone,
      successor_id: successor,
      how,
      at,
    })
  }
}
