import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import type { Change } from '../form/problem.ts'
import type { RefcheckError } from '../../errors/base.ts'

/** An order fit to be sent. */
export interface Order {
  body: RequestBody
  package: Package
  schema: PackageSchema
  /** Values that will be sent otherwise than they were given. */
  changes: Change[]
}

export interface CreateOptions {
  /** Order although the same was ordered before; never enough against an order whose outcome is unknown. */
  allowDuplicate: boolean
  /** Order although a similar person was ordered before. */
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
