import { resolve } from 'node:path'

import { Accounts } from './accounts.ts'
import type { AttemptLogFiles } from './attempt-log.ts'
import { Batches } from './batches.ts'
import type { Engine } from './engine.ts'
import { StoreKey } from './fingerprints.ts'
import { HeldRows } from './held-rows.ts'
import type { Holds } from './leases.ts'
import { Inbox } from './inbox.ts'
import { EngineLedger } from './ledger.ts'
import { Maintenance, type Upkeep } from './maintenance.ts'
import { Quota } from './quota.ts'
import { RollbackDetection } from './rollback-detection.ts'
import { StoreLogs } from './store-logs.ts'
import type { Store, StoreOptions } from './store.ts'
import { UnmatchedRequests } from './unmatched-requests.ts'
import { UsageError } from '../../errors/kinds.ts'

export interface StoreParts {
  engine: Engine
  holds: Holds
  upkeep: Upkeep
  /** Undefined for a store that ends with its process. */
  logFiles: AttemptLogFiles | undefined
  /** Whether it was made just now. */
  isNew?: boolean
  close: () => void | Promise<void>
}

/** A store over a database that is open and of the newest format. */
export async function assembleStore(
  { engine, holds, upkeep, logFiles, isNew = false, close }: StoreParts,
  { clock, random, onNotice, cwd, paths }: StoreOptions,
): Promise<Store> {
  const key = new StoreKey(engine.location)
  await engine.run(key.loadKey())
  const logs = logFiles && new StoreLogs({ files: logFiles, engine, key, random })
  const rollbacks = new RollbackDetection({ engine, key, logs, runner: holds, clock, random, onNotice })
  if (isNew) await rollbacks.makeLog()
  const dataFolder = resolve(cwd, paths.data)
  const maintenance = new Maintenance(engine, { key, rollbacks, upkeep, dataFolder })
  await maintenance.finishErasure()
  const context = { engine, key, holds, rollbacks }
  return {
    /** An absolute path, `:memory:`, or the address of a database without its password. */
    location: engine.location,
    accounts: new Accounts(context),
    ledger: new EngineLedger(context),
    rollbacks,
    batches: new Batches(context),
    quota: new Quota(context),
    inbox: new Inbox(context),
    orphans: new UnmatchedRequests(context),
    maintenance,
    waiting: new HeldRows(context),
    /** What is wrong with the file itself; none where it is sound. */
    problems: () => upkeep.problems(),
    backup: (path: string) => upkeep.backup(path),
    /** For `store move`. Throws UsageError for a store that ends with its process. */
    async moving() {
      if (logs === undefined) {
        throw new UsageError('a store in memory cannot be moved', {
          hint: 'Give a file, or a postgres:// address.',
        })
      }
      const { Moving } = await import('./move.ts')
      return new Moving({ engine, upkeep, key, logs, clock, random })
    },
    async close() {
      logs?.close()
      await close()
    },
  }
}
