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
 * From the submissions to their batches (CROSS JOIN keeps that order): few are unfinished, batches are many. What is
 * pending is gone through from batch to batch, since a file may have very many rows that wait.
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

/** Rows of batches that no process holds; each batch is held while its rows are ended. */
async function* abandoned(engine: Engine, acquireLease: Leases['acquire']): AsyncGenerator<Abandoned> {
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
 * A lock file for each batch, next to the store, made before the batch is added. The one of a batch of
 * one goes with it: that batch is taken a second time only to find its process ended. Another batch's stays,
 * because removing a file that a second taker has just opened would let two of them in.
 */
export function fileLocks(location: string, { clock, random }: { clock: Clock; random: Random }): Leases {
  const folder = `${location}.locks`
  const pathOf = (id: string): string => join(folder, `${id}.lock`)
  const acquireLease: Leases['acquire'] = async ({ id, kind }, { waitMs = 0 } = {}) => {
    makePrivateFolder(folder)
    const path = pathOf(id)
    if (kind === 'file') {
      const taken = await claimLock(path, { clock, random, waitMs, pid: processId() })
      return taken.isClaimed ? { release: async () => taken.release() } : undefined
    }
    const lock = await acquireLock(path, { clock, waitMs: 0 })
    const release = async (): Promise<void> => {
      lock?.release()
      // One that cannot be removed does no harm.
      await rm(path, { force: true }).catch(() => undefined)
    }
    return lock && { release }
  }
  return {
    acquire: acquireLease,
    abandoned: (engine) => abandoned(engine, acquireLease),
    async holder(batchId) {
      const holder = await findHolder(pathOf(batchId), clock)
      return holder && { pid: holder.pid, since: Date.parse(holder.since) }
    },
  }
}

/** For a store that no other process sees. */
export function memoryLocks(clock: Clock): Leases {
  const held = new Set<string>()
  const acquireLease = async ({ id }: BatchRef): Promise<Lease | undefined> => {
    if (held.has(id)) return undefined
    held.add(id)
    return { release: async () => void held.delete(id) }
  }
  return {
    acquire: acquireLease,
    abandoned: (engine) => abandoned(engine, acquireLease),
    holder: (batchId) =>
      Promise.resolve(held.has(batchId) ? { pid: processId(), since: clock.now() } : undefined),
  }
}
