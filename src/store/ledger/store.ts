import type { Batches } from './batches.ts'
import type { Inbox } from './inbox.ts'
import type { Ledger } from './ledger.ts'
import type { Quota } from './quota.ts'
import type { Moving } from './move.ts'
import type { Maintenance } from './maintenance.ts'
import type { HeldRows } from './held-rows.ts'
import type { UnmatchedRequests } from './unmatched-requests.ts'

/** What is kept in one place: one file, or the memory of this process. */
export interface Store {
  /** An absolute path, or ":memory:". */
  readonly location: string
  readonly ledger: Ledger
  readonly batches: Batches
  readonly quota: Quota
  readonly inbox: Inbox
  readonly orphans: UnmatchedRequests
  readonly maintenance: Maintenance
  readonly waiting: HeldRows
  /** What is wrong with the file itself; none where it is sound. */
  problems(): Promise<string[]>
  /** For whoever takes all of it to another place, or fills it. Throws UsageError for one that ends with its process. */
  moving(): Promise<Moving>
  close(): Promise<void>
}
