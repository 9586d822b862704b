import type { RequestResource, RequestBody } from '../../contract/request.ts'
import type { ErrorCode, RefcheckError } from '../../errors/kinds.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { Package } from '../../contract/package.ts'
import type { Change } from '../form/problem.ts'

/** A request that was asked for and could not be read, and why. */
interface UnreadRequest {
  requestId: string
  error: RefcheckError
}

/** What came of asking for one request. */
export type RequestResult = { requestId: string; request: RequestResource } | UnreadRequest

export const isUnread = (result: RequestResult): result is UnreadRequest => 'error' in result

/** By precedence: what stopped everything, then what needs a person, then what only takes time. */
const gravity: readonly ErrorCode[] = [
  'interrupted',
  'outcome_unknown',
  'internal',
  'io',
  'unauthenticated',
  'forbidden',
  'unavailable',
  'throttled',
  'not_found',
  'invalid_input',
  'usage',
  'duplicate',
  'bad_signature',
  'timed_out',
  'incomplete',
]

/** The error that decides the exit code of several; undefined where there is none. */
export function mostSevere(errors: readonly (RefcheckError | undefined)[]): RefcheckError | undefined {
  return errors
    .filter((error) => error !== undefined)
    .reduce<RefcheckError | undefined>(
      (worst, error) =>
        worst === undefined || gravity.indexOf(error.code) < gravity.indexOf(worst.code) ? error : worst,
      undefined,
    )
}

/** Requests that were read, each with its package's name where that is known. */
export function withPackageNames(
  results: readonly RequestResult[],
  names: ReadonlyMap<number, string>,
): RequestResult[] {
  return results.map((result) => {
    if (isUnread(result)) return result
    // A key of this name from the service does not replace the known name.
    const { package_name: _, ...request } = result.request
    const name = names.get(request.package_id)
    return { ...result, request: name === undefined ? request : { ...request, package_name: name } }
  })
}

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
