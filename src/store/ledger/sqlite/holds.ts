import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { Clock } from '../../../host/clock.ts'
import { acquire } from '../../files/lock.ts'
import { privateFolder } from '../../files/private-modes.ts'
import type { Hold } from '../ledger.ts'
import type { BatchRef } from '../types.ts'

/** Who runs which batch, among all processes that use the store. */
export interface Holds {
  /** Undefined while somebody else, or this very process, has it. */
  take(batch: BatchRef): Promise<Hold | undefined>
}

/**
 * A lock file for each batch, beside the store, made before the batch is added. The one of a batch of
 * one goes with it: nobody takes that batch a second time but to find it dead. Another batch's stays,
 * because removing a file that a second taker has just opened would let two of them in.
 */
export function fileHolds(location: string, clock: Clock): Holds {
  const folder = `${location}.locks`
  return {
    async take({ id, kind }) {
      await privateFolder(folder)
      const path = join(folder, `${id}.lock`)
      const lock = await acquire(path, { clock, waitMs: 0 })
      if (lock === undefined) return undefined
      return {
        async release() {
          lock.release()
          // One that cannot be removed is in nobody's way.
          if (kind === 'single') await rm(path, { force: true }).catch(() => undefined)
        },
      }
    },
  }
}

/** For a store that no other process sees. */
export function memoryHolds(): Holds {
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
  }
}
