import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireLock, claimLock, findHolder } from '../../../disk/lock.ts'
import { makePrivateFolder } from '../../../disk/private-modes.ts'
import type { BatchRef } from '../../../domain/submission/submission.ts'
import type { Clock } from '../../../host/clock.ts'
import { processId } from '../../../host/process.ts'
import type { Random } from '../../../host/random.ts'
import { type Engine, all } from '../engine.ts'
import type { Abandoned, Lease, Leases } from '../store-part.ts'
import { allOrders, selectSubmissions } from '../submission-rows.ts'

/**
 * Starts from the submissions, because few of them are unfinished and there are many batches; CROSS JOIN prevents
 * SQLite from reordering the join. For pending rows, the recursive query goes from one batch id to the next, because
 * one batch may have very many of them.
 */
const selectUnfinishedBatches = `
WITH RECURSIVE waiting (id) AS (
  SELECT min(batch_id) FROM submissions WHERE state = 'pending'
  UNION ALL
  SELECT (SELECT min(batch_id) FROM submissions WHERE state = 'pending' AND batch_id > waiting.id)
  FROM waiting WHERE waiting.id IS NOT NULL
)
SELECT b.id, b.kind FROM submissions s CROSS JOIN batches b ON b.id = s.batch_id
WHERE s.state = 'sending'
UNION
SELECT b.id, b.kind FROM waiting CROSS JOIN batches b ON b.id = waiting.id
WHERE b.kind = 'single'`

const selectUnfinishedRows = `${selectSubmissions}
WHERE s.batch_id = :id AND (s.state = 'sending' OR (s.state = 'pending' AND b.kind = 'single'))`

/** Yields the unfinished rows of batches that no process runs. It has the lease of a batch while it yields its rows. */
async function* listAbandonedRows(
  engine: Engine,
  acquireLease: Leases['acquire'],
): AsyncGenerator<Abandoned> {
  for (const batch of await engine.run(all<BatchRef>(selectUnfinishedBatches))) {
    const lease = await acquireLease(batch)
    if (lease === undefined) continue
    try {
      const rows = await engine.run(allOrders(selectUnfinishedRows, { id: batch.id }))
      for (const row of rows) yield { row, kind: batch.kind }
    } finally {
      await lease.release()
    }
  }
}

/**
 * Returns leases that are lock files in the folder `<store>.locks`: one for each batch, created before the batch is
 * added.
 * At its release the lock file of a `single` batch is removed: its lock is acquired again only to find out whether its
 * process has ended. The lock file of a `file` batch is never removed: another process may just have opened it, and
 * would then lock a removed file, while a third process creates and locks a new one.
 */
export function createFileLocks(
  location: string,
  { clock, random }: { clock: Clock; random: Random },
): Leases {
  const folder = `${location}.locks`
  const pathOf = (id: string): string => join(folder, `${id}.lock`)
  const acquireLease: Leases['acquire'] = async ({ id, kind }, { waitMs = 0 } = {}) => {
    makePrivateFolder(folder)
    const path = pathOf(id)
    if (kind === 'file') {
      const claim = await claimLock(path, { clock, random, waitMs, pid: processId() })
      return claim.isClaimed ? { release: async () => claim.release() } : undefined
    }
    const lock = await acquireLock(path, { clock, waitMs: 0 })
    const release = async (): Promise<void> => {
      lock?.release()
      // A lock file that cannot be removed has no effect.
      await rm(path, { force: true }).catch(() => undefined)
    }
    return lock && { release }
  }
  return {
    acquire: acquireLease,
    abandoned: (engine) => listAbandonedRows(engine, acquireLease),
    async holder(batchId) {
      const holder = await findHolder(pathOf(batchId), clock)
      return holder && { pid: holder.pid, since: Date.parse(holder.since) }
    },
  }
}

/** Returns the leases of a store in memory, which no other process can open. */
export function createMemoryLocks(clock: Clock): Leases {
  const lockedIds = new Set<string>()
  const acquireLease = async ({ id }: BatchRef): Promise<Lease | undefined> => {
    if (lockedIds.has(id)) return undefined
    lockedIds.add(id)
    return { release: async () => void lockedIds.delete(id) }
  }
  return {
    acquire: acquireLease,
    abandoned: (engine) => listAbandonedRows(engine, acquireLease),
    holder: (batchId) =>
      Promise.resolve(lockedIds.has(batchId) ? { pid: processId(), since: clock.now() } : undefined),
  }
}
