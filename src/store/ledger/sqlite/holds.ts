import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { claim, holderOf } from '../../../disk/claim.ts'
import { acquire } from '../../../disk/lock.ts'
import { privateFolder } from '../../../disk/private-modes.ts'
import type { Holds } from '../holds.ts'
import type { Clock } from '../../../host/clock.ts'
import { processId } from '../../../host/process-id.ts'
import type { Random } from '../../../host/random.ts'
import type { Hold } from '../ledger.ts'

/**
 * A lock file for each batch, beside the store, made before the batch is added. The one of a batch of
 * one goes with it: nobody takes that batch a second time but to find it dead. Another batch's stays,
 * because removing a file that a second taker has just opened would let two of them in.
 */
export function fileHolds(location: string, { clock, random }: { clock: Clock; random: Random }): Holds {
  const folder = `${location}.locks`
  const pathOf = (id: string): string => join(folder, `${id}.lock`)
  return {
    async take({ id, kind }, { waitMs = 0 } = {}) {
      await privateFolder(folder)
      return kind === 'single'
        ? takeSingle(pathOf(id), clock)
        : takeFile(pathOf(id), { clock, random, waitMs })
    },
    async holder(batchId) {
      const holder = await holderOf(pathOf(batchId), clock)
      return holder && { pid: holder.pid, since: Date.parse(holder.since) }
    },
  }
}

async function takeSingle(path: string, clock: Clock): Promise<Hold | undefined> {
  const lock = await acquire(path, { clock, waitMs: 0 })
  return (
    lock && {
      async release() {
        lock.release()
        // One that cannot be removed is in nobody's way.
        await rm(path, { force: true }).catch(() => undefined)
      },
    }
  )
}

async function takeFile(
  path: string,
  options: { clock: Clock; random: Random; waitMs: number },
): Promise<Hold | undefined> {
  const taken = await claim(path, { ...options, pid: processId() })
  return taken.held ? { release: () => Promise.resolve(taken.release()) } : undefined
}

/** For a store that no other process sees. */
export function memoryHolds(clock: Clock): Holds {
  const held = new Set<string>()
  return {
    take({ id }) {
      if (held.has(id)) return Promise.resolve(undefined)
      held.add(id)
      return Promise.resolve({
        release() {
          held.delete(id)
          return Promise.resolve()
        },
      })
    },
    holder: (batchId) =>
      Promise.resolve(held.has(batchId) ? { pid: processId(), since: clock.now() } : undefined),
  }
}
