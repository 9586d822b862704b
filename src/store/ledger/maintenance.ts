import type { Purged, StoreInfo, StoreServer } from '../../domain/store/types.ts'
import { type SubmissionState, submissionStates } from '../../domain/submission/states.ts'
import { machineName } from '../../host/machine.ts'
import { damageOf, type StoredOrderRow } from './submission-rows.ts'
import { all, type Engine, get, type Work } from './engine.ts'
import type { StoreKey } from './fingerprints.ts'
import { Erasure } from './purge.ts'
import type { RollbackDetection } from './rollback-detection.ts'
import { readClosing } from './store-state.ts'

/** More rows than these are never in memory at once. */
const pageRows = 2_000

const selectTotals = `
SELECT count(*) AS batches, min(added_at) AS oldest, max(added_at) AS newest,
  (SELECT count(*) FROM events) AS events
FROM batches`

const selectStates = 'SELECT state, count(*) AS count FROM submissions GROUP BY state'

const selectPrints = `
SELECT s.*, b.base_url, b.account FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE (s.batch_id, s.row_number) > (CAST(:batchId AS text), CAST(:row AS bigint))
ORDER BY s.batch_id, s.row_number LIMIT :limit`

const selectDangling = `
SELECT s.batch_id, s.row_number FROM submissions s
WHERE s.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.id = s.attempt_id)`

type Key = Pick<StoredOrderRow, 'batchId' | 'row'>

/** What is done otherwise with a file than with a server. */
export interface Upkeep {
  /** Read at the same moment as the counts. */
  figures(): Work<Pick<StoreInfo, 'bytes' | 'format' | 'engine'>>
  server?(): Promise<StoreServer>
  /** What is wrong with the file, or with the tables in a database, in sentences. */
  checkTables(): Work<string[]>
  /** Removes older versions of rows; what has to happen first, where it could not. `isPatient`: waits for other processes. */
  scrub(isPatient: boolean): Promise<Purged['isLeftTo']>
  /** A copy of all of it at a new file (0600), which opens as a store and takes no orders until it is accepted. */
  backup(path: string): Promise<void>
  /** What is wrong with the file itself; none where it is sound. */
  problems(): Promise<string[]>
  /** Refuses every new row of a table, with the place where the store goes. */
  fence(table: string, to: string): Work<unknown>
  removeFence(table: string): Work<unknown>
  /** The highest number that an event ever had; 0 for none. */
  newestEvent(): Work<number>
  /** Later rows have higher numbers than those that were added. */
  continueNumbers(newestEvent: number): Work<unknown>
}

/** Looking after a store as a whole. */
export class Maintenance extends Erasure {
  readonly #key: StoreKey
  readonly #upkeep: Upkeep

  /** `dataFolder`: of this machine. */
  constructor(
    engine: Engine,
    parts: { key: StoreKey; rollbacks: RollbackDetection; upkeep: Upkeep; dataFolder: string },
  ) {
    const { key, rollbacks: logs, upkeep, dataFolder } = parts
    const location = `${machineName()} ${dataFolder}`
    super(engine, {
      location,
      logs,
      fingerprint: key.fingerprint,
      scrub: (isPatient) => upkeep.scrub(isPatient),
    })
    this.#key = key
    this.#upkeep = upkeep
  }

  async info(): Promise<StoreInfo> {
    const server = await this.#upkeep.server?.()
    const info = await this.engine.snapshot(() => this.#contents())
    return server === undefined ? info : { ...info, server }
  }

  *#contents(): Work<StoreInfo> {
    const rows = Object.fromEntries(submissionStates.map((state) => [state, 0])) as Record<
      SubmissionState,
      number
    >
    for (const { state, count } of yield* all<{ state: SubmissionState; count: number }>(selectStates)) {
      rows[state] = count
    }
    const totals = yield* get<Pick<StoreInfo, 'batches' | 'events' | 'oldest' | 'newest'>>(selectTotals)
    return {
      location: this.engine.location,
      ...(yield* this.#upkeep.figures()),
      batches: totals?.batches ?? 0,
      rows,
      events: totals?.events ?? 0,
      oldest: totals?.oldest,
      newest: totals?.newest,
      closed: yield* readClosing(),
    }
  }

  /** What is wrong with it, in sentences; empty where it is sound. */
  check(): Promise<string[]> {
    return this.engine.snapshot(() => this.#check())
  }

  *#check(): Work<string[]> {
    const found = yield* this.#upkeep.checkTables()
    for (let last: Key | undefined = { batchId: '', row: 0 }; last !== undefined;) {
      const page: StoredOrderRow[] = yield* all<StoredOrderRow>(selectPrints, { ...last, limit: pageRows })
      for (const row of page) found.push(...damageOf(row, this.#key.fingerprint))
      last = page.at(-1)
    }
    for (const { batchId, row } of yield* all<Key>(selectDangling)) {
      found.push(`row ${row} of batch ${batchId} was accepted by an attempt that is not recorded`)
    }
    return found
  }
}
