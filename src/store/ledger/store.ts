import { join, resolve } from 'node:path'
import { UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Environment } from '../../host/process.ts'
import { machineName } from '../../host/machine.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'
import type { Secrets } from '../../host/secrets.ts'
import { Accounts } from './accounts.ts'
import { AttemptLogFiles } from './attempt-log.ts'
import { Batches } from './batches.ts'
import type { Engine } from './engine.ts'
import { StoreKey } from './fingerprints.ts'
import { HeldRows } from './held-rows.ts'
import { Inbox } from './inbox.ts'
import { EngineLedger, type Ledger } from './ledger.ts'
import { Maintenance, type Upkeep } from './maintenance.ts'
import { Quota } from './quota.ts'
import { RollbackDetection } from './rollback-detection.ts'
import type { Leases } from './store-part.ts'
import { UnmatchedRequests } from './unmatched-requests.ts'

export interface StoreOptions {
  /** REFCHECK_STORE, else the setting `store`: a file, `:memory:` or `postgres://…`; the data folder's own file when undefined. */
  chosen: string | undefined
  paths: Paths
  /** What a relative path starts from. */
  cwd: string
  clock: Clock
  random: Random
  /** Where the password of a database may be, and its user's home. */
  env?: Environment | undefined
  /** Takes the password that is used. */
  secrets?: Secrets | undefined
  /** Milliseconds to wait for a database that goes away while it is used; default 0. */
  patienceMs?: number | undefined
  /** Milliseconds to wait for a store another process is writing to; default 5,000. */
  busyMs?: number | undefined
  /** Milliseconds to wait for a database's answers, one by one; default: as long as a run waits. */
  answerMs?: number | undefined
  /** Milliseconds after which a database is given up, in any state; default none. */
  wholeMs?: number | undefined
  /** Called with one sentence on what was fixed (a file or folder others could read). */
  onMessage?: ((message: string) => void) | undefined
}

/** Attempt logs are in the settings folder, because restoring the data folder does not change it; `more`: folders to use if they cannot be there. */
export const attemptLogFiles = ({ paths, cwd }: StoreOptions, ...more: string[]): AttemptLogFiles =>
  new AttemptLogFiles([join(resolve(cwd, paths.config), 'attempts'), ...more])

interface StoreParts {
  engine: Engine
  holds: Leases
  upkeep: Upkeep
  /** Undefined for a store that ends with its process. */
  files: AttemptLogFiles | undefined
  /** Whether it was made just now. */
  isNew?: boolean
  close: () => void | Promise<void>
}

/** What is kept in one place: one file, or the memory of this process. */
export type Store = Awaited<ReturnType<typeof assembleStore>>

/** A store over a database that is open and of the newest format. */
export async function assembleStore(
  { engine, holds, upkeep, files, isNew = false, close }: StoreParts,
  { clock, random, onMessage, cwd, paths }: StoreOptions,
) {
  const key = new StoreKey(engine.location)
  await engine.run(key.loadKey())
  const rollbacks = new RollbackDetection({ engine, key, files, runner: holds, clock, random, onMessage })
  if (isNew) await rollbacks.makeLog()
  const location = `${machineName()} ${resolve(cwd, paths.data)}`
  const maintenance = new Maintenance({ engine, key, rollbacks, upkeep, location })
  await maintenance.finishErasure()
  const context = { engine, key, holds, rollbacks }
  return {
    /** An absolute path, `:memory:`, or the address of a database without its password. */
    location: engine.location,
    accounts: new Accounts(context),
    ledger: new EngineLedger(context) as Ledger,
    rollbacks,
    batches: new Batches(context),
    quota: new Quota(context),
    inbox: new Inbox(context),
    unmatched: new UnmatchedRequests(context),
    maintenance,
    waiting: new HeldRows(context),
    /** What is wrong with the file itself; none where it is sound. */
    problems: () => upkeep.problems(),
    backup: (path: string) => upkeep.backup(path),
    /** For `store move`. Throws UsageError for a store that ends with its process. */
    async moving() {
      if (files === undefined) {
        throw new UsageError('a store in memory cannot be moved', {
          hint: 'Give a file, or a postgres:// address.',
        })
      }
      const { Moving } = await import('./move.ts')
      return new Moving({ engine, upkeep, key, rollbacks, clock, random })
    },
    async close(): Promise<void> {
      rollbacks.close()
      await close()
    },
  }
}
