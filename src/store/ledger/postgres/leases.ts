import type { Batch } from '../../../domain/batch/batch.ts'
import type { BatchKind, BatchRef, Submission } from '../../../domain/submission/submission.ts'
import { machineName } from '../../../host/machine.ts'
import { processId } from '../../../host/process.ts'
import type { Random } from '../../../host/random.ts'
import type { Engine } from '../engine.ts'
import type { Abandoned, Lease, LeaseUse, Leases } from '../store-part.ts'
import { allOrders, selectOrdersWith } from '../submission-rows.ts'
import type { Database, Sql } from './connection.ts'
import { databaseNow, lockKey } from './dialect.ts'

/** SQL condition: the runner `r` is connected, since it has its lock as long as its connection lasts. */
const isRunnerConnected = `EXISTS (
  SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid::bigint = (r.lock >> 32) AND l.objid::bigint = (r.lock & 4294967295)
)`

/**
 * SQL condition: the runner of the row `s` has released the batch, or has neither its session lock nor a valid lease.
 */
const leaseExpired = `NOT EXISTS (
  SELECT 1 FROM runs u JOIN runners r ON r.id = u.runner
  WHERE u.batch_id = s.batch_id AND u.runner = s.runner AND (r.leased_until >= ${databaseNow} OR ${isRunnerConnected})
)`

/** Rows whose runner has ended. The pending rows of a file belong to no runner. */
const selectAbandoned = `
${selectOrdersWith(['b.kind'])}
WHERE ((s.state = 'sending') OR (s.state = 'pending' AND s.runner IS NOT NULL)) AND ${leaseExpired}`

/** Checks the row again once it is locked: its runner may be connected again, or may have changed the row. */
const lockAbandoned = `
SELECT 1 FROM submissions s
WHERE s.batch_id = :batchId AND s.row_number = :row AND s.state = :state
  AND s.attempt_id IS NOT DISTINCT FROM CAST(:attemptId AS text) AND ${leaseExpired}
FOR UPDATE OF s`

const insertRunner = `
INSERT INTO runners (id, lock, machine, pid, began_at, seen_at, leased_until)
VALUES (:id, :lock, :machine, :pid, ${databaseNow}, ${databaseNow}, 0)
ON CONFLICT (id) DO UPDATE SET seen_at = ${databaseNow}`

/** Removes runners that are not connected and have claimed nothing for 30 days. */
const deleteOldRunners = `
DELETE FROM runners r WHERE r.seen_at < ${databaseNow} - 2592000000 AND NOT ${isRunnerConnected}`

const lockRunner = 'SELECT pg_advisory_lock_shared(CAST(:lock AS bigint))'

const batchKey = lockKey('batch', 'CAST(:batch_id AS text)')

/** Processes that send rows of a batch share the lock of the batch. Any other change needs the lock alone. */
const lockSuffixes = { sending: '_shared', 'a change': '' }
const tryLock = (use: LeaseUse): string =>
  `SELECT pg_try_advisory_lock${lockSuffixes[use]}(${batchKey}) AS took`
const unlock = (use: LeaseUse): string => `SELECT pg_advisory_unlock${lockSuffixes[use]}(${batchKey})`

const insertRun = `
INSERT INTO runs (batch_id, runner, since) VALUES (:batch_id, :runner, ${databaseNow}) ON CONFLICT DO NOTHING`

const selectHolder = `
SELECT r.pid, r.machine, u.since FROM runs u JOIN runners r ON r.id = u.runner
WHERE u.batch_id = :batch_id AND ${isRunnerConnected} ORDER BY u.since LIMIT 1`

type HolderRow = Record<'pid' | 'since', number> & { machine: string }

/**
 * A runner that orders with the store, and its leases. A lock of its connection shows that it is active: the server
 * frees it when the process ends, however it ends, or when its machine is not reachable any more.
 */
