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
  /**
   * REFCHECK_STORE, else the setting `store`: a file, `:memory:` or `postgres://…`; the data folder's own file when
   * undefined.
   */
  chosenAddress: string | undefined
  paths: Paths
  /** The folder that relative paths start from. */
  cwd: string
  clock: Clock
  random: Random
  /** May contain the password of a database; also used for the user's home folder. */
  env?: Environment | undefined
  /** Receives the password that is used, so that it is never printed. */
  secrets?: Secrets | undefined
  /** Milliseconds to wait for a database that cannot be reached any more; default 10 minutes. */
  reconnectMs?: number | undefined
  /** Milliseconds to wait for a store another process is writing to; default 5,000. */
  lockWaitMs?: number | undefined
  /** Limit in milliseconds for connecting to a database and for each answer; default 10 s and 60 s. */
  answerMs?: number | undefined
  /** Milliseconds after which a connection to a database is closed in any state; default none. */
  maxConnectionMs?: number | undefined
  /** Called with one sentence about a problem that was found or fixed, such as a file that other users could read. */
  onMessage?: ((message: string) => void) | undefined
}

/**
 * Attempt logs are in the settings folder, because restoring the data folder does not change it;
 * `otherFolders`: folders that are used if the logs cannot be there.
 */
export const attemptLogFiles = ({ paths, cwd }: StoreOptions, ...otherFolders: string[]): AttemptLogFiles =>
  new AttemptLogFiles([join(resolve(cwd, paths.config), 'attempts'), ...otherFolders])

interface StoreParts {
  engine: Engine
  leases: Leases
  upkeep: Upkeep
  /** The attempt logs of this machine; undefined for a store in memory. */
  files: AttemptLogFiles | undefined
  /** Whether the store was made just now. */
  isNew?: boolean
  close: () => void | Promise<void>
}

/** A store in one file, in one database, or in the memory of this process. */
export type Store = Awaited<ReturnType<typeof assembleStore>>

/** Returns a store on a database that is open and has the newest format. */
export async function assembleStore(
  { engine, leases, upkeep, files, isNew = false, close }: StoreParts,
  { clock, random, onMessage, cwd, paths }: StoreOptions,
) {
  const key = new StoreKey(engine.location)
  await engine.run(key.loadKey())
  const rollbacks = new RollbackDetection({ engine, key, files, runner: leases, clock, random, onMessage })
  if (isNew) await rollbacks.makeLog()
  const location = `${machineName()} ${resolve(cwd, paths.data)}`
  const maintenance = new Maintenance({ engine, key, rollbacks, upkeep, location })
  await maintenance.finishErasure()
  const context = { engine, key, leases, rollbacks }
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
    heldRows: new HeldRows(context),
    /** Returns the problems of the file itself; empty if it is sound. */
    problems: () => upkeep.problems(),
    backup: (path: string) => upkeep.backup(path),
    /** Returns the functions for `store move`. Throws a UsageError for a store in memory. */
    async openForMove() {
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
