import type { Accounts } from './accounts.ts'
import type { Batches } from './batches.ts'
import type { Inbox } from './inbox.ts'
import type { Ledger } from './ledger.ts'
import type { Quota } from './quota.ts'
import type { RollbackDetection } from './rollback-detection.ts'
import type { Moving } from './move.ts'
import type { Maintenance } from './maintenance.ts'
import type { HeldRows } from './held-rows.ts'
import type { UnmatchedRequests } from './unmatched-requests.ts'
import { resolve } from 'node:path'
import { type PostgresServer, storeAddress } from '../../domain/store/address.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Environment } from '../../host/env.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'
import type { Secrets } from '../../host/secrets.ts'

/** What is kept in one place: one file, or the memory of this process. */
export interface Store {
  /** An absolute path, or ":memory:". */
  readonly location: string
  readonly accounts: Accounts
  readonly ledger: Ledger
  readonly batches: Batches
  readonly quota: Quota
  readonly inbox: Inbox
  readonly orphans: UnmatchedRequests
  readonly maintenance: Maintenance
  readonly rollbacks: RollbackDetection
  readonly waiting: HeldRows
  /** What is wrong with the file itself; none where it is sound. */
  problems(): Promise<string[]>
  backup(path: string): Promise<void>
  /** For whoever takes all of it to another place, or fills it. Throws UsageError for one that ends with its process. */
  moving(): Promise<Moving>
  close(): Promise<void>
}

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
  /** Milliseconds to wait for a database that goes away while it is used; 0 unless told. */
  patienceMs?: number | undefined
  /** Milliseconds to wait for a store another process is writing to; 5,000 unless told. */
  busyMs?: number | undefined
  /** Milliseconds to wait for a database's answers, one by one; as long as a run waits unless told. */
  answerMs?: number | undefined
  /** Milliseconds after which a database is given up, whatever it does; none unless told. */
  wholeMs?: number | undefined
  /** Told in one sentence what was fixed on the way (a file or folder others could read). */
  onNotice?: ((notice: string) => void) | undefined
}

/** A file (or `:memory:`), or a database. */
type StorePlace = { kind: 'file'; path: string } | { kind: 'postgres'; server: PostgresServer }

/**
 * Where the store is: the chosen file, `:memory:` or database, else `ledger.sqlite` in the data folder. Paths are
 * absolute. Throws UsageError for anything else.
 */
export function storePlace(options: Pick<StoreOptions, 'chosen' | 'paths' | 'cwd'>): StorePlace {
  const { chosen, paths, cwd } = options
  if (chosen === undefined || chosen === '') {
    return { kind: 'file', path: resolve(cwd, paths.data, 'ledger.sqlite') }
  }
  const address = storeAddress(chosen)
  switch (address.kind) {
    case 'memory':
      return { kind: 'file', path: chosen }
    case 'file':
      return { kind: 'file', path: resolve(cwd, address.path) }
    case 'postgres': {
      const { rootCertificate } = address.server
      const certificate = rootCertificate === undefined ? undefined : resolve(cwd, rootCertificate)
      return { kind: 'postgres', server: { ...address.server, rootCertificate: certificate } }
    }
    case 'none':
      throw new UsageError(address.why, {
        hint: 'Set REFCHECK_STORE to a file or a postgres:// address, or unset it to use the file in the data folder.',
      })
  }
}

/** The same in words: a path, or the address of a database without its password. */
export function storeLocation(options: Pick<StoreOptions, 'chosen' | 'paths' | 'cwd'>): string {
  const place = storePlace(options)
  return place.kind === 'file' ? place.path : place.server.shown
}
