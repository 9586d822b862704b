import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import type { Change } from '../form/problem.ts'
import type { RefcheckError } from '../../errors/base.ts'
import type { Submission } from '../submission/submission.ts'

/** An order fit to be sent. */
export interface Order {
  body: RequestBody
  package: Package
  schema: PackageSchema
  /** Values that will be sent otherwise than they were given. */
  changes: Change[]
}

/** What happens on the way, for whoever shows progress. */
export type CreateEvent =
  /** Orders of processes that died in the middle of one; each is `unknown` from now on. */
  | { name: 'recovered'; submissions: Submission[] }
  /**
   * Nothing was created, and the same order goes out again after `seconds`. `understood` is false where
   * a 429 came without a Retry-After that makes sense, and a minute was assumed.
   */
  | { name: 'waiting'; cause: 'throttled'; seconds: number; understood: boolean; reason: string }
  | { name: 'waiting'; cause: 'unreachable'; seconds: number; reason: string }
  /** The quota is used up, as far as this store knows; nothing was sent yet. */
  | { name: 'paced'; seconds: number }
  /** The wait is over; `attempt` counts from 1. */
  | { name: 'retrying'; attempt: number }
  /** A failed answer named an id, which is read now. */
  | { name: 'proving'; requestId: string }

export interface CreateOptions {
  /** Order although the same was ordered before; never enough against an order whose outcome is unknown. */
  allowDuplicate: boolean
  /** Order although somebody similar was ordered before. */
  allowSimilar?: boolean | undefined
  /** Milliseconds that all waits together may take; Infinity for no limit. */
  waitBudgetMs: number
}

/** An order the service has taken, journaled. */
export interface Created {
  requestId: string
  /** The request's overall status when it was taken. */
  status: string
  batchId: string
  /** Print the answer, and leave with this: interrupted while it was in flight, or another row was answered with the same request. */
  interruption: RefcheckError | undefined
}