export class Runner implements Leases {
  readonly id: string
  /** When the runner was first recorded, by the database's clock; 0 before that. */
  beganAt = 0
  readonly #database: Database
  readonly #lock: number
  readonly #heldLeases = new Map<string, { how: LeaseUse; isLost: boolean }>()
  readonly #idsInProgress = new Set<string>()
  #beginning: Promise<void> | undefined

  constructor(database: Database, random: Random) {
    this.#database = database
    this.id = random.uuid()
    // Six bytes, because a number represents integers up to 53 bits exactly.
    this.#lock = Buffer.from(random.bytes(6)).readUIntBE(0, 6)
    database.onSession(async (sql) => {
      if (this.beganAt > 0) await this.#acquireAgain(sql)
    })
  }

  /** Records the runner in the store. Concurrent calls record it once. */
  begin(): Promise<void> {
    this.#beginning ??= this.#recordRunner().catch((error: unknown) => {
      this.#beginning = undefined
      throw error
    })
    return this.#beginning
  }

  async #recordRunner(): Promise<void> {
    const row = (await this.#database.get(`SELECT ${databaseNow} AS now`)) as { now: number }
    this.beganAt = row.now
    await this.#database.get(lockRunner, { lock: this.#lock })
    await this.#database.run(deleteOldRunners)
    const process = { machine: machineName(), pid: processId() }
    await this.#database.run(insertRunner, { id: this.id, lock: this.#lock, ...process })
  }

  async *abandoned(engine: Engine): AsyncGenerator<Abandoned> {
    const rows = await engine.run(allOrders<Submission & { kind: BatchKind }>(selectAbandoned))
    for (const { kind, ...row } of rows) yield { row, kind, lock: lockAbandoned }
  }

  async acquire(
    { id }: BatchRef,
    { for: how = 'a change' }: { for?: LeaseUse | undefined } = {},
  ): Promise<Lease | undefined> {
    await this.begin()
    if (this.#heldLeases.has(id) || this.#idsInProgress.has(id)) return undefined
    // The server grants a lock again to the connection that has it.
    this.#idsInProgress.add(id)
    try {
      const { took } = (await this.#database.get(tryLock(how), { batch_id: id })) as { took: boolean }
      return took ? await this.#createLease(id, how) : undefined
    } finally {
      this.#idsInProgress.delete(id)
    }
  }

  async #createLease(id: string, how: LeaseUse): Promise<Lease> {
    const held = { how, isLost: false }
    this.#heldLeases.set(id, held)
    const lease = { release: () => this.#release(id, how), isLost: () => held.isLost }
    try {
      await this.#database.run(insertRun, { batch_id: id, runner: this.id })
      return lease
    } catch (error) {
      // Otherwise this process could not acquire the lock again.
      await lease.release().catch(() => undefined)
      throw error
    }
  }

  async holder(batchId: string): Promise<Batch['holder']> {
    const values = { batch_id: batchId }
    const holderRow = (await this.#database.get(selectHolder, values)) as HolderRow | undefined
    if (holderRow === undefined) return undefined
    const { pid, since, machine } = holderRow
    return machine === machineName() ? { pid, since } : { pid, since, machine }
  }

  async #release(id: string, how: LeaseUse): Promise<void> {
    // A lock ends with its connection and then needs no release.
    if (!this.#heldLeases.delete(id) || this.#database.connectionNumber === 0) return
    const values = { batch_id: id, runner: this.id }
    await this.#database.run('DELETE FROM runs WHERE batch_id = :batch_id AND runner = :runner', values)
    await this.#database.get(unlock(how), values)
  }

  /**
   * Acquires the locks again on a new connection, because locks end with their connection. If another process
   * has acquired an exclusive lock meanwhile, the lease is lost. Every change is compared with the present
   * state in any case.
   */
  async #acquireAgain(sql: Sql): Promise<void> {
    await sql.get(lockRunner, { lock: this.#lock })
    for (const [id, held] of this.#heldLeases) {
      const { took } = (await sql.get(tryLock(held.how), { batch_id: id })) as { took: boolean }
      held.isLost = !took
    }
  }
}
