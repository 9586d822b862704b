import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import type { RequestBody } from '../../contract/request-body.ts'
import type { Change } from '../form/problem.ts'

/** An order fit to be sent. */
export interface Order {
  body: RequestBody
  package: Package
  schema: PackageSchema
  /** Values that will be sent otherwise than they were given. */
  changes: Change[]
}
